# Workload: servers with one planted fault each, a clean one, and one whose allocator no tool sees, for profilers.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS libraries
COPY bin/ /usr/local/bin/
RUN mkdir /image && cp -L --parents $(ldd /usr/local/bin/planted-clean | grep -o '/[^ ]*') /image

FROM scratch
COPY --from=libraries /image /
COPY bin/ /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/planted-clean"]
