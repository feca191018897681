# The operator.
FROM scratch
COPY bin/manager /usr/local/bin/manager
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/manager"]
