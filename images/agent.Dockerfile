# The agent and the load generators that it runs: wrk, ab and h2load are Debian's, with the libraries that they need and nothing else, no
# shell either; k6 and vegeta are their own unmodified binaries. What changes seldom comes first, so that a changed agent is one small layer.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS tools
RUN apt-get update && apt-get install -y --no-install-recommends wrk apache2-utils nghttp2-client ca-certificates
RUN mkdir -m 755 /image && mkdir -m 1777 /image/tmp \
 && for tool in /usr/bin/wrk /usr/bin/ab /usr/bin/h2load; do cp -L --parents "$tool" $(ldd "$tool" | grep -o '/[^ ]*') /image; done \
 && cp -L --parents /etc/ssl/certs/ca-certificates.crt /image \
 && dpkg-query --show >/image/packages.txt

FROM scratch
COPY --from=tools /image /
COPY bin/k6 /usr/local/bin/k6
COPY bin/vegeta /usr/local/bin/vegeta
COPY bin/loadstone-agent /usr/local/bin/loadstone-agent
ENV PATH=/usr/local/bin:/usr/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/loadstone-agent"]
