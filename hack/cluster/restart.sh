#!/usr/bin/env bash
# Kills a node's containerd or kubelet and starts it anew, as a machine's service manager would. Containers outlive both.
#
#   usage: hack/cluster/restart.sh containerd-NODE|kubelet-NODE
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=host.sh
. "$HACK_CLUSTER/host.sh"
# shellcheck source=pki.sh
. "$HACK_CLUSTER/pki.sh"
# shellcheck source=controlplane.sh
. "$HACK_CLUSTER/controlplane.sh"
# shellcheck source=node.sh
. "$HACK_CLUSTER/node.sh"

main() {
  local name=${1:-}
  local node=${name#*-}
  case $name in
    containerd-* | kubelet-*) alive "$name" || die "no process is called $name, or it has ended" ;;
    *) die "usage: hack/cluster/restart.sh containerd-NODE|kubelet-NODE" ;;
  esac
  require_root
  lock cluster
  stop "$name"
  case $name in
    containerd-*)
      containerd_up "$node"
      wait_until 20 "$name" "containerd of $node answers" node_ctr "$node" version
      ;;
    kubelet-*)
      release_cpus "$node"
      kubelet_up "$node"
      wait_until 20 "$name" "kubelet of $node serves" serves "$(healthz_port "$node")"
      ;;
  esac
}

main "$@"
