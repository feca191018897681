# MinIO. Mount a volume at /data: the folder in the image is root's.
FROM scratch
COPY bin/minio /usr/local/bin/minio
ENV HOME=/data
USER 65532:65532
EXPOSE 9000
ENTRYPOINT ["/usr/local/bin/minio"]
CMD ["server", "/data", "--address=:9000"]
