# What an init container brings into the images of implementations: Loadstone's agent, which copies itself and the folder /toolbox, and the
# profilers in that folder, valgrind's tools and strace, as bin/toolbox.sh gathers them. The agent changes often, and so comes last.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS tools
RUN apt-get update && apt-get install -y --no-install-recommends valgrind libc6-dbg strace binutils gcc libc6-dev
COPY bin/toolbox.sh bin/launcher.c /src/
RUN sh /src/toolbox.sh /image/toolbox && dpkg-query --show >/image/packages.txt

FROM scratch
COPY --from=tools /image /
COPY bin/loadstone-agent /usr/local/bin/loadstone-agent
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/loadstone-agent"]
