#!/usr/bin/env bash
# Measures Loadstone itself, installed from this checkout on the cluster of hack/cluster, which is started if it is not up and
# stays up, and logs a line for each figure: name, value, unit, aim, met or short, note. The whole takes about an hour and a quarter; it ends with what
# other targets of the Makefile measure, which arguments leave out.
# usage: hack/bench.sh [BENCHMARK [-test.short]]   those of test/bench whose names match, such as ClusterStart
set -euo pipefail
cd "$(dirname "$0")/.."

{
  hack/cluster/up.sh
  eval "$(hack/cluster/kubeconfig.sh)"
  make -s build workloads images deploy
  # Built first, so that no compiler runs beside what is measured.
  go test -c -o bin/bench ./test/bench
} >&2
measure() { (cd test/bench && ../../bin/bench -test.run '^$' -test.benchtime 1x -test.timeout 3h -test.bench "$@"); }
if [ $# -gt 0 ]; then
  measure "$@"
  exit
fi
failed=0
measure . || failed=1
for target in bench-stats bench-commits bench-viewers bench-suites; do
  make -s "$target" || { failed=1; echo "bench: $target has failed" >&2; }
done
exit "$failed"
