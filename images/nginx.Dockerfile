# Workload: Debian's nginx, configured as the peer of uvhttp. /tmp has to be writable.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light && rm -rf /var/lib/apt/lists/* /etc/nginx/sites-enabled
COPY bin/nginx.conf /etc/nginx/nginx.conf
COPY bin/files.sh /usr/local/bin/files.sh
RUN mkdir -p /srv/static && files.sh /srv/static
USER 65532:65532
ENTRYPOINT ["nginx", "-e", "stderr", "-g", "daemon off;"]
