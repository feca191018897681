# shellcheck shell=bash
# What the cluster changes in the host: links, routes, sysctls and cgroups. Each *_up has a *_down that undoes it, also
# when only half of it is there. Sourced, never run.

# Every node has a bridge 10.244.N.1/24, the rest of the pods' range is a black hole, and pods have no default route, so
# that no packet of a pod leaves this machine. Service addresses have no device; kube-proxy translates them. But the host
# itself looks up the route before the translation, so the range is routed to a bridge, where nobody answers.
BRIDGES=(lsbr-infra lsbr-server lsbr-loadgen)
POD_RANGE=10.244.0.0/16
SERVICE_RANGE=10.96.0.0/16
# shellcheck disable=SC2034  # These four are read by the scripts that source this file.
API_ADDRESS=10.244.0.1 API_SERVICE_ADDRESS=10.96.0.1 DNS_ADDRESS=10.96.0.10 CLUSTER_DOMAIN=cluster.local

# All that we or kubelet or kube-proxy set; their values from before are kept in a file and come back.
SYSCTLS=(
  net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables net.ipv4.conf.all.route_localnet
  vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops
  kernel.keys.root_maxkeys kernel.keys.root_maxbytes
)

node_index() { # NODE
  local i
  for i in "${!NODES[@]}"; do [ "${NODES[i]}" != "$1" ] || echo "$i"; done
}

network_up() {
  local i
  # Services need it: an answer between two pods of one bridge must pass the host's address translation again.
  [ -e /proc/sys/net/bridge ] || modprobe br_netfilter || die "the kernel has no br_netfilter"
  [ -e "$CLUSTER/sysctls" ] || sysctl -e "${SYSCTLS[@]}" >"$CLUSTER/sysctls"
  for i in "${!BRIDGES[@]}"; do
    ip link show "${BRIDGES[i]}" >/dev/null 2>&1 || ip link add "${BRIDGES[i]}" type bridge
    ip addr replace "10.244.$i.1/24" dev "${BRIDGES[i]}"
    ip link set "${BRIDGES[i]}" up
  done
  ip route replace blackhole $POD_RANGE
  ip route replace $SERVICE_RANGE dev "${BRIDGES[0]}"
  sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
}

network_down() {
  local bridge family
  for bridge in "${BRIDGES[@]}"; do
    bridge_ports_down "$bridge"
    ip link delete "$bridge" 2>/dev/null || true
  done
  ip route delete blackhole $POD_RANGE 2>/dev/null || true
  for family in ip ip6; do nft delete table $family kube-proxy 2>/dev/null || true; done
  # In it a test enforces NetworkPolicies, and leaves it if it is killed (test/e2e/policy_test.go).
  nft delete table ip loadstone-e2e 2>/dev/null || true
  [ ! -e "$CLUSTER/sysctls" ] || sysctl -q -p "$CLUSTER/sysctls" >/dev/null || true
}

# The veths of pods end with the pods' network namespaces, but the kernel takes its time.
bridge_ports_down() {
  local port
  for port in "/sys/class/net/$1/brif/"*; do
    [ ! -e "$port" ] || ip link delete "$(basename "$port")" 2>/dev/null || true
  done
}

# --- cgroups ---------------------------------------------------------------------------------------------------------
#   /loadstone/system    control plane, containerds, kubelets: CPU 0 (all CPUs until the cluster is Ready)
#   /loadstone/infra     pods of infra: CPU 0
#   /loadstone/server    pods of server: all CPUs; its kubelet gives them out
#   /loadstone/loadgen   pods of loadgen: likewise
# A cpuset, not taskset: an affinity mask would be inherited by every container, and only Linux before 6.2 forgets it
# when the container gets its own cpuset.
# Whatever runs in these cgroups was started by this cluster. down.sh relies on it.

cgroup_v2() { [ -e /sys/fs/cgroup/cgroup.controllers ]; }

# cgroup_controllers: the folders in which /loadstone lies: one per controller on v1, one in all on v2. A v1 host may
# have an empty v2 hierarchy beside, into which runc also puts its containers.
cgroup_controllers() { awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts; }

# cpuset_root: the folder of the hierarchy that has cpusets.
cpuset_root() { if cgroup_v2; then echo /sys/fs/cgroup/loadstone; else echo /sys/fs/cgroup/cpuset/loadstone; fi; }

enter_system_cgroup() { echo "$BASHPID" >"$(cpuset_root)/system/cgroup.procs"; }

cgroups_up() {
  local root name groups=("" system infra server loadgen)
  # Kubelet with policy "none" gives its cgroup all CPUs when it makes it, which v1 refuses below a cpuset of one CPU
  # (v2 does not). So on v1 the cgroup is there already.
  cgroup_v2 || groups+=(infra/kubepods)
  for root in $(cgroup_controllers); do
    mkdir -p "${groups[@]/#/$root/loadstone/}"
  done
  if cgroup_v2; then
    echo "+cpuset +cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
    echo "+cpuset +cpu +memory +pids" >/sys/fs/cgroup/loadstone/cgroup.subtree_control
  fi
  root=$(cpuset_root)
  for name in "${groups[@]}"; do
    # On v1 a cpuset is empty until told otherwise, and takes no process.
    cgroup_v2 || cat "$root/../cpuset.mems" >"$root/$name/cpuset.mems"
    case $name in
      infra*) echo 0 >"$root/$name/cpuset.cpus" ;;
      *) cgroup_v2 || cat "$root/../cpuset.cpus" >"$root/$name/cpuset.cpus" ;;
    esac
  done
}

# confine_system: from now on nothing but pinned pods runs on the other CPUs.
confine_system() { echo 0 >"$(cpuset_root)/system/cpuset.cpus"; }

# cgroup_processes: the ids of all processes below /loadstone, whoever started them there.
cgroup_processes() {
  local root
  root=$(cpuset_root)
  [ ! -d "$root" ] || find "$root" -name cgroup.procs -exec cat {} + 2>/dev/null || true
}

cgroups_down() {
  local root
  for root in $(cgroup_controllers); do
    [ ! -d "$root/loadstone" ] || retry 5 remove_cgroup "$root/loadstone" || die "$root/loadstone is still in use"
  done
}
remove_cgroup() { find "$1" -depth -type d -exec rmdir {} + 2>/dev/null; [ ! -d "$1" ]; }

# --- who gets which CPU ----------------------------------------------------------------------------------------------
# With two CPUs: the server's pods may have CPU 1 to themselves, the generators' pods CPU 0, and everything else shares
# CPU 0. With more: CPU 0 stays the shared one, generators have the lower half of the rest, servers the upper half.

first_server_cpu() { local n; n=$(nproc --all); echo $(( n == 2 ? 1 : 1 + (n - 1) / 2 )); }

# The static policy reserves whole CPUs from the lowest on, but subtracts only what is asked for: with half a CPU less
# than it reserves, a fractional sidecar still fits beside a server that has all exclusive ones.
server_reserved_millicpus() { echo $(( $(first_server_cpu) * 1000 - 500 )); }

loadgen_reserved_cpus() {
  local n first
  n=$(nproc --all) first=$(first_server_cpu)
  if [ "$n" = 2 ]; then echo 1; else echo "0,$first-$((n - 1))"; fi
}
