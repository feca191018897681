# Argo Workflows' controller.
FROM scratch
COPY bin/workflow-controller /usr/local/bin/workflow-controller
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/workflow-controller"]
