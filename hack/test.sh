#!/usr/bin/env bash
# All tests: checks without a cluster, tests in process and against a real API server, then the end-to-end tests on a real
# three-node cluster, which is started for them and taken down after (unless it was there before).
# usage: hack/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export LOADSTONE_CACHE=${LOADSTONE_CACHE:-$HOME/.cache/loadstone} CI=true

# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh
# Tests skip what they have no program for: here they shall have all.
need_commands gcc:gcc make:make wrk:wrk ab:apache2-utils shellcheck:shellcheck taskset:util-linux

began=$SECONDS
stage() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - began)); }

stage "servers of the cluster are built"
hack/cluster/build.sh
export PATH=$LOADSTONE_CACHE/bin:$PATH KUBEBUILDER_ASSETS=$LOADSTONE_CACHE/bin

stage "verify"
make -s verify

stage "tests without a cluster"
make -s build
mapfile -t packages < <(go list ./... | grep -v /test/e2e)
go test -race "${packages[@]}"

stage "workloads, with and without sanitizers"
hack/workloads.sh test

stage "cluster"
if ! hack/cluster/kubeconfig.sh >/dev/null 2>&1; then
  trap 'hack/cluster/down.sh' EXIT
fi
hack/cluster/up.sh
eval "$(hack/cluster/kubeconfig.sh)"
make -s workloads images deploy

stage "tests on the cluster"
go test -count=1 -timeout 70m -v ./test/e2e
stage "done"
