# Workload: benchmarks of Unix sockets, in Go and in C. The first becomes the second for the cases in C. ipc.test prints those in Go as
# go test -bench does, and "ipc-c-bench bench" those in C.
FROM scratch
COPY bin/ipc-bench bin/ipc-c-bench bin/ipc.test /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/ipc-bench"]
