# Workload: coroutines of both kinds, one case at a time (coro-bench), and all cases of one kind as a Google Benchmark (coro, with the
# libraries that it needs). What reads files wants a folder that can be written: --dir, such as /dev/shm.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS libraries
RUN apt-get update && apt-get install -y --no-install-recommends libbenchmark1debian
COPY bin/coro /usr/local/bin/coro
RUN mkdir /image && cp -L --parents $(ldd /usr/local/bin/coro | grep -o '/[^ ]*') /image

FROM scratch
COPY --from=libraries /image /
COPY bin/coro-bench bin/coro /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/coro-bench"]
