#!/usr/bin/env bash
# A comparison on this machine, without a cluster, from nothing to a verdict and a report: config/samples/demo.yaml by "loadstone run", with its flags.
# usage: hack/demo.sh [FLAG...]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

# The status of loadstone run that says that there is no verdict.
inconclusive=4

[ "$(nproc --all)" -ge 2 ] || die "a server and its load generator need a CPU each, and this machine has one: with spec.placement.pinning: Preferred in a file of your own, bin/loadstone run lets them share it, and marks what it measures"
command -v go >/dev/null || die "please install Go (the version that go.mod names, or newer)"
need_commands wrk:wrk
if [ ! -x bin/loadstone ]; then say "Building loadstone and two servers: a minute or two the first time."; fi
mkdir -p bin
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/ ./cmd/loadstone ./workloads/gohttp ./workloads/gnet
say "Two servers under the load of wrk, seven blocks, three quarters of a minute."
status=0
bin/loadstone run config/samples/demo.yaml "$@" || status=$?
if [ $status = $inconclusive ]; then
  say "There is no verdict: the report says why. If other programs have disturbed the run, try again when this machine has less to do."
fi
exit $status
