# versitygw, an S3 gateway over a folder, as the store of a test of the cluster. No installation needs it.
FROM scratch
COPY bin/versitygw /usr/local/bin/versitygw
COPY rootfs /
USER 65532:65532
EXPOSE 7070
ENTRYPOINT ["/usr/local/bin/versitygw"]
