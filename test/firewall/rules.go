package firewall

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Rules returns a table for nft -f, which replaces the table at once.
//
//	a new connection ─► may its source open it? ─► may its destination be reached? ─► it passes
//	                              └── no ──────────────────────┴──► it is refused: who opens it reads EHOSTUNREACH
//
// Pods without a policy are unrestricted. Traffic of nodes is not forwarded, so it passes.
func Rules(table string, policies []networkingv1.NetworkPolicy, namespaces []corev1.Namespace, pods []corev1.Pod) (string, error) {
	var all []policy
	for i := range policies {
		p, err := understood(&policies[i])
		if err != nil {
			return "", err
		}
		all = append(all, p)
	}
	n, err := seen(namespaces, pods)
	if err != nil {
		return "", err
	}
	var chains, jumps strings.Builder
	for _, d := range directions {
		for _, p := range n.pods {
			lines, confined := n.allowed(d, p, all)
			if !confined {
				continue
			}
			name := d.chain + "-" + p.Status.PodIP
			fmt.Fprintf(&chains, "\tchain %s { # %s/%s\n", name, p.Namespace, p.Name)
			for _, line := range lines {
				fmt.Fprintf(&chains, "\t\t%s\n", line)
			}
			fmt.Fprintf(&chains, "\t\treject with icmp type admin-prohibited\n\t}\n")
			fmt.Fprintf(&jumps, "\t\t%s %s jump %s\n", d.own, p.Status.PodIP, name)
		}
	}
	// Deleting a missing table fails, so the table is created first.
	return fmt.Sprintf(`table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
%[2]s	chain forward {
		type filter hook forward priority filter; policy accept;
		ct state established,related accept
%[3]s	}
}
`, table, chains.String(), jumps.String()), nil
}

// direction is ingress or egress: its chain name, and where a packet has the addresses of pod and peer.
type direction struct {
	is               networkingv1.PolicyType
	chain, own, peer string
}

var directions = []direction{
	{networkingv1.PolicyTypeEgress, "from", "ip saddr", "ip daddr"},
	{networkingv1.PolicyTypeIngress, "to", "ip daddr", "ip saddr"},
}

// network is what selectors select from.
type network struct {
	// namespaces are the labels of each.
	namespaces map[string]labels.Set
	// pods have their own address and are sorted by it.
	pods []corev1.Pod
}

func seen(namespaces []corev1.Namespace, pods []corev1.Pod) (network, error) {
	n := network{namespaces: map[string]labels.Set{}}
	for _, ns := range namespaces {
		n.namespaces[ns.Name] = ns.Labels
	}
	for _, p := range pods {
		// Another pod may already have the address of an ended pod. A host-network pod has its node's address.
		over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if over || p.Spec.HostNetwork || p.Status.PodIP == "" {
			continue
		}
		if a, err := netip.ParseAddr(p.Status.PodIP); err != nil || !a.Is4() {
			return n, fmt.Errorf("pod %s/%s: its address %s is not of IPv4", p.Namespace, p.Name, p.Status.PodIP)
		}
		n.pods = append(n.pods, p)
	}
	slices.SortFunc(n.pods, func(a, b corev1.Pod) int {
		return cmp.Or(address(a).Compare(address(b)), cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	return n, nil
}

func address(p corev1.Pod) netip.Addr { return netip.MustParseAddr(p.Status.PodIP) }

// allowed returns the rules that accept a pod's packets in a direction, if a policy applies.
func (n network) allowed(d direction, p corev1.Pod, policies []policy) (lines []string, confined bool) {
	for _, one := range policies {
		if one.namespace != p.Namespace || !slices.Contains(one.types, d.is) || !one.selects.Matches(labels.Set(p.Labels)) {
			continue
		}
		confined = true
		for _, r := range one.rules[d.is] {
			for _, from := range n.addresses(d, r.peers) {
				for _, to := range numbers(r.ports, p) {
					lines = append(lines, strings.Join(append(slices.Concat(from, to), "return"), " "))
				}
			}
		}
	}
	return lines, confined
}

// addresses match packets by peer. A rule for all peers has an empty match.
func (n network) addresses(d direction, peers []peer) [][]string {
	if len(peers) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for _, one := range peers {
		if one.block != "" {
			all = append(all, []string{d.peer, one.block})
			continue
		}
		var of []string
		for _, p := range n.pods {
			if one.namespaces.Matches(n.namespaces[p.Namespace]) && one.pods.Matches(labels.Set(p.Labels)) {
				of = append(of, p.Status.PodIP)
			}
		}
		if len(of) > 0 {
			all = append(all, []string{d.peer, "{ " + strings.Join(slices.Compact(of), ", ") + " }"})
		}
	}
	return all
}

// numbers match packets by port. A rule for all ports has an empty match. An unknown port name matches no packet.
func numbers(ports []port, p corev1.Pod) [][]string {
	if len(ports) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for _, one := range ports {
		if number := one.on(p); number != 0 {
			all = append(all, []string{strings.ToLower(string(one.protocol)), "dport", fmt.Sprint(number)})
		}
	}
	return all
}

// on returns the port's number on a pod, or 0.
func (t port) on(p corev1.Pod) int32 {
	if t.named.Type == intstr.Int {
		return t.named.IntVal
	}
	for _, c := range p.Spec.Containers {
		for _, own := range c.Ports {
			if own.Name == t.named.StrVal && cmp.Or(own.Protocol, corev1.ProtocolTCP) == t.protocol {
				return own.ContainerPort
			}
		}
	}
	return 0
}
