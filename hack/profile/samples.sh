#!/usr/bin/env bash
# Records the outputs of profilers that the parsers of internal/profiler are tested with: of a program with planted faults, of its clean
# twin, of a static one, of Go, and of one that a signal ends.
#
#   usage: hack/profile/samples.sh
#
# Needs gcc, go, valgrind, strace and linux-perf. What it records differs in process ids, addresses and times from run to run: read the difference.
set -euo pipefail
cd "$(dirname "$0")/../.."

REQUESTS=100
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# out TOOL NAME: where a recorded output belongs.
out() {
  local folder=internal/profiler/$1/testdata
  [[ $1 != strace && $1 != messages ]] || folder=internal/profiler/testdata/$1
  mkdir -p "$folder"
  echo "$PWD/$folder/$2"
}

build() {
  local flags=(-std=gnu11 -O1 -g -fno-builtin -march=x86-64)
  cp hack/profile/planted.c "$work"
  cd "$work"
  gcc "${flags[@]}" -DPLANTED -o planted planted.c
  gcc "${flags[@]}" -o clean planted.c
  gcc "${flags[@]}" -DPLANTED -static -o static planted.c
  cat >main.go <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A signal that Go's runtime handles ends callgrind.
func main() {
	if len(os.Args) > 1 {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		go func() {
			for {
				time.Sleep(time.Millisecond)
			}
		}()
		<-c
	}
	os.Stdout.WriteString("answered\n")
}
GO
  GO111MODULE=off go build -o go main.go
  gcc "${flags[@]}" -o illegal -x c - <<<'int main(void) { __asm__ volatile("vpxord %zmm0, %zmm0, %zmm0"); return 0; }'
  gcc "${flags[@]}" -o switching -x c - <<'C'
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t outer, inner;

static void work(void)
{
	for (;;)
		swapcontext(&inner, &outer);
}

int main(void)
{
	getcontext(&inner);
	inner.uc_stack.ss_sp = malloc(65536);
	inner.uc_stack.ss_size = 65536;
	makecontext(&inner, work, 0);
	for (int i = 0; i < 3; i++)
		swapcontext(&outer, &inner);
	return 0;
}
C
  cd - >/dev/null
}

# in_work COMMAND...: in a folder of its own, so that no name of a folder of this machine is recorded. A signal is what some are to end by.
in_work() { { (cd "$work" && "$@" >/dev/null 2>&1) || true; } 2>/dev/null; }

memcheck() { # NAME ARGV...
  local to=$1; shift
  in_work valgrind --tool=memcheck --vgdb=no --leak-check=full --show-leak-kinds=all --track-origins=yes --xml=yes \
    --xml-file=memcheck.xml --xtree-memory=full --xtree-memory-file=heap.xtree "$@"
  sed "s|$work|/srv|g" "$work/memcheck.xml" >"$(out memcheck "$to.xml")"
  sed "s|$work|/srv|g" "$work/heap.xtree" >"$(out memcheck "$to.xtree")"
}

massif() { # NAME ARGV...
  local to=$1; shift
  in_work valgrind --tool=massif --vgdb=no --stacks=yes --massif-out-file=massif.out "$@"
  sed "s|$work|/srv|g" "$work/massif.out" >"$(out massif "$to")"
}

callgrind() { # NAME ARGV...
  local to=$1; shift
  in_work valgrind --tool=callgrind --vgdb=no --callgrind-out-file=callgrind.out "$@"
  sed "s|$work|/srv|g" "$work/callgrind.out" >"$(out callgrind "$to")"
}

cachegrind() { # NAME ARGV...
  local to=$1; shift
  in_work valgrind --tool=cachegrind --vgdb=no --cache-sim=no --cachegrind-out-file=cachegrind.out "$@"
  sed "s|$work|/srv|g" "$work/cachegrind.out" >"$(out callgrind "$to")"
}

messages() { # NAME ARGV...
  local to=$1; shift
  in_work valgrind --vgdb=no --log-file=valgrind.log "$@"
  sed "s|$work|/srv|g" "$work/valgrind.log" >"$(out messages "$to")"
}

# stripped NAME: what memcheck says in an image whose loader has no symbols.
stripped() {
  local root=$work/root
  mkdir -p "$root/opt" "$root/proc"
  # shellcheck disable=SC2046 # These are several files.
  cp -L --parents $(ldd "$work/clean" | grep -o '/[^ ]*') "$root"
  cp "$work/clean" "$root/opt/"
  hack/profile/toolbox.sh "$root/opt/tools"
  unshare --map-root-user --mount --pid --fork --mount-proc="$root/proc" env -i TMPDIR=/opt /usr/sbin/chroot "$root" \
    /opt/tools/valgrind/launcher --tool=memcheck --vgdb=no --log-file=/opt/valgrind.log /opt/clean >/dev/null 2>&1 || true
  cp "$root/opt/valgrind.log" "$(out messages "$1")"
}

traced() { # NAME ARGV...
  local to=$1; shift
  in_work strace -c -f -o strace.txt "$@"
  cp "$work/strace.txt" "$(out strace "$to")"
}

counted() { # NAME ARGV...
  local to=$1; shift
  in_work perf stat -x, -o perf.csv -e task-clock,context-switches,page-faults,instructions,cycles,branch-misses "$@"
  cp "$work/perf.csv" "$(out perfstat "$to")"
}

main() {
  build
  local twin
  for twin in planted clean; do
    memcheck "$twin" "./$twin" "$REQUESTS"
    massif "$twin.out" "./$twin" "$REQUESTS"
    callgrind "$twin.out" "./$twin" "$REQUESTS"
    traced "$twin.txt" "./$twin" "$REQUESTS"
    counted "$twin.csv" "./$twin" "$REQUESTS"
  done
  # SIGTERM's default ends the process, and valgrind still writes.
  memcheck signal ./planted "$REQUESTS" 15
  memcheck static ./static "$REQUESTS"
  memcheck go ./go
  massif static.out ./static "$REQUESTS"
  traced signal.txt ./planted "$REQUESTS" 9
  cachegrind cachegrind.out ./go
  messages planted.log ./planted "$REQUESTS"
  messages illegal.log ./illegal
  messages switching.log ./switching
  in_work timeout 2 valgrind --tool=callgrind --vgdb=no --callgrind-out-file=/dev/null --log-file=crash.log ./go stop
  cp "$work/crash.log" "$(out messages crash.log)"
  stripped stripped.log
  # Go's runtime makes hundreds of errors that are none, in a file that is too long to keep.
  rm "$(out memcheck go.xml)"
  # The same file as a disk that is full would leave it.
  head -n 125 "$(out memcheck signal.xml)" >"$(out memcheck cut.xml)"
  # Cache misses and branches: more events than instructions alone.
  in_work valgrind --tool=callgrind --vgdb=no --cache-sim=yes --branch-sim=yes --dump-instr=yes --callgrind-out-file=callgrind.out ./clean "$REQUESTS"
  sed "s|$work|/srv|g" "$work/callgrind.out" >"$(out callgrind events.out)"
}

main "$@"
