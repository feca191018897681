#!/usr/bin/env bash
# Runs the tests of a level. Each package with tests belongs to one of three levels (hack/test.sh packages).
#
#   usage: hack/test.sh test            all of the product that needs no cluster, on a real API server, a real MinIO and real load generators
#          hack/test.sh test-workloads  the reference workloads, with sanitizers and fuzzers
#          hack/test.sh test-cluster    end-to-end tests on a real three-node cluster, which is started for them and taken down after (unless it was
#                                       there before), and tests with Flux' controllers and Argo CD's engine
#          hack/test.sh unit            the part of "test" that is pure code and golden files: no server, no root
#          hack/test.sh packages        prints of each package with tests: level, part, "race" if goroutines start there, and its name
#
# A failure stops nothing. The summary at the end names the commands that run again what failed.
set -euo pipefail
cd "$(dirname "$0")/.."
export LOADSTONE_CACHE=${LOADSTONE_CACHE:-$HOME/.cache/loadstone}
# What was compiled or checked once, in whatever clone, is not compiled again: no path of a clone is part of it.
GOFLAGS="$(go env GOFLAGS) -trimpath"
# By default the race detector sleeps for a second at the end of each process.
GORACE="atexit_sleep_ms=0 ${GORACE:-}"
export GOFLAGS GORACE

# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh
# shellcheck source-path=SCRIPTDIR source=stages.sh
. hack/stages.sh

# patience is how long the tests of a package may take: minutes on a quiet machine, and several times that on one that does much else. Each wait within
# them has a deadline of its own.
patience=60m
MODULE=loadstone.dev/loadstone

# The servers that tests start, which hack/cluster/build.sh makes, and what tests with Flux and Argo CD start besides those of the cluster.
SERVERS=(kube-apiserver kubectl etcd minio versitygw helm k6 vegeta)
SERVERS_OF_GITOPS=(source-controller kustomize-controller argocd-sync)
# TESTED_RELEASE is the version of the release that is built and installed.
TESTED_RELEASE=0.0.1

# --- which tests -----------------------------------------------------------------------------------------------------

# These take longest, so they begin first.
SLOW=(controllers test/docs internal/suite/history internal/ui/server controllers/suites test/validity internal/agent/generate internal/report
  internal/suite internal/agent/program internal/tool/k6 internal/analysis internal/local internal/store/artifact hack/workloads)

# concurrent names the packages in which goroutines are started, by their tests, too. The race detector has something to find there, and makes
# numbers five times slower. The tests of internal/cli lead whole runs, in processes of their own.
concurrent() {
  git grep -lE '^\s*go (func|[a-zA-Z_.]+\()|\.Go\(' -- '*.go' ':!internal/cli/*.go' ':!test/e2e' | xargs -n1 dirname | sort -u | sed "s,^,$MODULE/,"
}

# served names the packages whose tests run servers and other programs: those that have internal/testbed in them.
served() {
  go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | awk -v testbed="$MODULE/internal/testbed" '
    $1 ~ /\.test$/ { for (i = 2; i <= NF; i++) if ($i == testbed) { sub(/\.test$/, "", $1); print $1; next } }'
}

# packages prints of each package with tests its level, its part of it, "race" or "plain", and its name; the slow ones first.
packages() {
  local name place detector
  declare -A starts=() serves=()
  for name in $(concurrent); do starts[$name]=1; done
  for name in $(served); do serves[$name]=1; done
  go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "${SLOW[@]/#/./}" ./... | awk 'NF && !seen[$0]++' | while read -r name; do
    case $name in
      */test/e2e/installation) place='test-cluster installation' ;;
      */test/e2e) place='test-cluster end-to-end' ;;
      */test/gitops) place='test-cluster gitops' ;;
      "$MODULE"/workloads | "$MODULE"/workloads/*) place='test-workloads go' ;;
      */internal/cli) place='test runs' ;; # Longest of all, but most of it is waiting. What is measured beside others is disturbed, and no test depends on it.
      *) if [ -n "${serves[$name]:-}" ]; then place='test served'; else place='test pure'; fi ;;
    esac
    detector=plain
    [ -z "${starts[$name]:-}" ] || detector=race
    echo "$place $detector $name"
  done
}

# go_tests LEVEL PART DETECTOR [FLAG...]: runs the tests of these packages, of which PART and DETECTOR are regular expressions. make lint asks all that go
# vet would ask.
go_tests() {
  local list flags=(-vet=off -timeout "$patience") at_once cgo=0
  at_once=$(nproc)
  mapfile -t list < <(awk -v line="^$1 ($2) ($3) " '$0 ~ line { print $4 }' "$STAGES/packages")
  [ ${#list[@]} -gt 0 ] || { say "$1 has no packages of the part $2, $3"; return 1; }
  # Tests that start goroutines mostly wait: for servers, load generators and child processes.
  [ "$3" != race ] || flags+=(-race) at_once=$((2 * at_once))
  # The race detector needs cgo. The other tests use the packages that make build and make demo compile, without cgo.
  [[ " ${flags[*]} ${*:4} " != *" -race "* ]] || cgo=1
  # shellcheck disable=SC2031  # It is the stage's.
  CGO_ENABLED=$cgo "$STAGES/gotests" -again "$AGAIN" -- "${flags[@]}" -p "$at_once" "${@:4}" "${list[@]}"
}

# --- stages ----------------------------------------------------------------------------------------------------------

# prepare makes what runs the tests.
prepare() {
  packages >"$STAGES/packages"
  go build -o "$STAGES/gotests" ./hack/gotests
}

verify() {
  again make verify
  CGO_ENABLED=0 nice -n 5 hack/verify.sh
}

# axe_core leaves axe-core where tests find it: what keeps people from using a page is what it says. It is a script under MPL-2.0, which a package of
# PyPI carries as its authors publish it; no file of it is ours.
AXE_PACKAGE=axe-playwright-python==0.1.8
AXE_SHA256=84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc
have_axe_core() { echo "$AXE_SHA256  $BIN/axe.min.js" | sha256sum --check --status 2>/dev/null; }
axe_core() {
  local found
  have_axe_core && return
  from_pypi "$LOADSTONE_CACHE/axe" "$AXE_PACKAGE"
  found=$(find "$LOADSTONE_CACHE/axe" -name axe.min.js)
  echo "$AXE_SHA256  $found" | sha256sum --check --quiet || die "$AXE_PACKAGE has another axe-core than was looked at"
  mkdir -p "$BIN"
  cp "$found" "$BIN/axe.min.js"
  rm -rf "$LOADSTONE_CACHE/axe"
}

servers() {
  again hack/cluster/build.sh "$@"
  nice -n 10 hack/cluster/build.sh "$@"
  axe_core
}

test_product() {
  local part='pure|served'
  begin "servers" servers "${SERVERS[@]}"
  stage "programs" make -s build
  if [ -n "$(hack/cluster/build.sh plan "${SERVERS[@]}")" ]; then
    stage "Go tests that need no server" go_tests test pure plain
    stage "Go tests that need no server, with the race detector" go_tests test pure race
    part=served
  fi
  join "servers"
  begin "verify" verify # It needs helm.
  # Many wait most of the time: more at once than there are CPUs.
  begin "tests of runs on this machine" go_tests test runs plain
  begin "Go tests with the race detector" go_tests test "$part" race
  stage "Go tests" go_tests test "$part" plain
  join "Go tests with the race detector"
  join "tests of runs on this machine"
  join "verify"
}

# mutations gives each parser 10,000 changed inputs (internal/testbed/mutated). make test gives it 500.
mutations() {
  local list
  again "LOADSTONE_MUTATIONS=10000 go test -run '^Fuzz' ./internal/..."
  mapfile -t list < <(git grep -l '/internal/testbed/mutated"' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
  CGO_ENABLED=0 LOADSTONE_MUTATIONS=10000 nice -n 10 go test -vet=off -count=1 -timeout "$patience" -run '^Fuzz' "${list[@]}"
}

# Fuzzers run at the lowest priority there is, in what the other tests leave of the CPUs.
test_workloads() {
  stage "compilers" hack/workloads.sh need
  FUZZ_SECONDS=${FUZZ_SECONDS:-10} begin "fuzzers" chrt --idle 0 hack/workloads.sh test fuzz
  begin "parsers with 10,000 changed inputs" mutations
  begin "Go tests" go_tests test-workloads go 'race|plain' -race
  stage "workloads, with and without sanitizers" hack/workloads.sh test
  join "Go tests"
  join "parsers with 10,000 changed inputs"
  join "fuzzers"
}

cluster_builds() {
  hack/cluster/build.sh
  hack/cluster/build.sh versitygw "${SERVERS_OF_GITOPS[@]}"
}

# other_versions selects the oldest Kubernetes and the newest Argo that Loadstone is tested with.
other_versions() {
  # shellcheck disable=SC1091  # Only versions.
  . hack/cluster/versions.env
  export KUBERNETES_VERSION=$OLDEST_KUBERNETES_VERSION ARGO_VERSION=$NEWEST_ARGO_VERSION
}

# on_other_versions installs Loadstone on these, and measures a run there.
on_other_versions() {
  other_versions
  hack/cluster/down.sh
  hack/cluster/up.sh
  eval "$(hack/cluster/kubeconfig.sh)"
  hack/images.sh manager agent gohttp epoll
  hack/deploy.sh
  # On a busy machine nothing that was measured may count: that is a verdict, too.
  bin/loadstone run config/samples/quick.yaml --cluster || [[ $? == [34] ]]
}

# tested_release builds a release and starts its programs for arm64. If Debian has replaced a pinned package, it pins today's: commit the file.
tested_release() {
  again make release release-smoke VERSION=$TESTED_RELEASE
  if make -s release VERSION=$TESTED_RELEASE; then
    make -s release-smoke VERSION=$TESTED_RELEASE
    return
  fi
  say "The release could not be built. Once more, with today's versions of Debian's packages in hack/release/debian.tsv."
  go run ./hack/release pin
  make -s release release-smoke VERSION=$TESTED_RELEASE
}

test_cluster() {
  local own='' at="images and installation"
  stage "servers" cluster_builds
  hack/cluster/kubeconfig.sh >/dev/null 2>&1 || { own=yes && FINALLY=hack/cluster/down.sh; }
  begin "tests with Flux and Argo CD" go_tests test-cluster gitops race
  stage "cluster" hack/cluster/up.sh
  stage "workloads" make -s workloads
  if needs "$at" "cluster"; then
    eval "$(hack/cluster/kubeconfig.sh)"
    stage "$at" make -s images deploy
  fi
  join "tests with Flux and Argo CD"
  stage "release" tested_release
  ! needs "end-to-end tests" "$at" || stage "end-to-end tests" go_tests test-cluster end-to-end 'race|plain' -v -count=1 -timeout 120m
  # It uninstalls Loadstone, which on a cluster that was there before may hold somebody's runs.
  [ -n "$own" ] || return 0
  LOADSTONE_RELEASE=release/$TESTED_RELEASE
  export LOADSTONE_RELEASE
  ! needs "upgrade and uninstallation" "$at" || stage "upgrade and uninstallation" go_tests test-cluster installation 'race|plain' -v -count=1 -timeout 20m
  at="a run on the oldest Kubernetes and the newest Argo"
  ! needs "$at" "images and installation" || stage "$at" on_other_versions
}

# --- what will happen ------------------------------------------------------------------------------------------------

# plan LEVEL TIME: says what will be installed, downloaded and built. Only then anything is.
plan() {
  local list=(gcc:gcc /usr/include/stdio.h:libc6-dev make:make git:git curl:curl openssl:openssl taskset:util-linux) missing needs
  say "make $1 takes about $2 on two CPUs when everything is built. First it"
  case $1 in
    test)
      list+=(wrk:wrk ab:apache2-utils h2load:nghttp2-client shellcheck:shellcheck strace:strace chromium:chromium wget:wget)
      if ! have_axe_core; then
        mapfile -t needs < <(pypi_needs)
        list+=("${needs[@]}")
        say "  downloads from PyPI: $AXE_PACKAGE"
      fi
      hack/cluster/build.sh plan "${SERVERS[@]}" >&2
      ;;
    test-workloads) list+=(chrt:util-linux pkg-config:pkg-config) ;;
    test-cluster)
      hack/cluster/build.sh plan >&2
      hack/cluster/build.sh plan versitygw "${SERVERS_OF_GITOPS[@]}" >&2
      (other_versions && hack/cluster/build.sh plan >&2)
      docker info >/dev/null 2>&1 || list+=(buildah:buildah)
      list+=(mmdebstrap:mmdebstrap dpkg-deb:dpkg qemu-aarch64-static:qemu-user-static)
      ;;
  esac
  if [ "$1" != test ]; then
    mapfile -t needs < <(hack/workloads.sh needs)
    list+=("${needs[@]}")
  fi
  mapfile -t missing < <(missing_packages "${list[@]}" | sort -u)
  [ ${#missing[@]} = 0 ] || say "  installs from Debian: ${missing[*]}"
  say "  compiles what has changed in this repository."
  [ ! -t 2 ] || say "Press Ctrl-C to stop; what is built by then is kept."
  need_commands "${list[@]}"
}

# leads LEVEL TIME COMMAND: leads the tests of a level. Tests skip what they have no program for: here they shall have all.
leads() {
  trap summary EXIT
  [ "$1" != test-cluster ] || require_root
  plan "$1" "$2"
  export CI=true KUBEBUILDER_ASSETS=$BIN
  RUN_AGAIN="make $1"
  RUN_BEFORE="  once in your shell: export CI=true GOFLAGS=-trimpath PATH=$BIN:\$PATH KUBEBUILDER_ASSETS=$BIN"
  prepare
  "$3"
  completed=yes
}

case ${1:-} in
  test) leads test "a quarter of an hour" test_product ;;
  test-workloads) leads test-workloads "ten minutes" test_workloads ;;
  test-cluster) leads test-cluster "three quarters of an hour" test_cluster ;;
  unit)
    trap summary EXIT
    RUN_AGAIN="make unit"
    prepare
    stage "unit tests" go_tests test '.*' 'race|plain' -short
    completed=yes
    ;;
  packages) packages ;;
  *) die "usage: hack/test.sh test|test-workloads|test-cluster|unit|packages" ;;
esac
