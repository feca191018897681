#!/bin/sh
# Runs what `make test` has built in the folder, one line per suite.
set -eu
out=$1

suite() {
    name=$1
    shift
    if ! said=$("$@" 2>&1); then
        printf '%s\nFAIL %s\n' "$said" "$name"
        exit 1
    fi
    printf 'ok   %-40s %s\n' "$name" "$(printf '%s' "$said" | tail -n 1)"
}

fixed() {
    setarch "$(uname -m)" -R "$@"
}

# cells(PATTERN, COMMAND...): each cell of a pattern, for an instant: it verifies what it did, and its line has the shape that the
# driver reads; or it says that this machine has not what it needs
cells() {
    pattern=$1 count=0 missing=0
    shift
    for cell in $("$@" cases | grep -E "$pattern"); do
        if ! line=$("$@" cell "$cell" --seconds 0.01 2>&1) && [ "${line#*is not to be had here: }" != "$line" ]; then
            missing=$((missing + 1))
            continue
        fi
        echo "$line" | grep -Eqx '\{"case":"'"$cell"'","operations":[1-9][0-9]*,"wallSeconds":[0-9]+\.[0-9]{6},"cpuSeconds":[0-9]+\.[0-9]{6}\}' ||
            { echo "$cell printed '$line'"; return 1; }
        count=$((count + 1))
    done
    echo "$count cells$([ $missing -eq 0 ] || echo ", and $missing are not to be had here")"
    [ "$count" -gt 0 ]
}

# exits(STATUS, COMMAND...): it ends with that status, and says a sentence when that is not 0
exits() {
    wanted=$1
    shift
    status=0
    said=$("$@" 2>&1 >/dev/null) || status=$?
    [ "$status" -eq "$wanted" ] || { echo "$* ended with $status, not $wanted"; return 1; }
    [ "$wanted" -eq 0 ] || [ -n "$said" ] || { echo "$* said nothing"; return 1; }
}

contract() {
    program=$1
    exits 0 "$program" cases &&
        exits 2 "$program" &&
        exits 2 "$program" cell no-such-case &&
        exits 2 "$program" cell switch-stackful --seconds 0 &&
        exits 2 "$program" cell switch-stackful --seconds &&
        exits 1 "$program" cell read-32k-stackless --dir /nonexistent &&
        echo "exit statuses and sentences"
}

leaves_nothing() {
    directory=$(mktemp -d "$2/files-XXXXXX")
    "$1" cell same-read-32-stackful --seconds 0.01 --dir "$directory" >/dev/null &&
        rmdir "$directory" && # fails when it is not empty
        echo "the directory is empty again"
}

# the cells that comparisons are made of, by name: one that is renamed is missed here
compared() {
    program=$1
    for cell in switch-stackful switch-boost switch-boost-flags-differ switch-stackful-flags-differ wake-own wake-stealable uneven-in-turn uneven-where-idle \
        depth-2048-stackless depth-2048-stackless-prealloc read-4k-stackless-pool read-4k-stackless-uring read-4k-stackless-aio \
        direct-read-4k-stackless-pool direct-read-4k-stackless-uring direct-read-4k-stackless-aio; do
        "$program" cases | grep -qx "$cell" || { echo "there is no $cell"; return 1; }
    done
    echo "all there"
}

# the program without the control words has switches of its own, which read fewer of them, and verify what they hand over; and no case that needs them
without_words() {
    program=$1 lacking=$1-without-control-words
    "$lacking" cell switch-stackful --seconds 0.01 || return 1
    reads=$(objdump -d "$program" | grep -c fnstcw)
    left=$(objdump -d "$lacking" | grep -c fnstcw)
    [ "$left" -lt "$reads" ] && echo "$left places that read one, instead of $reads"
}

# where no device is waited for, no cell says so by its name, and Google Benchmark's cases go without
memory_is_no_device() {
    [ "$(stat -f -c %T /dev/shm)" = tmpfs ] || { echo "not tried: there is no tmpfs"; return 0; }
    exits 1 "$1" cell direct-read-4k-stackless --dir /dev/shm || return 1
    names=$("$2" --benchmark_list_tests --dir=/dev/shm 2>/dev/null)
    ! echo "$names" | grep '^direct_read/' && echo "refused"
}

# some of Google Benchmark's cases: each kind of each family that coro-bench lists has a line, with a time and without an error
google() {
    program=$1 cells=$2 directory=$3
    lines=$("$program" --benchmark_filter='^(pure_switch/.*:100000|call_depth/.*:64|same_read/.*:32|deep_read/.*:64)/' --benchmark_min_time=0.01 \
        --benchmark_format=csv --dir="$directory") || { echo "$lines"; return 1; }
    wanted=$("$cells" cases | sed -nE 's|^switch-(.*)$|pure_switch/kind:\1/switches:100000|p; s|^depth-64-(.*)$|call_depth/kind:\1/depth:64|p
        s|^same-read-32-(.*)$|same_read/kind:\1/tasks:32|p; s|^deep-read-64-(.*)$|deep_read/kind:\1/depth:64|p')
    for name in $wanted; do
        echo "$lines" | grep -Eq '^"'"$name"'/process_time/real_time",[1-9][0-9]*,[0-9.e+-]+,' ||
            { printf '%s\nno time of %s\n' "$lines" "$name"; return 1; }
    done
    echo "$(echo "$wanted" | grep -c .) cases"
    [ -n "$wanted" ]
}

# implementations are compared case by case: what has a kind of each family has the same names as others
implementations() {
    program=$1
    names=$("$program" --benchmark_list_tests --implementation=stackless)
    echo "$names" | grep -qx 'call_depth/depth:2048/process_time/real_time' || { echo "$names"; return 1; }
    [ "$("$program" --benchmark_list_tests --implementation stackful)" = "$names" ] || { echo "stackful has others than stackless"; return 1; }
    for kind in stackless-noexcept stackful-noexcept stackless-prealloc stackful-prealloc stackless-pool stackless-uring boost; do
        for name in $("$program" --benchmark_list_tests --implementation=$kind); do
            echo "$names" | grep -qxF "$name" || { echo "$name is of $kind alone"; return 1; }
        done
    done
    exits 2 "$program" --implementation=nobody && echo "$(echo "$names" | grep -c .) cases, by the same names"
}

# on_avx512(COMMAND...): only a processor that has these instructions can run it
on_avx512() {
    if grep -qw avx512vl /proc/cpuinfo; then
        "$@"
    else
        echo "built, and not run: this processor has none"
    fi
}

suite "unit tests, as released" "$out/unit-release"
suite "switch, built for AVX-512" on_avx512 "$out/unit-avx512"
suite "unit tests, not optimised" "$out/unit-plain"
# gcc 12's sanitizers do not know all layouts of address spaces, and so are spared random ones
suite "unit tests, ASan and UBSan" fixed "$out/unit-asan"
suite "unit tests, TSan" fixed "$out/unit-tsan"
suite "cells, ASan and UBSan" cells '^(wake|uneven|(switch|depth-(1|64|2048)|read-(4|2048)k|direct-read-4k|same-read-32|deep-read-64)-(stackful|stackless|hybrid))' fixed "$out/cells-asan"
suite "cells" cells '^(switch|wake|uneven|depth-(1|64|2048)|read-(4|32|2048)k|direct-read-(4|64)k|same-read-(4|32)|deep-read-(1|256))-' "$out/coro-bench"
suite "contract of the cell" contract "$out/coro-bench"
suite "cells that are compared" compared "$out/coro-bench"
suite "switches without control words" without_words "$out/coro-bench"
suite "reads past the page cache" memory_is_no_device "$out/coro-bench" "$out/coro"
suite "files" leaves_nothing "$out/coro-bench" "$out"
suite "Google Benchmark" google "$out/coro" "$out/coro-bench" "$out"
suite "Google Benchmark, by implementation" implementations "$out/coro"
