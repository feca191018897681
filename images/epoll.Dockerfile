# Workload: a minimal HTTP server on epoll, in C.
FROM scratch
COPY bin/epoll /usr/local/bin/epoll
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/epoll"]
