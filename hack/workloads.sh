#!/usr/bin/env bash
# Builds the workloads that are not Go's, or not Go's alone, into bin/, or tests each of them with and without sanitizers.
#
#   usage: hack/workloads.sh build|test [NAME...]      (no name: builds all, tests those that go test does not; "test fuzz" fuzzes their parsers,
#                                                      for FUZZ_SECONDS=60 of CPU time each)
#          hack/workloads.sh need                     (installs what all of them are built and tested with)
#          hack/workloads.sh needs                    (prints that, as need_commands of hack/cluster/lib.sh wants it)
#          hack/workloads.sh measure [PREFIX,...]      (runs config/workloads with loadstone run, prints what they reached, keeps their
#                                                      records, and makes the pages anew that are made of these)
#
# Compilers, libraries and peers come from Debian, zig from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

# What was compiled once, in whatever clone, is not compiled again.
export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$LOADSTONE_CACHE/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# Of the tests, what takes longest begins first. Go's tests of the folder workloads test the others.
WORKLOADS=(zco coro uvhttp ipc lzlog) OTHERS=(uring ablation planted)
RESULTS=bin/workloads RECORDS=hack/workloads/records

# needs NAME: installs what a workload is built from and tested with.
needs() {
  need_commands ccache:ccache /usr/include/stdio.h:libc6-dev
  case $1 in
    coro) need_commands g++:g++ make:make /usr/include/boost/version.hpp:libboost-dev "/usr/lib/$(uname -m)-linux-gnu/libboost_context.so:libboost-context-dev" \
      /usr/include/benchmark/benchmark.h:libbenchmark-dev /usr/include/liburing.h:liburing-dev ;;
    lzlog) need_commands gcc:gcc g++:g++ make:make /usr/include/spdlog/spdlog.h:libspdlog-dev /usr/include/openssl/evp.h:libssl-dev ;;
    uvhttp) need_commands gcc:gcc make:make python3:python3 xz:xz-utils /usr/include/uv.h:libuv1-dev /usr/include/xxhash.h:libxxhash-dev ;;
    uring) need_commands gcc:gcc make:make pkg-config:pkg-config /usr/include/liburing.h:liburing-dev ;;
    zco) zig_up ;;
    fuzz)
      need_commands gcc:gcc make:make /usr/include/uv.h:libuv1-dev /usr/include/liburing.h:liburing-dev /usr/include/xxhash.h:libxxhash-dev
      zig_up
      ;;
    ipc | ablation) need_commands gcc:gcc make:make ;;
    planted) need_commands gcc:gcc make:make valgrind:valgrind strace:strace ;;
  esac
}

# all_needs: what all workloads are built and tested with.
all_needs() {
  local name
  for name in fuzz "${WORKLOADS[@]}" "${OTHERS[@]}"; do
    needs "$name"
  done
}

# measure PREFIX,...: leads the runs that the figures of these names need, one after the other, prints the figures, and keeps the runs' records.
measure() {
  local only=${1:-} run runs status failed=0
  need_commands wrk:wrk ab:apache2-utils perf:linux-perf taskset:util-linux
  runs=$(bin/bench-workloads runs "$only")
  mkdir -p "$RESULTS"
  for run in $runs; do
    say "== $run"
    rm -rf "${RESULTS:?}/$run" "$RESULTS/$run.jsonl"
    case $run in
      zco-system-calls) system_calls "$RESULTS/$run.jsonl" || failed=1; continue ;;
      zco-busier-share) busier_share "$RESULTS/$run.jsonl" || failed=1; continue ;;
      zco-start) starts "$RESULTS/$run.jsonl" || failed=1; continue ;;
      ipc-allocations) allocations "$RESULTS/$run.jsonl" || failed=1; continue ;;
    esac
    peers "$run" || failed=1
    status=0
    bin/loadstone run --out "$RESULTS/$run" "config/workloads/$run.yaml" >&2 || status=$?
    [ $status != 130 ] || exit $status
    # 3 and 4 say that an objective was missed or that there is no verdict: what was measured counts all the same.
    [[ $status == [034] ]] || failed=1
  done
  bin/bench-workloads figures "$RESULTS" "$only" || failed=1
  bin/bench-workloads record "$RESULTS" "$RECORDS" "$only" || failed=1
  bin/bench-workloads pages "$RECORDS" docs/explanation/workloads.md workloads/*/README.md || failed=1
  return $failed
}

# peers RUN: makes what a run wants of peers.
peers() {
  case $1 in
    uvhttp-h2o)
      need_commands h2o:h2o
      make -s -C workloads/h2o OUT="$PWD/bin/h2o-local" PORT=18081
      ;;
    uvhttp-nginx | uvhttp-latency | nginx-debug)
      need_commands gcc:gcc make:make /usr/include/pcre2.h:libpcre2-dev
      make -s -C workloads/nginx builds OUT="$PWD/bin/nginx-builds" PORT=18081
      ;;
  esac
}

# system_calls FILE: writes the record (hack/workloads/record.go) of how many system calls zco makes for its answers, also with two threads. No run
# counts them: perf does, while wrk loads the server.
system_calls() {
  local began load lines=''
  began=$(date -u +%FT%TZ)
  for load in "zco 1 10" "zco 1 100" "zco-2 2 100"; do
    # shellcheck disable=SC2086 # It is three arguments.
    lines+=$(count_calls $load)$'\n' || { say "perf counts no system calls here"; return 1; }
  done
  { head_of zco-system-calls "$began" 1 zco=bin/zco zco-2=bin/zco && printf '%s' "$lines"; } >"$1"
}

# head_of RUN BEGAN BLOCKS NAME=PROGRAM...: prints the head of the record of a run of these programs that has ended.
head_of() {
  local machine version program programs=''
  version=$(bin/loadstone version | cut -d' ' -f2)
  # shellcheck source=/dev/null
  machine=$(. /etc/os-release; awk -F'\t: ' -v cpus="$(cat /sys/devices/system/cpu/online)" -v kernel="$(uname -r)" -v os="$PRETTY_NAME" \
    -v bytes=$((1024 * $(awk '/^MemTotal:/ {print $2}' /proc/meminfo))) '$1 == "model name" {
      printf "{\"cpuModel\":\"%s\",\"cpus\":\"%s\",\"memoryBytes\":%s,\"kernel\":\"%s\",\"os\":\"%s\"}", $2, cpus, bytes, kernel, os; exit }' /proc/cpuinfo)
  for program in "${@:4}"; do
    programs+=",\"${program%%=*}\":\"sha256:$(sha256sum "${program#*=}" | cut -d' ' -f1)\""
  done
  printf '{"run":"%s","started":"%s","ended":"%s","loadstone":"%s","blocks":%s,"machine":%s,"programs":{%s}}\n' \
    "$1" "$2" "$(date -u +%FT%TZ)" "$version" "$3" "$machine" "${programs#,}"
}

# count_calls NAME THREADS CONNECTIONS: prints what was seen of zco with so many threads under so many connections, a line of the record.
count_calls() {
  local server counts answers calls port=18082
  counts=$(mktemp)
  taskset --cpu-list 1 bin/zco --port=$port "--threads=$2" >/dev/null &
  server=$!
  sleep 0.5
  answers=$(perf stat -x, -e raw_syscalls:sys_enter -o "$counts" -p $server -- \
    taskset --cpu-list 0 wrk -t1 "-c$3" -d5s http://127.0.0.1:$port/ | awk '/requests in/ {print $1}') || answers=0
  kill $server
  wait $server || true
  calls=$(awk -F, '$3 == "raw_syscalls:sys_enter" {print $1}' "$counts")
  rm "$counts"
  [[ $calls =~ ^[1-9][0-9]*$ && $answers =~ ^[1-9][0-9]*$ ]] || return 1
  printf '{"block":1,"implementation":"%s","at":{"load":"keepalive","connections":%s},"requests":%s,"systemCalls":%s}\n' "$1" "$3" "$answers" "$calls"
}

# busier_share FILE: writes the record of what share of ten connections the busier of two threads of zco gets from the kernel, in 20 tries.
busier_share() {
  local began server fd fds connections=10 tries=20 try lines port=18083
  began=$(date -u +%FT%TZ)
  bin/zco --port=$port --threads=2 >/dev/null &
  server=$!
  sleep 0.5
  lines=$(
    for ((try = 1; try <= tries; try++)); do
      fds=()
      for _ in $(seq $connections); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$port"
        fds+=("$fd")
      done
      sleep 1.2 # Each thread says once a second what it has.
      printf 'GET /stats HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n' >&"$fd"
      cat <&"$fd" | sed -n "s/.*\"openByThread\":\[\([0-9]*\),\([0-9]*\)\].*/$try \1 \2/p"
      for fd in "${fds[@]}"; do
        exec {fd}>&-
      done
    done | awk -v connections=$connections '$2 + $3 > 0 {
      printf "{\"block\":%d,\"implementation\":\"zco\",\"at\":{\"load\":\"open\",\"connections\":%d},\"busierShare\":%.6g}\n", $1, connections, ($2 > $3 ? $2 : $3) / ($2 + $3) }'
  ) || lines=''
  kill $server
  wait $server || true
  [ "$(wc -l <<<"$lines")" = $tries ] || { say "zco did not tell $tries times how its connections are spread"; return 1; }
  { head_of zco-busier-share "$began" $tries zco=bin/zco && printf '%s\n' "$lines"; } >"$1"
}

# starts FILE: writes the record of how large the programs of zco and gohttp are, and how long each takes from its start to its first answer.
starts() {
  local began lines tries=20
  began=$(date -u +%FT%TZ)
  lines=$(bin/bench-workloads starts $tries zco=bin/zco gohttp=bin/gohttp) || return 1
  { head_of zco-start "$began" $tries zco=bin/zco gohttp=bin/gohttp && printf '%s\n' "$lines"; } >"$1"
}

# allocations FILE: writes the record of what a message through the net package allocates, by the count of the program itself. What the runtime
# allocates meanwhile is rounded off.
allocations() {
  local began name cells=''
  began=$(date -u +%FT%TZ)
  for name in baseline goroutine pool channel-0 channel-1 channel-4 select empty-goroutine stream roundtrip fds; do
    cells+=$(bin/ipc-bench cell "go-netpoll-$name" --seconds 0.2 |
      awk -v name="$name" -F'[:,}]' '/"bytesPerOperation"/ {printf ",\"%s\":{\"B\":%.0f,\"allocations\":%.0f}", name, $10, $12}') || return 1
  done
  { head_of ipc-allocations "$began" 1 netpoll=bin/ipc-bench && printf '{"block":1,"implementation":"netpoll","cases":{%s}}\n' "${cells#,}"; } >"$1"
}

# failed NAME: ends the test of a workload, and tells hack/test.sh how it is repeated.
failed() {
  [ -z "${AGAIN:-}" ] || echo "hack/workloads.sh test $1" >>"$AGAIN"
  die "the test of $1 failed; to run it alone: hack/workloads.sh test $1"
}

# tests NAME...: tests two at a time, for most of them wait, or do one thing after the other. What a test says is printed when it has ended.
tests() {
  # shellcheck disable=SC2016 # It is the other shell that expands it.
  printf '%s\n' "$@" | xargs -P 2 -n 1 sh -c 'said=$(hack/workloads.sh test "$1" 2>&1); status=$?; printf "%s\n" "$said"; exit $status' tests
}

main() {
  local mode=${1:-} name begin
  if [ "$mode" = measure ]; then
    measure "${2:-}"
    return
  fi
  if [ "$mode" = need ]; then
    all_needs
    return
  fi
  if [ "$mode" = needs ]; then
    need_commands() { printf '%s\n' "$@"; }
    zig_up() { pypi_needs; }
    [ -x "$BIN/zig" ] || say "  downloads from PyPI: ziglang==$ZIG_VERSION"
    all_needs
    return
  fi
  [[ $mode == build || $mode == test ]] || die "usage: hack/workloads.sh build|test [NAME...], need, needs, or measure [PREFIX,...]"
  shift
  # nginx is only configured; its image installs it.
  [ "$mode" = test ] || install -D -t bin/nginx workloads/nginx/nginx.conf workloads/nginx/files.sh
  if [ $# = 0 ]; then
    set -- "${WORKLOADS[@]}"
    [ "$mode" = test ] || set -- "${OTHERS[@]}" "$@"
  fi
  for name; do
    needs "$name"
  done
  if [ "$mode" = test ] && [ $# -gt 1 ]; then
    tests "$@"
    return
  fi
  for name; do
    begin=$(now_ms)
    if [ "$mode" = build ]; then
      make -s -C "workloads/$name" OUT="$PWD/bin" ZIG="$BIN/zig"
    else
      make -s -C "workloads/$name" OUT="$PWD/bin/test-$name" ZIG="$BIN/zig" test || failed "$name"
    fi
    say "$name: $mode took $(( $(now_ms) - begin )) ms"
  done
}

main "$@"
