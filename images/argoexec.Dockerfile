# Argo Workflows' executor. Argo finds it by name in PATH and runs it under a user id of its own choice, so /tmp, which
# it needs, must be everyone's.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS base

FROM scratch
COPY bin/argoexec /usr/local/bin/argoexec
COPY --chmod=1777 tmp /tmp
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/argoexec"]
