# CoreDNS for hack/cluster, with the plugins that a cluster's own names need.
FROM scratch
COPY bin/coredns /usr/local/bin/coredns
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/coredns"]
