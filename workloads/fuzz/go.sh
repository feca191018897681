#!/usr/bin/env bash
# Fuzzes a function of a Go package.
#
#   usage: go.sh NAME FUNCTION FOLDER SECONDS      (of CPU time, as the fuzzers in C)
#
# Go's fuzzer knows the clock, and how many inputs it is to try. By the clock it tries little beside others, and may fail when its time is over and it
# does not get the CPU just then (go.dev/issue/75804). So it tries a number of inputs, and then as many more as what they took leaves room for.
set -euo pipefail
export LC_ALL=C # The shell writes times with a point.
name=$1 function=$2 folder=$3 seconds=$4

# clock_times is how many times its seconds it may take by the clock.
clock_times=60

made=$(mktemp -d) && touch "$made/said"
trap 'rm -rf "$made"' EXIT
go test -c -fuzz="$function" -o "$made/fuzz" "$folder"
found=$(go env GOCACHE)/fuzz/$(go list "$folder")
cd "$folder"

TIMEFORMAT='%3U %3S'
tried=0 used=0 next=10000 # inputs, milliseconds, inputs
while [ "$used" -lt $((seconds * 1000)) ]; do
  left=$((seconds * clock_times - SECONDS))
  took=$({ [ $left -gt 0 ] && time timeout --foreground $left "$made/fuzz" -test.run=NONE -test.fuzz="^$function\$" -test.fuzztime="${next}x" \
    -test.fuzzminimizetime=100x -test.parallel=1 -test.fuzzcachedir="$found" >"$made/said" 2>&1; } 2>&1) || {
    cat "$made/said"
    echo "FAIL: fuzz $name, of which $((used / 1000)) of $seconds s of CPU time are over, after $SECONDS s by the clock"
    exit 1
  }
  read -r user system <<<"$took"
  used=$((used + 10#${user/./} + 10#${system/./}))
  tried=$((tried + next))
  next=$((1 + tried * (seconds * 1000 - used) / (used + 1)))
done
echo "fuzz $name: $tried inputs in $((used / 1000)) s of CPU time, $SECONDS s by the clock"
