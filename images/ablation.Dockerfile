# Workload: one server, built once for each of several flags.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS libraries
COPY bin/ /usr/local/bin/
RUN mkdir -m 1777 -p /image/tmp && cp -L --parents $(ldd /usr/local/bin/ablation-* | grep -o '/lib[^ ]*' | sort -u) /image

FROM scratch
COPY --from=libraries /image /
COPY bin/ /usr/local/bin/
USER 65532:65532
# In a container nobody may stop the process to look for leaks, which is no part of what is measured.
ENV ASAN_OPTIONS=detect_leaks=0
ENTRYPOINT ["/usr/local/bin/ablation-o2"]
