#!/usr/bin/env bash
# Ends the cluster and leaves nothing of it but the built binaries and images. Works just as well on what a crash or a
# reboot has left, on half a cluster, and on none.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=host.sh
. "$HACK_CLUSTER/host.sh"

# containers_down: whatever still runs below our cgroups is a container or its shim: processes that nobody has a pid
# file of, but that are ours because only what we start is ever in there.
containers_down() {
  local pid
  for pid in $(cgroup_processes); do kill -KILL "$pid" 2>/dev/null || true; done
  [ -z "$(cgroup_processes)" ]
}

# mounts_down: volumes, root file systems and network namespaces, the innermost first.
mounts_down() {
  local mount
  while read -r mount; do umount "$mount" 2>/dev/null || umount --lazy "$mount" || true; done < <(cluster_mounts)
  [ -z "$(cluster_mounts)" ]
}
cluster_mounts() { awk -v dir="$CLUSTER/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo | tac; }

# files_down: what our processes keep in fixed places of the host.
files_down() {
  local address id link socket
  # Sockets of shims; each container's folder says which is its own.
  for address in "$CLUSTER"/nodes/*/containerd-state/io.containerd.runtime.v2.task/*/*/address; do
    [ ! -e "$address" ] || { socket=$(<"$address"); rm -f "${socket#unix://}"; }
  done
  # Results that the network library keeps for each sandbox.
  for id in "$CLUSTER"/nodes/*/containerd-root/io.containerd.grpc.v1.cri/sandboxes/*; do
    rm -f /var/lib/cni/results/*"$(basename "$id")"*
  done
  rm -f /var/lib/cni/results/loadstone-*
  # Links of kubelet to containers' logs.
  for link in /var/log/containers/*; do
    [[ "$(readlink "$link" || true)" != "$CLUSTER"/* ]] || rm -f "$link"
  done
  # Kubelet's device plugins have one place for all kubelets, whatever its root folder is.
  rm -f /var/lib/kubelet/device-plugins/kubelet.sock /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint
  # Folders that are empty now have been made for us, or are missed by nobody.
  rmdir /var/lib/kubelet/device-plugins /var/lib/kubelet /var/log/containers /var/lib/cni/results /var/lib/cni \
    /run/containerd/s /run/containerd/fifo /run/containerd 2>/dev/null || true
  rm -rf "$CLUSTER"
}

main() {
  require_root
  # up.sh holds the lock when it calls this script.
  [ "${1:-}" = --locked ] || lock cluster
  # Kubelets first, lest they restart what ends.
  # shellcheck disable=SC2046  # Names without blanks.
  stop "${NODES[@]/#/kubelet-}" $(components)
  retry 10 containers_down || die "containers do not end: $(cgroup_processes | tr '\n' ' ')"
  retry 10 mounts_down || die "mounts stay: $(cluster_mounts | tr '\n' ' ')"
  cgroups_down
  network_down
  files_down
  [ "${1:-}" = --locked ] || say "No cluster is up."
}

main "$@"
