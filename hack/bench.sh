#!/usr/bin/env bash
# Measures Loadstone itself, installed from this checkout on the cluster of hack/cluster, which is started if it is not up and
# stays up. Prints a line a figure: name, value, unit, aim, met or short, note. The whole takes about 40 minutes.
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
exec bin/bench "$@"
