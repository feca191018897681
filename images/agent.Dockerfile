# The agent and the load generators that it runs.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends wrk ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
COPY bin/loadstone-agent /usr/local/bin/loadstone-agent
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/loadstone-agent"]
