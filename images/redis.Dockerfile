# Debian's redis: a database for servers to have beside them.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS database
RUN apt-get update && apt-get install -y --no-install-recommends redis-server
RUN mkdir /image && cp -L --parents /usr/bin/redis-server $(ldd /usr/bin/redis-server | grep -o '/[^ ]*') /image

FROM scratch
COPY --from=database /image /
COPY bin/redis.conf /etc/redis/redis.conf
USER 65532:65532
ENTRYPOINT ["/usr/bin/redis-server", "/etc/redis/redis.conf"]
