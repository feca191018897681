#!/usr/bin/env bash
# Tests, by what they need and how long they take.
#
#   usage: hack/test.sh unit      pure code and golden files: no server, no root
#          hack/test.sh local     everything that needs no cluster, on a real API server, a real MinIO and the real load generators
#          hack/test.sh cluster   end-to-end tests on a real three-node cluster, started for them and taken down after
#                                 (unless it was there before)
set -euo pipefail
cd "$(dirname "$0")/.."
export LOADSTONE_CACHE=${LOADSTONE_CACHE:-$HOME/.cache/loadstone}
# What was compiled or checked once, in whatever clone, is not compiled again: no path of a clone is part of it.
GOFLAGS="$(go env GOFLAGS) -trimpath"
export GOFLAGS

# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

took=()
# stage NAME COMMAND...: runs a stage and keeps how long it took.
stage() {
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  took+=("$(printf '%6d s  %s' $((SECONDS - began)) "$name")")
}
# beside are the process groups of what runs beside other commands, and said the files of what that has printed, both by name.
declare -A beside=() said=()
# gone GROUP: waits until nothing is left of a process group that was told to end, and kills what is left after ten seconds.
gone() {
  for _ in {1..100}; do
    kill -0 -- "-$1" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}
# ended: leaves nothing of what still runs beside, prints what that had said, and how long the stages took.
ended() {
  local name
  for name in "${!beside[@]}"; do
    kill -- "-${beside[$name]}" 2>/dev/null || true
  done
  for name in "${!beside[@]}"; do
    gone "${beside[$name]}"
    printf '\n== %s: this had not ended; it had said:\n' "$name"
    cat "${said[$name]}"
    rm -f "${said[$name]}"
  done
  printf '\n'
  [ ${#took[@]} -eq 0 ] || printf '%s\n' "${took[@]}"
}

# begin NAME COMMAND...: runs a command beside what follows, in a process group of its own, so that nothing is left of it.
begin() {
  local name=$1
  shift
  said[$name]=$(mktemp)
  set -m
  "$@" >"${said[$name]}" 2>&1 </dev/null &
  set +m
  beside[$name]=$!
}
# join NAME: waits for what was begun, prints what it has said, and ends as it has.
join() {
  local status=0
  wait "${beside[$1]}" || status=$?
  unset "beside[$1]"
  cat "${said[$1]}"
  rm -f "${said[$1]}"
  return $status
}

# patience is how long the tests of a package may take: minutes on a quiet machine, and several times that on one that does much else. Each wait within
# them has a deadline of its own.
patience=60m

packages() { go list ./... | grep -v /test/e2e; }

unit() {
  local list
  mapfile -t list < <(packages | grep -v '^loadstone.dev/loadstone/workloads')
  go test -short "${list[@]}"
}

# concurrent names the packages in which goroutines are started, by their tests, too. The race detector has something to find there, and makes
# numbers five times slower. The tests of internal/cli lead whole runs, in processes of their own.
concurrent() {
  git grep -lE '^\s*go (func|[a-zA-Z_.]+\()|\.Go\(' -- '*.go' ':!internal/cli' ':!test/e2e' | xargs -n1 dirname | sed 's,^,./,' | sort -u
}

go_tests() {
  local races rest
  make -s build
  mapfile -t races < <(concurrent | xargs go list)
  mapfile -t rest < <(packages | grep -v /internal/cli | grep -vxF "$(printf '%s\n' "${races[@]}")")
  # Many wait most of the time: twice as many at once as there are CPUs, half of them with the race detector. make lint asks all that go vet
  # would ask.
  begin races go test -vet=off -timeout "$patience" -p "$(nproc)" -race "${races[@]}"
  go test -vet=off -timeout "$patience" -p "$(nproc)" "${rest[@]}"
  join races
}

# run_tests lead whole runs: beside others, all that they measure is disturbed.
run_tests() { go test -vet=off -timeout "$patience" ./internal/cli; }

# axe_core leaves axe-core where tests find it: what keeps people from using a page is what it says. It is a script under MPL-2.0, which a package of
# PyPI carries as its authors publish it; no file of it is ours.
AXE_PACKAGE=axe-playwright-python==0.1.8
AXE_SHA256=84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc
axe_core() {
  local file=$BIN/axe.min.js found
  echo "$AXE_SHA256  $file" | sha256sum --check --status 2>/dev/null && return
  from_pypi "$LOADSTONE_CACHE/axe" "$AXE_PACKAGE"
  found=$(find "$LOADSTONE_CACHE/axe" -name axe.min.js)
  echo "$AXE_SHA256  $found" | sha256sum --check --quiet || die "$AXE_PACKAGE has another axe-core than was looked at"
  mkdir -p "$BIN"
  cp "$found" "$file"
  rm -rf "$LOADSTONE_CACHE/axe"
}

# builds makes the servers that tests need, and checks what needs none. What is tested meanwhile comes first.
builds() {
  nice -n 10 hack/cluster/build.sh kube-apiserver kubectl etcd minio helm k6 vegeta source-controller kustomize-controller argocd-sync
  nice -n 10 make -s verify
}

# Fuzzers begin at the lowest priority there is. Most tests wait most of the time, and what they leave of the CPUs is for fuzzers, each of which goes on
# until it has had a minute of CPU time.
builds_and_workloads() {
  hack/workloads.sh need # At once, two would install from Debian.
  begin fuzzers chrt --idle 0 hack/workloads.sh test fuzz
  begin workloads hack/workloads.sh test
  builds
  join workloads
  axe_core # Not beside the workloads, which may install from Debian, too.
}

local_tests() {
  # Tests skip what they have no program for: here they shall have all.
  export CI=true
  need_commands gcc:gcc /usr/include/stdio.h:libc6-dev make:make wrk:wrk ab:apache2-utils h2load:nghttp2-client shellcheck:shellcheck taskset:util-linux chrt:util-linux strace:strace \
    pkg-config:pkg-config chromium:chromium /usr/include/uv.h:libuv1-dev /usr/include/xxhash.h:libxxhash-dev /usr/include/liburing.h:liburing-dev
  export PATH=$LOADSTONE_CACHE/bin:$PATH KUBEBUILDER_ASSETS=$LOADSTONE_CACHE/bin
  stage "servers are built, all is verified, and beside it workloads are tested, with and without sanitizers, and fuzzers begin" builds_and_workloads
  stage "Go tests, with the race detector where goroutines start" go_tests
  stage "what is left of a minute of CPU time for each fuzzer" join fuzzers
  stage "tests of runs on this machine, alone" run_tests
}

cluster_up() {
  hack/cluster/up.sh
  eval "$(hack/cluster/kubeconfig.sh)"
}

# cluster_builds makes what a cluster runs, and what tests start beside it.
cluster_builds() {
  hack/cluster/build.sh
  hack/cluster/build.sh source-controller kustomize-controller
}

# oldest installs Loadstone on the oldest Kubernetes that it is tested with, and measures a run there.
oldest() {
  # shellcheck disable=SC1091  # Only versions.
  . hack/cluster/versions.env
  export KUBERNETES_VERSION=$OLDEST_KUBERNETES_VERSION
  hack/cluster/down.sh
  cluster_up
  hack/images.sh manager agent gohttp epoll
  hack/deploy.sh
  # On a busy machine nothing that was measured may count: that is a verdict, too.
  bin/loadstone run config/samples/quick.yaml --cluster || [[ $? == [34] ]]
}

cluster_tests() {
  export CI=true
  stage "servers are built" cluster_builds
  local own=''
  hack/cluster/kubeconfig.sh >/dev/null 2>&1 || { own=yes && trap 'hack/cluster/down.sh; ended' EXIT; }
  stage "cluster" cluster_up
  stage "workloads" make -s workloads
  stage "images and installation" make -s images deploy
  stage "end-to-end tests" go test -count=1 -timeout 120m -v ./test/e2e
  # It uninstalls Loadstone, which on a cluster that was there before may hold somebody's runs.
  [ -n "$own" ] || return 0
  stage "upgrade and uninstallation" go test -count=1 -timeout 20m -v ./test/e2e/installation
  stage "a run on the oldest Kubernetes" oldest
}

trap ended EXIT
case ${1:-} in
  unit) stage "unit tests" unit ;;
  local) local_tests ;;
  cluster) cluster_tests ;;
  *) die "usage: hack/test.sh unit|local|cluster" ;;
esac
