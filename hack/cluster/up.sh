#!/usr/bin/env bash
# A real Kubernetes on this machine: one control plane and three nodes, as plain processes. README.md has the picture.
# Called again, it leaves a healthy cluster alone; what a crash or a reboot has left of one is cleared away first.
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

# What the cluster itself and the chart's embedded servers run; other images come with "hack/images.sh".
IMAGES=(coredns workflow-controller argoexec minio)

processes_up() {
  local node
  etcd_up
  apiserver_up
  for node in "${NODES[@]}"; do containerd_up "$node"; done
  for node in "${NODES[@]}"; do
    wait_until 180 "containerd-$node" "containerd of $node answers" node_ctr "$node" version
    node_ctr "$node" images import "$ARCHIVES/pause.tar" >/dev/null
  done
  "$HACK_CLUSTER/../images.sh" --load-only 9>&- &
  LOADING=$!
  wait_until 180 apiserver "API server is ready" apiserver_ready
  controllers_up
  for node in "${NODES[@]}"; do kubelet_up "$node"; done
}

cluster_ready() {
  local node
  wait_until 180 controller-manager "controller manager serves" serves 10257
  wait_until 180 scheduler "scheduler serves" serves 10259
  retry 180 image_loaded infra "$(image_name coredns)" || die "CoreDNS' image could not be loaded"
  dns_up "$(image_name coredns)"
  for node in "${NODES[@]}"; do wait_until 180 "kubelet-$node" "node $node is Ready" node_ready "$node"; done
  wait_until 180 proxy "$DNS_ADDRESS answers (else see: kubectl -n kube-system describe pods)" dns_answers
  wait "$LOADING" || die "images could not be loaded"
}

image_loaded() { [ -n "$(node_ctr "$1" images list --quiet "name==$2")" ]; }

node_ready() { [ "$(admin --request-timeout=2s get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }

# healthy: every process is alive, all nodes are Ready, and names resolve, which takes most of the rest.
healthy() {
  local name
  all_alive || return 1
  for name in "${NODES[@]}"; do node_ready "$name" || return 1; done
  dns_answers
}

# version_asked: the cluster is of the version that KUBERNETES_VERSION names, if it names one.
version_asked() { [ -z "$OTHER_KUBERNETES" ] || admin get --raw /version | grep -q "\"v$OTHER_KUBERNETES\""; }

main() {
  local begin plan
  begin=$(now_ms)
  require_root
  lock cluster
  if healthy; then
    version_asked || die "the cluster that is up has another version than Kubernetes $OTHER_KUBERNETES: take it down first (hack/cluster/down.sh)"
    say "The cluster is up."
    print_exports
    return
  fi
  [ "$(nproc --all)" -ge 2 ] || die "measuring needs two CPUs or more"
  plan=$("$HACK_CLUSTER/build.sh" plan)
  [ -z "$plan" ] || say "Before the cluster starts, this"$'\n'"$plan"
  "$HACK_CLUSTER/build.sh" 9>&-
  "$HACK_CLUSTER/../images.sh" --build-only "${IMAGES[@]}" 9>&-
  begin=$(now_ms)
  "$HACK_CLUSTER/down.sh" --locked
  mkdir -p "$LOGS" "$PIDS" "$CLUSTER/nodes"
  network_up
  cgroups_up
  pki_up
  processes_up
  cluster_ready
  confine_system
  say "The cluster is Ready, after $(( ($(now_ms) - begin) / 1000 )) s."
  print_exports
}

main
