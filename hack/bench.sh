#!/usr/bin/env bash
# Measures Loadstone itself, installed from this checkout on the cluster of hack/cluster, which is started if it is not up and
# stays up. Prints a line a figure: name, value, unit, aim, met or short, note. The whole takes about an hour and a quarter; it ends with what the
# targets bench-commits, bench-viewers and bench-suites of the Makefile measure, which arguments leave out.
# usage: hack/bench.sh [-only start,sweep,pairs,generators,memory,profiles,stored,dependency,chart,local,cases,program,rates,merging,verdicts,power,regression,duet] [-try]
set -euo pipefail
cd "$(dirname "$0")/.."

{
  hack/cluster/up.sh
  eval "$(hack/cluster/kubeconfig.sh)"
  make -s workloads images deploy
  # Built first, so that no compiler runs beside what is measured.
  go build -o bin/bench ./hack/bench
} >&2
[ $# -eq 0 ] || exec bin/bench "$@"
failed=0
bin/bench || failed=1
for target in bench-commits bench-viewers bench-suites; do
  make -s "$target" || { failed=1; echo "bench: $target has failed" >&2; }
done
exit "$failed"
