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

# each cell of a pattern, for an instant: it verifies what it did, and its line has the shape that the driver reads
cells() {
    program=$1 pattern=$2 count=0
    for cell in $("$program" cases | grep -E "$pattern"); do
        line=$("$program" cell "$cell" --seconds 0.01)
        echo "$line" | grep -Eqx '\{"case":"'"$cell"'","operations":[1-9][0-9]*,"wallSeconds":[0-9]+\.[0-9]{6},"cpuSeconds":[0-9]+\.[0-9]{6}\}' ||
            { echo "$cell printed '$line'"; return 1; }
        count=$((count + 1))
    done
    echo "$count cells"
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
    "$1" cell same-read-32-stackful --seconds 0.01 --dir "$directory" >/dev/null
    rmdir "$directory" # fails when it is not empty
    echo "the directory is empty again"
}

suite "unit tests, as released" "$out/unit-release"
suite "unit tests, not optimised" "$out/unit-plain"
suite "unit tests, ASan and UBSan" "$out/unit-asan"
# gcc 12's ThreadSanitizer does not know all layouts of address spaces
suite "unit tests, TSan" setarch "$(uname -m)" -R "$out/unit-tsan"
suite "fuzzed command lines, ASan and UBSan" "$out/fuzz-asan"
suite "cells, ASan and UBSan" cells "$out/cells-asan" '^(switch|depth-(1|64|2048)|read-32k|same-read-32)-(stackful|stackless)'
suite "cells" cells "$out/coro-bench" '^(switch|depth-(1|64|2048)|read-(32|2048)k|same-read-32)-'
suite "contract of the cell" contract "$out/coro-bench"
suite "files" leaves_nothing "$out/coro-bench" "$out"
suite "Google Benchmark" "$out/coro" --benchmark_filter='(pure_switch/.*/100000|call_depth/.*/64|same_read/.*/32)$' --benchmark_min_time=0.01 --dir="$out"
