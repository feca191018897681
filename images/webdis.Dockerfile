# Debian's webdis: an HTTP server that passes commands on to a redis.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS server
RUN apt-get update && apt-get install -y --no-install-recommends webdis
RUN mkdir /image && cp -L --parents /usr/bin/webdis $(ldd /usr/bin/webdis | grep -o '/[^ ]*') /image

FROM scratch
COPY --from=server /image /
COPY bin/webdis.json /etc/webdis/webdis.json
USER 65532:65532
ENTRYPOINT ["/usr/bin/webdis"]
CMD ["/etc/webdis/webdis.json"]
