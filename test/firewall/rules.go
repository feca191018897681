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

// Rules are those of a table that enforces policies. Loaded with nft -f, they take the place of what the table held before, all at once.
//
//	a new connection ─► may its source open it? ─► may its destination be reached? ─► it passes
//	                              └── no ──────────────────────┴──► it is refused: who opens it reads EHOSTUNREACH
//
// A pod that no policy selects may do as it likes. What the nodes themselves send or receive is not forwarded, and so passes.
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
	// Who deletes a table that is not there fails, so it is made first.
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

// direction is one of the two in which policies confine pods: the name of its chains, and where a packet has the addresses of the pod and its peer.
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
	// pods are those with an address of their own, in the order of the addresses.
	pods []corev1.Pod
}

func seen(namespaces []corev1.Namespace, pods []corev1.Pod) (network, error) {
	n := network{namespaces: map[string]labels.Set{}}
	for _, ns := range namespaces {
		n.namespaces[ns.Name] = ns.Labels
	}
	for _, p := range pods {
		// The address of a pod that has ended may be another's already, and that of one in the host's network is the node's.
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

// allowed are the lines by which a packet of a pod passes in a direction, if any policy confines it there.
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

// addresses are the matches of a packet by its peer: one that matches nothing in particular if a rule is for everybody.
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

// numbers are the matches of a packet by its port: one that matches nothing in particular if a rule is for all. A name that the pod does not give to
// any port of the protocol matches no packet.
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

// on is the number of a port on a pod, 0 if it has none of the name.
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
