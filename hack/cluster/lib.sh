# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder and by hack/images.sh: where things lie, how to speak, and how processes are
# started, recognised, waited for and ended. Sourced, never run.

HACK_CLUSTER=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LOADSTONE_CACHE=${LOADSTONE_CACHE:-$HOME/.cache/loadstone}
BIN=$LOADSTONE_CACHE/bin
ARCHIVES=$LOADSTONE_CACHE/images
CLUSTER=$LOADSTONE_CACHE/cluster
LOGS=$CLUSTER/logs
PIDS=$CLUSTER/pids
NODES=(infra server loadgen)
PAUSE_IMAGE=localhost/loadstone/pause:1
# Set KUBERNETES_VERSION or ARGO_VERSION to use another version than that of versions.env. Its binaries have their own folder in $BIN.
OTHER_KUBERNETES=${KUBERNETES_VERSION:-} OTHER_ARGO=${ARGO_VERSION:-}
KUBERNETES_FOLDER=${OTHER_KUBERNETES:+kubernetes-$OTHER_KUBERNETES/}
ARGO_FOLDER=${OTHER_ARGO:+argo-$OTHER_ARGO/}
PROGRAMS=${KUBERNETES_FOLDER:+$BIN/${KUBERNETES_FOLDER%/}:}$BIN
export PATH="$PROGRAMS:$PATH:/usr/sbin:/sbin"
# What Zig has compiled once, in whatever clone, it does not compile again.
export ZIG_CACHE=$LOADSTONE_CACHE/zig-cache

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

require_root() { [ "$(id -u)" = 0 ] || die "$(basename "$0") must run as root: it makes bridges, cgroups and mounts."; }

# lock NAME: holds a lock of that name until the script ends. start() closes it for what outlives the script.
lock() {
  mkdir -p "$LOADSTONE_CACHE"
  exec 9>"$LOADSTONE_CACHE/$1.lock"
  flock --nonblock 9 && return
  say "Another script holds $LOADSTONE_CACHE/$1.lock; waiting for it to end."
  flock 9
}

# missing_packages COMMAND:PACKAGE...: prints the Debian packages of those commands (or files) that are missing.
missing_packages() {
  local pair
  for pair; do
    command -v "${pair%%:*}" >/dev/null || [ -e "${pair%%:*}" ] || echo "${pair##*:}"
  done
}

# need_commands COMMAND:PACKAGE...: installs the Debian packages of those commands (or files) that are missing.
need_commands() {
  local missing
  mapfile -t missing < <(missing_packages "$@" | sort -u)
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "these Debian packages, or what your system calls them, are missing: ${missing[*]}. Install them and run this again."
  [ "$(id -u)" = 0 ] || die "Debian packages are missing. Install them and run this again: sudo apt-get install --no-install-recommends ${missing[*]}"
  say "Installing from Debian: ${missing[*]}"
  mkdir -p "$LOADSTONE_CACHE"
  apt_install "${missing[@]}" || { apt-get update >>"$LOADSTONE_CACHE/apt.log" 2>&1 && apt_install "${missing[@]}"; } \
    || die "apt-get failed: see $LOADSTONE_CACHE/apt.log"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$LOADSTONE_CACHE/apt.log" 2>&1 9>&-
}

# pypi_needs: prints, as need_commands wants them, what from_pypi needs from Debian.
pypi_needs() {
  echo python3:python3
  python3 -c 'import ensurepip' 2>/dev/null || echo /nowhere:python3-venv
}

# from_pypi FOLDER PACKAGE==VERSION: installs that package, and none that it names, into a virtual environment of that folder.
from_pypi() {
  local needs
  mapfile -t needs < <(pypi_needs)
  need_commands "${needs[@]}"
  say "Installing $2."
  rm -rf "$1" && python3 -m venv "$1"
  "$1/bin/pip" --quiet install --no-deps "$2"
}

ZIG_VERSION=0.14.1
# zig_up: zig in a folder of the cache, as the others have their servers there.
zig_up() {
  local dir=$LOADSTONE_CACHE/zig-$ZIG_VERSION zig
  # Zig never forgets what it has compiled.
  if [ -d "$ZIG_CACHE" ] && [ "$(du -sm "$ZIG_CACHE" | cut -f1)" -gt 2000 ]; then
    rm -rf "$ZIG_CACHE"
  fi
  if [ ! -x "$BIN/zig" ] || [ "$("$BIN/zig" version)" != "$ZIG_VERSION" ]; then
    from_pypi "$dir" "ziglang==$ZIG_VERSION"
    zig=("$dir"/lib/python3*/site-packages/ziglang/zig)
    mkdir -p "$BIN"
    ln -sfn "${zig[0]}" "$BIN/zig"
  fi
}

# render FILE KEY=VALUE...: prints FILE with every @KEY@ replaced.
render() {
  local text pair
  text=$(<"$1"); shift
  for pair; do text=${text//"@${pair%%=*}@"/${pair#*=}}; done
  printf '%s\n' "$text"
}

now_ms() { echo $(( ${EPOCHREALTIME/[.,]/} / 1000 )); }

# --- processes -------------------------------------------------------------------------------------------------------
# A pid alone can be another program's by the time it is read, so a pid file also holds the process's start time and
# the boot: together they name one process for ever.

identity() { # PID
  local stat boot
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  # Fields after the parenthesised name, which may hold blanks: state is the first of them, start time the 20th.
  read -ra stat <<<"${stat##*) }"
  [ "${stat[0]}" != Z ] || return 1
  read -r boot </proc/sys/kernel/random/boot_id
  echo "$1 ${stat[19]} $boot"
}

# start NAME COMMAND...: runs COMMAND in the background, in the control plane's cgroup and in a session of its own. It
# will have one CPU, but only when all is up, too late for Go to notice.
start() {
  local name=$1; shift
  ( enter_system_cgroup; GOMAXPROCS=1 exec setsid "$@" ) >>"$LOGS/$name.log" 2>&1 </dev/null 9>&- &
  identity $! >"$PIDS/$name" || true # Already dead: wait_until says so.
}

# alive NAME: is the process that was started under that name still running?
alive() {
  local saved
  { read -r saved <"$PIDS/$1"; } 2>/dev/null || return 1
  [ -n "$saved" ] && [ "$(identity "${saved%% *}")" = "$saved" ]
}

# stop NAME...: kills these processes and waits until they are gone. SIGKILL, because nothing of a cluster outlives
# it, and the API server takes seconds to let go of its port when asked politely.
stop() {
  local name
  for name; do ! alive "$name" || kill -KILL "$(cut -d' ' -f1 "$PIDS/$name")" 2>/dev/null || true; done
  for name; do
    retry 10 not_alive "$name" || die "$name does not end, although killed (pid $(cut -d' ' -f1 "$PIDS/$name"))"
    rm -f "$PIDS/$name"
  done
}
not_alive() { ! alive "$1"; }

# retry SECONDS COMMAND...: runs COMMAND until it succeeds; fails after that time.
retry() {
  local end=$(( $(now_ms) + $1 * 1000 )); shift
  until "$@"; do
    [ "$(now_ms)" -lt "$end" ] || return 1
    sleep 0.05
  done
}

# wait_until SECONDS COMPONENT WHAT COMMAND...: waits for COMMAND to succeed, and otherwise ends the script with the
# last lines of the component's log. Ends at once when the component has died.
wait_until() {
  local seconds=$1 component=$2 what=$3; shift 3
  retry "$seconds" dead_or "$component" "$@" && alive "$component" && return
  if alive "$component"; then say "error: $what: not so within $seconds s."; else say "error: $component has ended."; fi
  say "Last lines of $LOGS/$component.log:"
  tail -n 15 "$LOGS/$component.log" >&2
  exit 1
}
dead_or() { local component=$1; shift; ! alive "$component" || "$@" >/dev/null 2>&1; }

# --- the cluster as a whole ------------------------------------------------------------------------------------------

components() { echo etcd apiserver controller-manager scheduler proxy; printf '%s\n' "${NODES[@]/#/containerd-}" "${NODES[@]/#/kubelet-}"; }

all_alive() {
  local name
  for name in $(components); do alive "$name" || return 1; done
}

print_exports() {
  echo "export KUBECONFIG=$CLUSTER/admin.kubeconfig"
  echo "export PATH=$PROGRAMS:\$PATH"
}

# node_ctr NODE ARGUMENTS...: ctr for that node's containerd.
node_ctr() { local node=$1; shift; ctr --address "$CLUSTER/nodes/$node/containerd.sock" --namespace k8s.io "$@"; }

# image_name NAME: what the image is called on the nodes.
image_name() { echo "${REGISTRY:-localhost/loadstone}/$1:${TAG:-dev}"; }
