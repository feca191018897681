# Workload: an HTTP server on libuv, in C, with its files in memory.
FROM scratch
COPY bin/uvhttp /usr/local/bin/uvhttp
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/uvhttp"]
