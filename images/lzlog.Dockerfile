# Workload: a logger in mapped files, in C, and the benchmark with its peers, among them spdlog. Mount a volume for the logs; where
# no --dir names it, both look at TMPDIR and then at /tmp. What "lzlog-bench bench" writes fits into /dev/shm.
FROM scratch
COPY bin/lzlog bin/lzlog-bench /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/lzlog"]
