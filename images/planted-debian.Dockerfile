# Workload: the servers of planted.Dockerfile in a whole Debian, with its shell, libraries and users.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
COPY bin/ /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/planted-clean"]
