#!/usr/bin/env bash
# Builds the images of images/*.Dockerfile as archives, with docker or else with buildah, and loads them into the nodes
# of hack/cluster that run them. What has not changed is neither built nor loaded again.
#
#   usage: hack/images.sh [--build-only|--load-only] [NAME...]      (no name: every image)
#
# Binaries come from bin/ in the root of the repository ("make build workloads"; what was not built is skipped), those of the
# embedded servers from the cache that hack/cluster/build.sh fills. REGISTRY (localhost/loadstone) and TAG (dev) make the images' names.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. "$(dirname "$0")/cluster/lib.sh"

ROOT=$(cd "$(dirname "$0")/.." && pwd)
BASE_IMAGE=localhost/loadstone/base:bookworm

# Name, the nodes that run it, and its binaries, separated by commas. CoreDNS comes first, because a starting cluster waits for it.
IMAGES=(
  "coredns             infra          $BIN/coredns"
  "manager             infra          $ROOT/bin/manager"
  "agent               server,loadgen $ROOT/bin/loadstone-agent,$BIN/k6,$BIN/vegeta"
  "toolbox             server         $ROOT/bin/loadstone-agent,$ROOT/hack/profile/toolbox.sh,$ROOT/hack/profile/launcher.c"
  "gohttp              server,infra   $ROOT/bin/gohttp"
  "epoll               server         $ROOT/bin/epoll"
  "faulty              server         $ROOT/bin/faulty"
  "gnet                server         $ROOT/bin/gnet"
  "zco                 server         $ROOT/bin/zco"
  "uvhttp              server         $ROOT/bin/uvhttp"
  "nginx               server         $ROOT/bin/nginx/nginx.conf,$ROOT/bin/nginx/files.sh"
  "webdis              server         $ROOT/config/samples/webdis.json"
  "redis               server         $ROOT/images/redis.conf"
  "ipc                 server         $ROOT/bin/ipc-bench,$ROOT/bin/ipc-c-bench,$ROOT/bin/ipc.test"
  "coro                server         $ROOT/bin/coro-bench,$ROOT/bin/coro"
  "lzlog               server         $ROOT/bin/lzlog,$ROOT/bin/lzlog-bench"
  "planted             server         $(printf "$ROOT/bin/planted-%s," clean leak uninit slow syscall arena)"
  "planted-debian      server         $(printf "$ROOT/bin/planted-%s," clean uninit syscall)"
  "ablation            server         $(printf "$ROOT/bin/ablation-%s," o0 o1 o2 o3 coverage address undefined)"
  "workflow-controller infra          $BIN/${ARGO_FOLDER}workflow-controller"
  "argoexec            infra          $BIN/${ARGO_FOLDER}argoexec"
  "minio               infra          $BIN/minio"
  "versitygw           infra          $BIN/versitygw"
)

dockerfile() { echo "$ROOT/images/$1.Dockerfile"; }
uses_base() { grep -q '^ARG BASE=' "$(dockerfile "$1")"; }

# --- engines: each builds image NAME from the folder CONTEXT as ARCHIVE ----------------------------------------------

engine() { if docker info >/dev/null 2>&1; then echo docker; else echo buildah; fi; }

build_with_docker() { # NAME CONTEXT ARCHIVE
  docker build --quiet --file "$(dockerfile "$1")" --tag "$(image_name "$1")" "$2"
  docker save --output "$3" "$(image_name "$1")"
}

# Images on a base keep their layers in buildah's storage, so that packages are installed once and not for each new
# binary. The others are one file on nothing: for them storage would only be a detour.
build_with_buildah() { # NAME CONTEXT ARCHIVE
  local layers=()
  if uses_base "$1"; then
    base_up
    layers=(--layers --build-arg "BASE=$BASE_IMAGE")
    # Every build leaves its layers behind. Clearing them costs the next build the installing of packages: seldom, then.
    [ "$(our_buildah images --all --quiet | wc -l)" -lt 60 ] || our_buildah rmi --prune
  fi
  our_buildah build --quiet --isolation chroot --format docker --pull-never "${layers[@]}" \
    --file "$(dockerfile "$1")" --tag "docker-archive:$3:$(image_name "$1")" "$2"
}

# our_buildah: with storage of its own. Isolation "chroot" needs no daemon, no cgroup and no network of its own.
our_buildah() { buildah --root "$LOADSTONE_CACHE/buildah" --runroot "$LOADSTONE_CACHE/buildah-run" --storage-driver overlay "$@"; }

# base_up: what debian:bookworm-slim is elsewhere, made from Debian's own packages.
base_up() {
  local dir=$LOADSTONE_CACHE/base
  ! our_buildah inspect --type image "$BASE_IMAGE" >/dev/null 2>&1 || return 0
  need_commands mmdebstrap:mmdebstrap
  say "Making a base image with mmdebstrap (half a minute, once)."
  mkdir -p "$dir"
  mmdebstrap --quiet --variant=minbase bookworm "$dir/rootfs.tar"
  printf 'FROM scratch\nADD rootfs.tar /\n' | our_buildah build --quiet --tag "$BASE_IMAGE" --file - "$dir"
  rm -rf "$dir"
}

# --- building --------------------------------------------------------------------------------------------------------

# key_of NAME BINARY...: what the archive depends on.
key_of() { cat "$(dockerfile "$1")" - <<<"$ENGINE $(image_name "$1") $(content_hash "${@:2}")" | sha256sum | cut -d' ' -f1; }

# openssl, because it is four times as fast as sha256sum, and these are a hundred megabytes each.
content_hash() { openssl dgst -sha256 -r "$@" | cut -d' ' -f1; }

build() { # NAME BINARY...
  local name=$1 archive=$ARCHIVES/$1.tar key begin context
  shift
  key=$(key_of "$name" "$@")
  if [ -f "$archive" ] && [ "$(cat "$ARCHIVES/$name.key" 2>/dev/null)" = "$key" ]; then return; fi
  begin=$(now_ms)
  # A context of its own holds just what the Dockerfile copies.
  context=$LOADSTONE_CACHE/contexts/$name
  rm -rf "$context" && mkdir -p "$context/bin" "$context/rootfs"
  mkdir -m 1777 "$context/rootfs/tmp"
  cp --reflink=auto "$@" "$context/bin/"
  rm -f "$archive.new" "$ARCHIVES/$name.key"
  "build_with_$ENGINE" "$name" "$context" "$archive.new" >"$ARCHIVES/$name.log" 2>&1 9>&- || {
    say "$name: $ENGINE failed. Last lines of $ARCHIVES/$name.log:"
    tail -n 15 "$ARCHIVES/$name.log" >&2
    exit 1
  }
  mv "$archive.new" "$archive"
  echo "$key" >"$ARCHIVES/$name.key"
  rm -rf "$context"
  say "$name: built in $(( $(now_ms) - begin )) ms"
}

# --- loading ---------------------------------------------------------------------------------------------------------

# load NODE NAME...: those of the images that NODE runs and does not have yet, if NODE is up at all.
load() {
  local node=$1 entry name nodes record key begin; shift
  alive "containerd-$node" || return 0
  mkdir -p "$CLUSTER/nodes/$node/images"
  for entry in "${IMAGES[@]}"; do
    read -r name nodes _ <<<"$entry"
    if ! wanted "$name" "$@" || [[ ",$nodes," != *",$node,"* ]] || [ ! -f "$ARCHIVES/$name.key" ]; then continue; fi
    record=$CLUSTER/nodes/$node/images/$name key=$(<"$ARCHIVES/$name.key")
    [ "$(cat "$record" 2>/dev/null)" != "$key" ] || continue
    begin=$(now_ms)
    node_ctr "$node" images import "$ARCHIVES/$name.tar" >/dev/null
    echo "$key" >"$record"
    say "$name: loaded into $node in $(( $(now_ms) - begin )) ms"
  done
}

# load_all NAME...: all nodes at the same time.
load_all() {
  local node job jobs=()
  for node in "${NODES[@]}"; do
    load "$node" "$@" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || die "images could not be loaded"; done
}

wanted() { # NAME WANTED...
  local name=$1 one; shift
  [ $# -gt 0 ] || return 0
  for one; do [ "$one" != "$name" ] || return 0; done
  return 1
}

build_all() { # NAME...
  local entry name list binary binaries
  ENGINE=$(engine)
  [ "$ENGINE" = docker ] || { require_root; need_commands buildah:buildah; }
  for entry in "${IMAGES[@]}"; do
    read -r name _ list <<<"$entry"
    wanted "$name" "$@" || continue
    IFS=, read -ra binaries <<<"$list"
    for binary in "${binaries[@]}"; do
      # No "build ... || continue": bash ignores errexit in a function that is part of a condition.
      [ -f "$binary" ] || { say "$name: skipped, there is no ${binary#"$ROOT/"} (make build workloads)"; continue 2; }
    done
    build "$name" "${binaries[@]}"
  done
}

main() {
  local mode=both name
  case ${1:-} in --build-only | --load-only) mode=${1#--}; shift ;; esac
  for name; do [ -f "$(dockerfile "$name")" ] || die "there is no $(dockerfile "$name")"; done
  mkdir -p "$ARCHIVES"
  lock images
  [ "$mode" = load-only ] || build_all "$@"
  [ "$mode" = build-only ] || load_all "$@"
}

main "$@"
