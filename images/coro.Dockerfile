# Workload: coroutines of both kinds, one case at a time. What reads files wants a folder that can be written: --dir.
FROM scratch
COPY bin/coro-bench /usr/local/bin/coro-bench
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/coro-bench"]
