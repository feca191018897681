#!/usr/bin/env bash
# Builds the workloads that are not Go's, or not Go's alone, into bin/, or tests each of them with and without sanitizers.
#
#   usage: hack/workloads.sh build|test [NAME...]      (no name: every one)
#          hack/workloads.sh tools                     (installs what hack/bench/workloads measures them with, and nginx)
#
# Compilers and libraries come from Debian, zig from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

ZIG_VERSION=0.14.1
WORKLOADS=(coro ipc lzlog planted uvhttp zco)

# needs NAME: installs what a workload is built from.
needs() {
  case $1 in
    coro) need_commands g++:g++ make:make /usr/include/boost/version.hpp:libboost-dev /usr/include/boost/context/fiber.hpp:libboost-context-dev \
      /usr/include/benchmark/benchmark.h:libbenchmark-dev ;;
    lzlog) need_commands gcc:gcc g++:g++ make:make /usr/include/spdlog/spdlog.h:libspdlog-dev /usr/include/openssl/evp.h:libssl-dev ;;
    uvhttp) need_commands gcc:gcc make:make python3:python3 xz:xz-utils /usr/include/uv.h:libuv1-dev /usr/include/xxhash.h:libxxhash-dev ;;
    zco) zig_up ;;
    ipc) need_commands gcc:gcc make:make ;;
    planted) need_commands gcc:gcc make:make valgrind:valgrind strace:strace ;;
  esac
}

# zig_up: zig in a folder of the cache, as the others have their servers there.
zig_up() {
  local dir=$LOADSTONE_CACHE/zig-$ZIG_VERSION zig
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

main() {
  local mode=${1:-} name begin
  if [ "$mode" = tools ]; then
    need_commands wrk:wrk ab:apache2-utils perf:linux-perf taskset:util-linux /usr/sbin/nginx:nginx-light
    return
  fi
  [[ $mode == build || $mode == test ]] || die "usage: hack/workloads.sh build|test [NAME...], or tools"
  shift
  # nginx is only configured; its image installs it.
  [ "$mode" = test ] || install -D -t bin/nginx workloads/nginx/nginx.conf workloads/nginx/files.sh
  [ $# -gt 0 ] || set -- "${WORKLOADS[@]}"
  for name; do
    needs "$name"
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
