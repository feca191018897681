package firewall

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// policy is a NetworkPolicy that was understood.
type policy struct {
	namespace string
	selects   labels.Selector
	types     []networkingv1.PolicyType
	rules     map[networkingv1.PolicyType][]rule
}

// rule allows connections with any of its peers on any of its ports. No peers means all peers; no ports means all ports.
type rule struct {
	peers []peer
	ports []port
}

// peer is an address block, or the pods of two selectors: one for pods and one for namespaces.
type peer struct {
	block            string
	namespaces, pods labels.Selector
}

// port has a number, or the name of a container port.
type port struct {
	protocol corev1.Protocol
	named    intstr.IntOrString
}

// understood reads a policy with its defaults, as the API server returns it.
func understood(p *networkingv1.NetworkPolicy) (policy, error) {
	wrong := func(err error) (policy, error) {
		return policy{}, fmt.Errorf("NetworkPolicy %s/%s: %w", p.Namespace, p.Name, err)
	}
	selects, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
	if err != nil {
		return wrong(fmt.Errorf("spec.podSelector: %w", err))
	}
	if len(p.Spec.PolicyTypes) == 0 {
		return wrong(fmt.Errorf("spec.policyTypes is empty: the API server fills it in"))
	}
	rules := map[networkingv1.PolicyType][]rule{}
	add := func(of networkingv1.PolicyType, field string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) error {
		r, err := readRule(p.Namespace, peers, ports)
		if err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		rules[of] = append(rules[of], r)
		return nil
	}
	for i, r := range p.Spec.Ingress {
		if err := add(networkingv1.PolicyTypeIngress, fmt.Sprintf("spec.ingress[%d]", i), r.From, r.Ports); err != nil {
			return wrong(err)
		}
	}
	for i, r := range p.Spec.Egress {
		if err := add(networkingv1.PolicyTypeEgress, fmt.Sprintf("spec.egress[%d]", i), r.To, r.Ports); err != nil {
			return wrong(err)
		}
		for _, t := range r.Ports {
			if t.Port.Type == intstr.String {
				return wrong(fmt.Errorf("spec.egress[%d]: port %s has a name, which is another number on each peer: only rules of ingress may name ports", i, t.Port))
			}
		}
	}
	return policy{namespace: p.Namespace, selects: selects, types: p.Spec.PolicyTypes, rules: rules}, nil
}

func readRule(namespace string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) (rule, error) {
	var r rule
	for i, p := range peers {
		one, err := readPeer(namespace, p)
		if err != nil {
			return r, fmt.Errorf("peer %d: %w", i, err)
		}
		r.peers = append(r.peers, one)
	}
	for i, p := range ports {
		one := port{protocol: corev1.ProtocolTCP}
		if p.Protocol != nil {
			one.protocol = *p.Protocol
		}
		switch {
		case one.protocol != corev1.ProtocolTCP && one.protocol != corev1.ProtocolUDP:
			return r, fmt.Errorf("port %d: protocol %s is not supported", i, one.protocol)
		case p.Port == nil:
			return r, fmt.Errorf("port %d: all ports of a protocol are not supported", i)
		case p.EndPort != nil:
			return r, fmt.Errorf("port %d: endPort is not supported", i)
		}
		one.named = *p.Port
		r.ports = append(r.ports, one)
	}
	return r, nil
}

func readPeer(namespace string, p networkingv1.NetworkPolicyPeer) (peer, error) {
	if p.IPBlock != nil {
		if len(p.IPBlock.Except) > 0 {
			return peer{}, fmt.Errorf("ipBlock.except is not supported")
		}
		block, err := netip.ParsePrefix(p.IPBlock.CIDR)
		if err != nil {
			return peer{}, fmt.Errorf("ipBlock.cidr: %w", err)
		}
		if !block.Addr().Is4() {
			return peer{}, fmt.Errorf("ipBlock.cidr: %s is not of IPv4", block)
		}
		return peer{block: block.Masked().String()}, nil
	}
	// Default: all pods of the policy's namespace.
	one := peer{namespaces: labels.SelectorFromSet(labels.Set{corev1.LabelMetadataName: namespace}), pods: labels.Everything()}
	var err error
	if p.NamespaceSelector != nil {
		if one.namespaces, err = metav1.LabelSelectorAsSelector(p.NamespaceSelector); err != nil {
			return peer{}, fmt.Errorf("namespaceSelector: %w", err)
		}
	}
	if p.PodSelector != nil {
		if one.pods, err = metav1.LabelSelectorAsSelector(p.PodSelector); err != nil {
			return peer{}, fmt.Errorf("podSelector: %w", err)
		}
	}
	return one, nil
}
