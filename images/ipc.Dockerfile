# Workload: benchmarks of Unix sockets, in Go and in C. The first becomes the second for the cases in C.
FROM scratch
COPY bin/ipc-bench bin/ipc-c-bench /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/ipc-bench"]
