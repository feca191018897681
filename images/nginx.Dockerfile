# Workload: Debian's nginx, configured as the peer of uvhttp: the server, the libraries that it needs, and its files.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS server
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light
COPY bin/files.sh /usr/local/bin/files.sh
RUN mkdir -p /image/srv/static && sh /usr/local/bin/files.sh /image/srv/static \
 && cp -L --parents /usr/sbin/nginx $(ldd /usr/sbin/nginx | grep -o '/[^ ]*') /image

FROM scratch
COPY --from=server /image /
COPY bin/nginx.conf /etc/nginx/nginx.conf
USER 65532:65532
ENTRYPOINT ["/usr/sbin/nginx", "-e", "stderr", "-g", "daemon off;"]
