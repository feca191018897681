# Workload: an HTTP server on coroutines, in Zig.
FROM scratch
COPY bin/zco /usr/local/bin/zco
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/zco"]
