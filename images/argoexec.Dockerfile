# Argo Workflows' executor. Argo finds it by name in PATH and runs it under a user id of its own choice, so /tmp, which
# it needs, must be everyone's: rootfs holds an empty tmp of mode 1777.
FROM scratch
COPY rootfs /
COPY bin/argoexec /usr/local/bin/argoexec
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/argoexec"]
