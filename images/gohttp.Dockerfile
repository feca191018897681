# Workload: an HTTP server on Go's net/http.
FROM scratch
COPY bin/gohttp /usr/local/bin/gohttp
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gohttp"]
