# Workload: an HTTP server on gnet.
FROM scratch
COPY bin/gnet /usr/local/bin/gnet
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gnet"]
