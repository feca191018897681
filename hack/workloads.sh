#!/usr/bin/env bash
# Builds the workloads that are not Go's, or not Go's alone, into bin/, or tests each of them with and without sanitizers.
#
#   usage: hack/workloads.sh build|test [NAME...]      (no name: every one; "test fuzz" fuzzes their parsers, for FUZZ_SECONDS=5 each)
#          hack/workloads.sh measure [PREFIX,...]      (runs config/workloads with loadstone run, and prints what they reached)
#
# Compilers, libraries and peers come from Debian, zig from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

# What was compiled once, in whatever clone, is not compiled again.
export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$LOADSTONE_CACHE/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

ZIG_VERSION=0.14.1
WORKLOADS=(ablation coro ipc lzlog planted uvhttp zco)
RESULTS=bin/workloads

# needs NAME MODE: installs what a workload is built from, or tested with.
needs() {
  case $1 in
    coro) need_commands g++:g++ make:make /usr/include/boost/version.hpp:libboost-dev "/usr/lib/$(uname -m)-linux-gnu/libboost_context.so:libboost-context-dev" \
      /usr/include/benchmark/benchmark.h:libbenchmark-dev /usr/include/liburing.h:liburing-dev ;;
    lzlog) need_commands gcc:gcc g++:g++ make:make /usr/include/spdlog/spdlog.h:libspdlog-dev /usr/include/openssl/evp.h:libssl-dev \
      /usr/include/zstd.h:libzstd-dev ;;
    uvhttp) need_commands gcc:gcc make:make python3:python3 xz:xz-utils /usr/include/uv.h:libuv1-dev /usr/include/xxhash.h:libxxhash-dev ;;
    uring) need_commands gcc:gcc make:make pkg-config:pkg-config /usr/include/liburing.h:liburing-dev ;;
    zco)
      zig_up
      # The tests run what is built for the other processor, too.
      [ "$2 $(uname -m)" != "test x86_64" ] || need_commands qemu-aarch64-static:qemu-user-static
      ;;
    fuzz)
      need_commands gcc:gcc g++:g++ make:make /usr/include/uv.h:libuv1-dev /usr/include/boost/version.hpp:libboost-dev \
        /usr/include/liburing.h:liburing-dev
      zig_up
      ;;
    ipc | ablation) need_commands gcc:gcc make:make ;;
    planted) need_commands gcc:gcc make:make valgrind:valgrind strace:strace ;;
  esac
}

# zig_up: zig in a folder of the cache, as the others have their servers there.
zig_up() {
  local dir=$LOADSTONE_CACHE/zig-$ZIG_VERSION zig
  # Zig never forgets what it has compiled.
  if [ -d "$ZIG_CACHE" ] && [ "$(du -sm "$ZIG_CACHE" | cut -f1)" -gt 2000 ]; then
    rm -rf "$ZIG_CACHE"
  fi
  if [ ! -x "$BIN/zig" ] || [ "$("$BIN/zig" version)" != "$ZIG_VERSION" ]; then
    need_commands python3:python3
    python3 -c 'import ensurepip' 2>/dev/null || need_commands /nowhere:python3-venv
    say "Installing zig $ZIG_VERSION."
    rm -rf "$dir" && python3 -m venv "$dir"
    "$dir/bin/pip" --quiet install "ziglang==$ZIG_VERSION"
    zig=("$dir"/lib/python3*/site-packages/ziglang/zig)
    mkdir -p "$BIN"
    ln -sfn "${zig[0]}" "$BIN/zig"
  fi
}

# measure PREFIX,...: leads the runs that the figures of these names need, one after the other, and prints the figures.
measure() {
  local only=${1:-} run runs status failed=0
  need_commands wrk:wrk ab:apache2-utils perf:linux-perf taskset:util-linux /usr/sbin/nginx:nginx-light
  make -s -C workloads/nginx OUT="$PWD/bin/nginx-local" PORT=18081
  runs=$(bin/bench-workloads runs "$only")
  for run in $runs; do
    say "== $run"
    peers "$run" || failed=1
    rm -rf "${RESULTS:?}/$run"
    status=0
    bin/loadstone run --out "$RESULTS/$run" "config/workloads/$run.yaml" >&2 || status=$?
    [ $status != 130 ] || exit $status
    # 3 and 4 say that an objective was missed or that there is no verdict: what was measured counts all the same.
    [[ $status == [034] ]] || failed=1
  done
  bin/bench-workloads figures "$RESULTS" "$only" || failed=1
  [[ " $runs " != *zco-gohttp* ]] || { system_calls 10 && system_calls 100; } || failed=1
  [[ " $runs " != *zco-threads* ]] || busier_share 10 || failed=1
  return $failed
}

# peers RUN: makes what a run wants of peers, beyond nginx's folder.
peers() {
  case $1 in
    uvhttp-h2o)
      need_commands h2o:h2o
      make -s -C workloads/h2o OUT="$PWD/bin/h2o-local" PORT=18081
      ;;
    nginx-debug)
      need_commands gcc:gcc make:make /usr/include/pcre2.h:libpcre2-dev
      make -s -C workloads/nginx builds OUT="$PWD/bin/nginx-builds" PORT=18081
      ;;
  esac
}

# system_calls CONNECTIONS: prints how many system calls zco makes for an answer. No run counts them: perf does, while wrk loads the server.
system_calls() {
  local server counts answers calls port=18082
  counts=$(mktemp)
  taskset --cpu-list 1 bin/zco --port=$port >/dev/null &
  server=$!
  sleep 0.5
  answers=$(perf stat -x, -e raw_syscalls:sys_enter -o "$counts" -p $server -- \
    taskset --cpu-list 0 wrk -t1 "-c$1" -d5s http://127.0.0.1:$port/ | awk '/requests in/ {print $1}') || answers=0
  kill $server
  wait $server || true
  calls=$(awk -F, '$3 == "raw_syscalls:sys_enter" {print $1}' "$counts")
  rm "$counts"
  awk -v name="zco-system-calls-$1" -v calls="${calls:-0}" -v answers="$answers" 'BEGIN {
    OFS = "\t"
    if (calls !~ /^[0-9]+$/ || calls * answers == 0) { print name, "-", "a request", "<=3", "not measured", "perf counts no system calls here"; exit 1 }
    print name, sprintf("%.4g", calls / answers), "a request", "<=3", calls / answers <= 3 ? "met" : "short", "n=1"
  }'
}

# busier_share CONNECTIONS: prints what share of so many connections the busier of two threads of zco gets from the kernel: the mean of 20 tries.
busier_share() {
  local server fd fds i port=18083
  bin/zco --port=$port --threads=2 >/dev/null &
  server=$!
  sleep 0.5
  for _ in {1..20}; do
    fds=()
    for ((i = 0; i < $1; i++)); do
      exec {fd}<>"/dev/tcp/127.0.0.1/$port"
      fds+=("$fd")
    done
    sleep 1.2 # Each thread says once a second what it has.
    printf 'GET /stats HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n' >&"$fd"
    cat <&"$fd"
    for fd in "${fds[@]}"; do
      exec {fd}>&-
    done
  done | sed -n 's/.*"openByThread":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/p' | awk -v name="zco-threads-busier-share-$1" '
    $1 + $2 > 0 { share = ($1 > $2 ? $1 : $2) / ($1 + $2); sum += share; squares += share * share }
    END {
      OFS = "\t"
      if (NR != 20) { print name, "-", "share", "-", "not measured", NR " of 20 tries were told"; exit 1 }
      mean = sum / NR
      print name, sprintf("%.3g", mean), "share", "-", "-", sprintf("n=%d, standard deviation %.2g", NR, sqrt((squares / NR - mean * mean) * NR / (NR - 1)))
    }' || { kill $server; return 1; }
  kill $server
  wait $server || true
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
  [[ $mode == build || $mode == test ]] || die "usage: hack/workloads.sh build|test [NAME...], or measure [PREFIX,...]"
  shift
  # nginx is only configured; its image installs it.
  [ "$mode" = test ] || install -D -t bin/nginx workloads/nginx/nginx.conf workloads/nginx/files.sh
  if [ $# = 0 ]; then
    # go test tests uring, as it does epoll. Of the tests, what takes longest begins first.
    [ "$mode" = test ] || set -- uring
    [ "$mode" = build ] || set -- fuzz
    set -- "$@" "${WORKLOADS[@]}"
  fi
  need_commands ccache:ccache /usr/include/stdio.h:libc6-dev
  for name; do
    needs "$name" "$mode"
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
      make -s -C "workloads/$name" OUT="$PWD/bin/test-$name" ZIG="$BIN/zig" test
    fi
    say "$name: $mode took $(( $(now_ms) - begin )) ms"
  done
}

main "$@"
