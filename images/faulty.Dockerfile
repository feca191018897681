# Workload: an HTTP server that misbehaves as its flags say, for tests.
FROM scratch
COPY bin/faulty /usr/local/bin/faulty
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/faulty"]
