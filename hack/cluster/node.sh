# shellcheck shell=bash
# One node: a containerd and a kubelet of its own, with its own folder, bridge and cgroup. Sourced, never run.

node_dir() { echo "$CLUSTER/nodes/$1"; }
node_address() { echo "10.244.$(node_index "$1").1"; }

containerd_up() { # NODE
  local dir index
  dir=$(node_dir "$1") index=$(node_index "$1")
  mkdir -p "$dir/cni" "$dir/registries"
  render "$HACK_CLUSTER/config/cni.conflist" NODE="$1" NODE_DIR="$dir" INDEX="$index" BRIDGE="${BRIDGES[index]}" \
    POD_RANGE="$POD_RANGE" SERVICE_RANGE="$SERVICE_RANGE" >"$dir/cni/10-loadstone.conflist"
  render "$HACK_CLUSTER/config/containerd.toml" NODE_DIR="$dir" PAUSE_IMAGE="$PAUSE_IMAGE" CNI_BIN="$(cni_bin)" >"$dir/containerd.toml"
  start "containerd-$1" containerd --config "$dir/containerd.toml"
}

# Distributions put the network plugins in different places.
cni_bin() {
  local dir
  for dir in /usr/lib/cni /opt/cni/bin /usr/libexec/cni; do
    if [ -x "$dir/bridge" ]; then echo "$dir"; return; fi
  done
  die "no CNI plugins: install containernetworking-plugins"
}

kubelet_up() { # NODE
  local dir
  dir=$(node_dir "$1")
  render "$HACK_CLUSTER/config/kubelet.yaml" NODE="$1" NODE_DIR="$dir" ADDRESS="$(node_address "$1")" PKI="$PKI" \
    HEALTHZ_PORT="$(healthz_port "$1")" DNS="$DNS_ADDRESS" DOMAIN="$CLUSTER_DOMAIN" NODE_CONFIG="$(node_config "$1")" >"$dir/kubelet.yaml"
  start "kubelet-$1" kubelet --config="$dir/kubelet.yaml" --kubeconfig="$CLUSTER/kubelet-$1.kubeconfig" \
    --hostname-override="$1" --node-ip="$(node_address "$1")" --node-labels="$(node_labels "$1")" \
    --root-dir="$dir/kubelet" --cert-dir="$PKI"
}

# release_cpus NODE: lets a kubelet start that had given away every CPU it may, where the reserved ones are kept from all (strict-cpu-reservation). It refuses
# its own record of that ("default cpuset cannot be empty") and asks to have it removed; it then gives the same pods their CPUs once more.
release_cpus() {
  local state
  state=$(node_dir "$1")/kubelet/cpu_manager_state
  if [ -e "$state" ] && grep -q '"defaultCpuSet":""' "$state"; then rm "$state"; fi
}

healthz_port() { echo $((10348 + $(node_index "$1"))); }

node_labels() {
  case $1 in
    server) echo loadstone.dev/role=server ;;
    loadgen) echo loadstone.dev/role=generator ;;
  esac
}

# node_config NODE: how its kubelet gives out CPUs. The reconcile period is how long others may linger on a CPU that
# was just given away: 10 s by default, the length of a whole measurement.
node_config() {
  local measuring=$'cpuManagerPolicy: static\ncpuManagerReconcilePeriod: 1s\nregisterWithTaints: [{key: loadstone.dev/measure, effect: NoSchedule}]'
  case $1 in
    # "none": else kubelet would give all CPUs to its cgroup, which cgroups_up has confined.
    infra) printf 'cpuManagerPolicy: none\nenforceNodeAllocatable: [none]\n' ;;
    server) printf '%s\nkubeReserved: {cpu: %sm}\n' "$measuring" "$(server_reserved_millicpus)" ;;
    # Strict: generators that share CPUs stay off the reserved ones too, which are the server's.
    loadgen) printf '%s\nreservedSystemCPUs: "%s"\ncpuManagerPolicyOptions: {strict-cpu-reservation: "true"}\n' "$measuring" "$(loadgen_reserved_cpus)" ;;
  esac
}
