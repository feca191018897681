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

# fails WHY: ends it.
fails() {
  echo "FAIL: fuzz $name: $1 after $SECONDS s, with $((used / 1000)) s of CPU time used of $seconds in the rounds that ended"
  exit 1
}

TIMEFORMAT='%3U %3S'
tried=0 used=0 next=10000 # inputs, milliseconds, inputs
while [ "$used" -lt $((seconds * 1000)) ]; do
  left=$((seconds * clock_times - SECONDS)) status=0
  [ $left -gt 0 ] || fails "out of wall-clock time"
  { time timeout --foreground $left "$made/fuzz" -test.run=NONE -test.fuzz="^$function\$" -test.fuzztime="${next}x" \
    -test.fuzzminimizetime=100x -test.parallel=1 -test.fuzzcachedir="$found" >"$made/said" 2>&1; } 2>"$made/took" || status=$?
  [ $status != 124 ] || fails "out of wall-clock time" # It is what timeout ends with when the time is over.
  [ $status = 0 ] || { cat "$made/said"; fails "an input, or the fuzzer, failed"; }
  # The shell may have had more to say than the times.
  took=$(grep -Ex '[0-9]+\.[0-9]{3} [0-9]+\.[0-9]{3}' "$made/took") || fails "its CPU time is not known ($(cat "$made/took"))"
  read -r user system <<<"$took"
  used=$((used + 10#${user/./} + 10#${system/./}))
  tried=$((tried + next))
  next=$((1 + tried * (seconds * 1000 - used) / (used + 1)))
done
echo "fuzz $name: $tried inputs in $((used / 1000)) s of CPU time, $SECONDS s by the clock"
