#!/usr/bin/env bash
# Builds the servers of the hack cluster from Go modules, into $LOADSTONE_CACHE/bin (~/.cache/loadstone/bin). The first
# build takes a quarter of an hour on two CPUs; after that only what changed is built: beside each binary lies a stamp
# that hashes its version, its recipe and its sources. (Not Go's version: that would cost a quarter of an hour for each
# patch release.) kube-apiserver, etcd and kubectl are downloaded where their archive can be reached.
#
#   usage: hack/cluster/build.sh [NAME...]      (no name: every one of a cluster, and what Debian has of a node)
#          hack/cluster/build.sh plan [NAME...] (says what that would install, download and build; nothing if all is there)
#
# LOADSTONE_ENVTEST_URL names a mirror of the archives: each lies there under envtest-vVERSION/.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=versions.env
. "$HACK_CLUSTER/versions.env"
KUBERNETES_VERSION=${OTHER_KUBERNETES:-$KUBERNETES_VERSION} ARGO_VERSION=${OTHER_ARGO:-$ARGO_VERSION}

STAMPS=$LOADSTONE_CACHE/stamps
SOURCES=$LOADSTONE_CACHE/src
BUILD_LOGS=$LOADSTONE_CACHE/build-logs

# Name, version, recipe, and about how many seconds it takes on two CPUs when those above it are built. The big ones come first, so that
# a failure shows early.
BINARIES=(
  "${KUBERNETES_FOLDER}kube-apiserver $KUBERNETES_VERSION kubernetes 240"
  "${KUBERNETES_FOLDER}kube-controller-manager $KUBERNETES_VERSION kubernetes 70"
  "${KUBERNETES_FOLDER}kube-scheduler $KUBERNETES_VERSION kubernetes 10"
  "${KUBERNETES_FOLDER}kubelet $KUBERNETES_VERSION kubernetes 30"
  "${KUBERNETES_FOLDER}kube-proxy $KUBERNETES_VERSION kubernetes 10"
  "${KUBERNETES_FOLDER}kubectl $KUBERNETES_VERSION kubernetes 30"
  "etcd $ETCD_VERSION etcd 25"
  "coredns $COREDNS_VERSION coredns 90"
  "${ARGO_FOLDER}argoexec $ARGO_VERSION argo 150"
  "${ARGO_FOLDER}workflow-controller $ARGO_VERSION argo 40"
  "minio $MINIO_VERSION minio 150"
  "helm $HELM_VERSION helm 60"
  "k6 $K6_VERSION k6 120"
  "vegeta $VEGETA_VERSION vegeta 10"
  "pause $PAUSE_VERSION pause 2"
)

# What no cluster of ours runs, and tests start by themselves: built when it is named.
OF_TESTS=(
  "versitygw $VERSITYGW_VERSION versitygw 70"
  "source-controller $FLUX_VERSION flux 180"
  "kustomize-controller $FLUX_VERSION flux 120"
  "argocd-sync $GITOPS_ENGINE_VERSION argocd 80"
)

# --- recipes: each leaves the binary at the path that is its third argument ------------------------------------------

# Kubernetes' go.mod points its staging modules at folders that are not in the module's zip; each of them is also a
# module of its own, at v0.MINOR.PATCH.
kubernetes() { # NAME VERSION OUTPUT
  local module minor=${2#1.} v=k8s.io/component-base/version
  enter_module kubernetes
  module=$(module_dir "k8s.io/kubernetes@v$2")
  {
    printf 'module loadstone.dev/hack/kubernetes\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v%s\n\n' "$2"
    sed -nE "s,^\s+(k8s.io/\S+) => ./staging/.*,replace \1 => \1 v0.$minor,p" "$module/go.mod"
  } >go.mod
  go_build "$3" "k8s.io/kubernetes/cmd/${1##*/}" "-X $v.gitVersion=v$2 -X $v.gitMajor=1 -X $v.gitMinor=${minor%%.*}"
}

# etcd: its own main has no importable package of the server alone, so src/etcd has one.
etcd() {
  enter_module etcd
  go mod edit -require="go.etcd.io/etcd/server/v3@v$2"
  go_build "$3" .
}

# CoreDNS with six plugins instead of fifty.
coredns() {
  enter_module coredns
  go mod edit -require="github.com/coredns/coredns@v$2"
  go_build "$3" .
}

# Argo Workflows: the module's zip has no signal_linux.go. Darwin's is plain POSIX and does the same. Go refuses an
# overlay inside its module cache, so a copy gets the file.
argo() {
  local module osspecific path=github.com/argoproj/argo-workflows/v${2%%.*} copy=argo-workflows-$2
  enter_module argo
  module=$(module_dir "$path@v$2")
  if [ ! -d "$copy" ]; then
    rm -rf "$copy.new"
    cp -r "$module" "$copy.new"
    chmod -R u+w "$copy.new"
    osspecific=$copy.new/workflow/executor/osspecific
    [ -f "$osspecific/signal_linux.go" ] || cp "$osspecific/signal_darwin.go" "$osspecific/signal_linux.go"
    mv "$copy.new" "$copy"
  fi
  printf 'module loadstone.dev/hack/argo\n\ngo 1.24.0\n' >go.mod
  go mod edit -require="$path@v$2" -replace="$path=./$copy"
  go_build "$3" "$path/cmd/${1##*/}" "-X $path.version=v$2"
}

minio() { go_install "$3" github.com/minio/minio "v$2"; }
versitygw() { go_install "$3" github.com/versity/versitygw/cmd/versitygw "v$2"; }
helm() { go_install "$3" helm.sh/helm/v3/cmd/helm "v$2"; }

# k6 and vegeta are load generators and no servers: they lie here because they are built like them, and go into the agent's image as they are.
k6() { go_install "$3" go.k6.io/k6 "v$2"; }

# vegeta says its version only if it was told.
vegeta() {
  enter_module vegeta
  printf 'module loadstone.dev/hack/vegeta\n\ngo 1.24.0\n' >go.mod
  go mod edit -require="github.com/tsenart/vegeta/v12@v$2"
  go_build "$3" github.com/tsenart/vegeta/v12 "-X main.Version=$2"
}

# Flux' controllers. The checksum database does not have all that source-controller requires: the sums of that lie in src/flux/go.sum.
flux() {
  enter_module flux
  go mod edit -require="github.com/fluxcd/$1@v$2"
  GONOSUMDB=github.com/google/go-containerregistry,github.com/fluxcd/pkg go_build "$3" "github.com/fluxcd/$1"
}

# The engine of Argo CD, with a main of ours. (Sharing with the recipe of Kubernetes what is said of its module would change the stamps of the servers,
# and build all of them anew.)
argocd() {
  local module minor=${GITOPS_ENGINE_KUBERNETES_VERSION#1.}
  enter_module argocd
  module=$(module_dir "k8s.io/kubernetes@v$GITOPS_ENGINE_KUBERNETES_VERSION")
  sed -nE "s,^\s+(k8s.io/\S+) => ./staging/.*,replace \1 => \1 v0.$minor,p" "$module/go.mod" >>go.mod
  go mod edit -require="k8s.io/kubernetes@v$GITOPS_ENGINE_KUBERNETES_VERSION" -require="github.com/argoproj/gitops-engine@v$2"
  go_build "$3" .
}

pause() {
  enter_module pause
  go_build "$3" .
}

# --- helpers of the recipes ------------------------------------------------------------------------------------------

# enter_module NAME: goes to a folder for that module outside git, with a fresh copy of our sources if it has any.
enter_module() {
  mkdir -p "$SOURCES/$1"
  cd "$SOURCES/$1"
  [ ! -d "$HACK_CLUSTER/src/$1" ] || cp "$HACK_CLUSTER/src/$1/"* .
}

# module_dir MODULE@VERSION: downloads it and prints the folder it lies in.
module_dir() {
  local dir
  dir=$(go mod download -json "$1" | sed -nE 's/^\s*"Dir": "(.*)",?$/\1/p')
  [ -d "$dir" ] || { say "go mod download $1: no folder"; return 1; }
  echo "$dir"
}

go_build() { go build -mod=mod -trimpath -ldflags "-s -w ${3:-}" -o "$1" "$2"; }

go_install() { # OUTPUT PACKAGE VERSION
  local dir=$SOURCES/install
  rm -rf "$dir" && mkdir -p "$dir"
  GOBIN=$dir go install -trimpath -ldflags "-s -w" "$2@$3"
  mv "$dir/$(basename "$2")" "$1"
}

# --- what to build ---------------------------------------------------------------------------------------------------

# stamp_of NAME VERSION RECIPE: what the binary depends on, as text. No hash: a difference can then be read.
stamp_of() {
  printf '%s\n' "$1 $2"
  declare -f "$3" go_build go_install
  [ ! -d "$HACK_CLUSTER/src/$3" ] || cat "$HACK_CLUSTER/src/$3/"*
}

up_to_date() { [ -x "$BIN/$1" ] && [ "$(stamp_of "$@")" = "$(cat "$STAMPS/$1" 2>/dev/null)" ]; }

# left SECONDS: about how long builds of so many seconds take at the pace of those that are done.
left() {
  local seconds=$1
  [ "$done_seconds" -eq 0 ] || seconds=$(( seconds * SECONDS / done_seconds ))
  about "$seconds"
}

about() { if [ "$1" -lt 90 ]; then echo "$1 s"; else echo "$(( ($1 + 59) / 60 )) min"; fi; }

build() { # INDEX TOTAL NAME VERSION RECIPE
  local index=$1 total=$2 name=$3 version=$4 recipe=$5 begin log=$BUILD_LOGS/$3.log
  begin=$(now_ms)
  printf '[%d of %d, about %s left in all] %s %s ... ' "$index" "$total" "$(left $(( all_seconds - done_seconds )))" "$name" "$version" >&2
  # Not "if ! ( ... )": bash ignores errexit in there, and a recipe would go on after a failed line.
  set +e
  ( set -e; "$recipe" "$name" "$version" "$BIN/$name.new" ) >"$log" 2>&1 9>&-
  local status=$?
  set -e
  if [ $status != 0 ]; then
    say "failed. Last lines of $log:"
    tail -n 15 "$log" >&2
    exit 1
  fi
  mv "$BIN/$name.new" "$BIN/$name"
  stamp_of "$name" "$version" "$recipe" >"$STAMPS/$name.new"
  mv "$STAMPS/$name.new" "$STAMPS/$name"
  say "$(( ($(now_ms) - begin) / 1000 )) s"
}

# pause_image: packs the pause binary as the image archive that containerd takes for every pod's sandbox. By hand,
# because a cluster shall come up without any image builder.
pause_image() {
  local dir layer config
  [ ! "$ARCHIVES/pause.tar" -nt "$BIN/pause" ] || return 0
  mkdir -p "$ARCHIVES"
  dir=$(mktemp -d "$ARCHIVES/pause.XXXXXX")
  tar -C "$BIN" --owner=0 --group=0 --mtime=@0 -cf "$dir/layer.tar" pause
  layer=$(sha256sum "$dir/layer.tar" | cut -d' ' -f1)
  printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/pause"],"User":"65535:65535"},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(go env GOARCH)" "$layer" >"$dir/config"
  config=$(sha256sum "$dir/config" | cut -d' ' -f1).json
  mv "$dir/config" "$dir/$config"
  printf '[{"Config":"%s","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$config" "$PAUSE_IMAGE" >"$dir/manifest.json"
  tar -C "$dir" -cf "$dir.new" manifest.json "$config" layer.tar
  mv "$dir.new" "$ARCHIVES/pause.tar"
  rm -rf "$dir"
}

# --- what can be downloaded ------------------------------------------------------------------------------------------

ENVTEST_URL=${LOADSTONE_ENVTEST_URL:-https://github.com/kubernetes-sigs/controller-tools/releases/download}
# What an archive of envtest has.
ENVTEST=(kube-apiserver etcd kubectl)

# published: prints the checksum and the name of the archive of this Kubernetes and this machine; nothing if none is known.
published() {
  local minor=${KUBERNETES_VERSION%.*}
  grep -E "^[0-9a-f]{128}  envtest-v${minor//./\\.}\.[0-9]+-linux-$(go env GOARCH)\.tar\.gz$" "$HACK_CLUSTER/envtest.sha512" | tail -n 1
}

downloaded() { [ -x "$BIN/$1" ] && [ -n "$2" ] && [ "$2" = "$(cat "$STAMPS/$1" 2>/dev/null)" ]; }

# download: gets those of the programs that are to be made. What was downloaded has the archive's line of checksums as its stamp.
download() {
  local sum archive version name names=()
  for name in "${ENVTEST[@]}"; do
    is_stale "$name" && names+=("$name")
  done
  read -r sum archive <<<"$published"
  if [ ${#names[@]} = 0 ] || [ -z "$sum" ]; then return; fi
  version=${archive#envtest-}
  version=${version%%-*}
  say "Downloading ${names[*]} $version."
  # go run adds a line with the exit status to what the program says.
  if ! go run -C "$HACK_CLUSTER/../.." ./hack/download "$ENVTEST_URL/envtest-$version/$archive" "$sum" "$BIN" "${names[@]}" 2>&1 |
    sed '/^exit status [0-9]*$/d' >&2; then
    say "The download failed, for the reason above: building from source instead: ${names[*]}."
    return
  fi
  for name in "${names[@]}"; do
    echo "$published" >"$STAMPS/$name"
    drop "$name"
  done
}

is_stale() { [[ " ${stale[*]%% *} " == *" $1 "* ]]; }

# drop NAME: takes a program off the list of what is to be made.
drop() {
  local entry rest=()
  for entry in "${stale[@]}"; do
    [ "${entry%% *}" = "$1" ] || rest+=("$entry")
  done
  stale=("${rest[@]}")
}

# --- what to do ------------------------------------------------------------------------------------------------------

# What a node has from Debian.
OF_NODES=(containerd:containerd runc:runc /usr/lib/cni/bridge:containernetworking-plugins nft:nftables ip:iproute2 sysctl:procps openssl:openssl)

# plan: says what is to be made, and how long that takes on two CPUs.
plan() {
  local entry seconds=0 saved=0 gotten=() built=()
  for entry in "${stale[@]}"; do
    if [ -n "$published" ] && [[ " ${ENVTEST[*]} " == *" ${entry%% *} "* ]]; then
      gotten+=("${entry%% *}")
      saved=$((saved + ${entry##* }))
    else
      built+=("${entry%% *}")
      seconds=$((seconds + ${entry##* }))
    fi
  done
  [ ${#gotten[@]} = 0 ] || echo "  downloads: ${gotten[*]} (${published##* }; builds them in about $(about $saved) if it cannot be reached)"
  [ ${#built[@]} = 0 ] || echo "  builds from source: ${built[*]} (about $(about $seconds) on two CPUs)"
}

build_all() {
  local entry index=0 all_seconds=0 done_seconds=0
  # GOFLAGS: a user's own -mod would break the recipes. Nothing is compiled for a debugger, since the binaries are stripped: that saves a tenth. No
  # cgo: the images have no C library.
  export CGO_ENABLED=0 GOFLAGS=-gcflags=all=-dwarf=false GOWORK=off
  for entry in "${stale[@]}"; do all_seconds=$(( all_seconds + ${entry##* } )); done
  SECONDS=0
  for entry in "${stale[@]}"; do
    # shellcheck disable=SC2086  # Three words, and its seconds.
    build $((++index)) ${#stale[@]} ${entry% *}
    done_seconds=$(( done_seconds + ${entry##* } ))
  done
}

# wanted NAME NAMES...: reports whether a binary is one of these, or whether there are none and all are wanted.
wanted() { [ $# = 1 ] || [[ " ${*:2} " == *" $1 "* ]]; }

main() {
  local entry mode=build stale=() published
  [ "${1:-}" != plan ] || { mode=plan && shift; }
  [ $# = 0 ] || BINARIES+=("${OF_TESTS[@]}")
  for entry; do
    [[ " ${BINARIES[*]%% *} " == *" $entry "* ]] || die "$entry is not built here, but ${BINARIES[*]%% *}"
  done
  command -v go >/dev/null || die "please install Go (the version that the root go.mod names, or newer)"
  [ "$mode" = plan ] || { mkdir -p {"$BIN","$STAMPS","$BUILD_LOGS"}/{"$KUBERNETES_FOLDER","$ARGO_FOLDER"} "$SOURCES" && lock build; }
  published=$(published) || true # There may be none.
  for entry in "${BINARIES[@]}"; do
    wanted "${entry%% *}" "$@" || continue
    # shellcheck disable=SC2086  # Three words, and its seconds.
    up_to_date ${entry% *} || downloaded "${entry%% *}" "$published" || stale+=("$entry")
  done
  if [ "$mode" = plan ]; then
    [ $# != 0 ] || missing_packages "${OF_NODES[@]}" | sort -u | sed 's/^/  installs from Debian: /'
    plan
    return
  fi
  [ $# != 0 ] || need_commands "${OF_NODES[@]}"
  download
  build_all
  ! wanted pause "$@" || pause_image
}

main "$@"
