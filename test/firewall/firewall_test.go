package firewall_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/test/firewall"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// The namespaces of an installation, a team with runs, and others.
var namespaces = []corev1.Namespace{namespace("kube-system"), namespace("loadstone-system"), namespace("team"), namespace("others")}

func namespace(name string) corev1.Namespace {
	return corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
}

func pod(namespace, name, address string, labels map[string]string, deltas ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address},
	}
	for _, d := range deltas {
		d(&p)
	}
	return p
}

// listens adds a named port to the first container.
func listens(name string, number int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{Name: name, ContainerPort: number})
	}
}

func policy(spec networkingv1.NetworkPolicySpec) networkingv1.NetworkPolicy {
	spec.PodSelector = *of("a")
	return networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "own"}, Spec: spec}
}

func ingress(rule networkingv1.NetworkPolicyIngressRule) networkingv1.NetworkPolicy {
	return policy(networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, Ingress: []networkingv1.NetworkPolicyIngressRule{rule}})
}

func egress(rule networkingv1.NetworkPolicyEgressRule) networkingv1.NetworkPolicy {
	return policy(networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, Egress: []networkingv1.NetworkPolicyEgressRule{rule}})
}

func of(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func in(namespace string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
}

func port(p intstr.IntOrString) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Port: &p}
}

// The default policies of the chart and the policy of a run must be understood.
func TestTranslatesPoliciesOfChartAndRun(t *testing.T) {
	var policies []networkingv1.NetworkPolicy
	var pods []corev1.Pod
	rendered, err := os.ReadFile(filepath.Join("..", "..", "hack", "charts", "testdata", "embedded.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(string(rendered), "---\n") {
		var o struct {
			metav1.TypeMeta   `json:",inline"`
			metav1.ObjectMeta `json:"metadata"`
			Spec              struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		switch o.Kind {
		case "NetworkPolicy":
			var p networkingv1.NetworkPolicy
			if err := yaml.UnmarshalStrict([]byte(document), &p); err != nil {
				t.Fatal(err)
			}
			policies = append(policies, p)
		case "Deployment", "StatefulSet":
			address := map[string]string{"loadstone-argo": "10.244.0.11", "loadstone": "10.244.0.12", "loadstone-minio": "10.244.0.13"}[o.Name]
			pods = append(pods, pod(o.Namespace, o.Name, address, o.Spec.Template.Labels, func(p *corev1.Pod) { p.Spec = o.Spec.Template.Spec }))
		}
	}
	flag := regexp.MustCompile(`--network-policy=(.*)`).FindSubmatch(rendered)
	var rules networkingv1.NetworkPolicySpec
	if err := json.Unmarshal(flag[1], &rules); err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "quick", UID: "0a1b2c3d-4e5f"}}
	measured := map[string]string{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelTrial: "quick-0"}
	others := map[string]string{v1alpha1.LabelRunUID: "of-another-run"}
	pods = append(pods,
		pod("kube-system", "coredns", "10.244.0.10", nil),
		pod("loadstone-system", "argos-agent", "10.244.0.14", nil),
		pod("team", "server", "10.244.1.10", measured),
		pod("team", "generator", "10.244.2.10", measured),
		pod("team", "intruder", "10.244.0.15", nil),
		pod("team", "of-another-run", "10.244.1.11", others),
	)
	got, err := firewall.Rules("test", append(policies, *render.NetworkPolicy(run, rules)), namespaces, pods)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "chart.nft")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", path, diff)
	}
}

func TestAcceptsAllowedPacketsAndRejectsOthers(t *testing.T) {
	confined := pod("team", "a", "10.244.1.10", of("a").MatchLabels, listens("web", 8080))
	peers := []corev1.Pod{
		pod("team", "b", "10.244.1.11", of("b").MatchLabels), pod("others", "b", "10.244.0.10", of("b").MatchLabels), pod("others", "c", "10.244.0.9", of("c").MatchLabels),
	}
	udp := corev1.ProtocolUDP
	dns := port(intstr.FromInt32(53))
	dns.Protocol = &udp
	from := func(p ...networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicyIngressRule {
		return networkingv1.NetworkPolicyIngressRule{From: p}
	}
	everything := networkingv1.NetworkPolicyIngressRule{}
	tests := map[string]struct {
		policies []networkingv1.NetworkPolicy
		pods     []corev1.Pod
		// want are the lines of the pod's chains.
		want map[string]string
	}{
		"a pod that no policy selects has no chain": {
			policies: []networkingv1.NetworkPolicy{ingress(everything)}, pods: []corev1.Pod{pod("team", "b", "10.244.1.10", of("b").MatchLabels)},
		},
		"a policy selects in its own namespace only": {
			policies: []networkingv1.NetworkPolicy{ingress(everything)}, pods: []corev1.Pod{pod("others", "a", "10.244.1.10", of("a").MatchLabels)},
		},
		"a rule of nothing allows everything": {
			policies: []networkingv1.NetworkPolicy{ingress(everything)}, want: map[string]string{"to-10.244.1.10": "return"},
		},
		"no rule allows nothing": {
			policies: []networkingv1.NetworkPolicy{policy(networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}})},
			want:     map[string]string{"to-10.244.1.10": "", "from-10.244.1.10": ""},
		},
		"pods are of the policy's namespace unless it says which": {
			policies: []networkingv1.NetworkPolicy{ingress(from(networkingv1.NetworkPolicyPeer{PodSelector: of("b")}))},
			want:     map[string]string{"to-10.244.1.10": "ip saddr { 10.244.1.11 } return"},
		},
		"pods of the namespaces that it names": {
			policies: []networkingv1.NetworkPolicy{ingress(from(networkingv1.NetworkPolicyPeer{PodSelector: of("b"), NamespaceSelector: in("others")}))},
			want:     map[string]string{"to-10.244.1.10": "ip saddr { 10.244.0.10 } return"},
		},
		"all pods of a namespace, in the order of their addresses": {
			policies: []networkingv1.NetworkPolicy{ingress(from(networkingv1.NetworkPolicyPeer{NamespaceSelector: in("others")}))},
			want:     map[string]string{"to-10.244.1.10": "ip saddr { 10.244.0.9, 10.244.0.10 } return"},
		},
		"pods of all namespaces": {
			policies: []networkingv1.NetworkPolicy{ingress(from(networkingv1.NetworkPolicyPeer{PodSelector: of("b"), NamespaceSelector: &metav1.LabelSelector{}}))},
			want:     map[string]string{"to-10.244.1.10": "ip saddr { 10.244.0.10, 10.244.1.11 } return"},
		},
		"peers that are not there allow nothing": {
			policies: []networkingv1.NetworkPolicy{ingress(from(networkingv1.NetworkPolicyPeer{PodSelector: of("nobody")}))},
			want:     map[string]string{"to-10.244.1.10": ""},
		},
		"a block of addresses, and two ports": {
			policies: []networkingv1.NetworkPolicy{egress(networkingv1.NetworkPolicyEgressRule{
				To:    []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.7/24"}}},
				Ports: []networkingv1.NetworkPolicyPort{dns, port(intstr.FromInt32(443))},
			})},
			want: map[string]string{"from-10.244.1.10": "ip daddr 192.0.2.0/24 udp dport 53 return; ip daddr 192.0.2.0/24 tcp dport 443 return"},
		},
		"a port by the name that the pod gives it": {
			policies: []networkingv1.NetworkPolicy{ingress(networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{port(intstr.FromString("web"))}})},
			want:     map[string]string{"to-10.244.1.10": "tcp dport 8080 return"},
		},
		"a name that the pod gives to no port allows nothing": {
			policies: []networkingv1.NetworkPolicy{ingress(networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{port(intstr.FromString("other"))}})},
			want:     map[string]string{"to-10.244.1.10": ""},
		},
		"what two policies allow adds up": {
			policies: []networkingv1.NetworkPolicy{
				ingress(from(networkingv1.NetworkPolicyPeer{PodSelector: of("b")})),
				ingress(networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{port(intstr.FromInt32(80))}}),
			},
			want: map[string]string{"to-10.244.1.10": "ip saddr { 10.244.1.11 } return; tcp dport 80 return"},
		},
		"neither a pod that has ended, nor one without an address, nor one in the host's network": {
			policies: []networkingv1.NetworkPolicy{ingress(from(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}))},
			pods: []corev1.Pod{
				confined,
				pod("team", "over", "10.244.1.12", of("a").MatchLabels, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
				pod("team", "failed", "10.244.1.13", of("a").MatchLabels, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
				pod("team", "pending", "", of("a").MatchLabels),
				pod("team", "host", "192.0.2.1", of("a").MatchLabels, func(p *corev1.Pod) { p.Spec.HostNetwork = true }),
			},
			want: map[string]string{"to-10.244.1.10": "ip saddr { 10.244.1.10 } return"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods := tc.pods
			if pods == nil {
				pods = append([]corev1.Pod{confined}, peers...)
			}
			text, err := firewall.Rules("test", tc.policies, namespaces, pods)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, chain := range regexp.MustCompile(`(?s)chain ((?:from|to)-\S+) {[^\n]*\n(.*?)\t\treject with icmp type admin-prohibited\n\t}`).FindAllStringSubmatch(text, -1) {
				got[chain[1]] = strings.Join(strings.Split(strings.TrimSpace(chain[2]), "\n\t\t"), "; ")
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s\n%s", diff, text)
			}
		})
	}
}

func TestRejectsUnsupportedPolicies(t *testing.T) {
	last, sctp := int32(9000), corev1.ProtocolSCTP
	block := func(b networkingv1.IPBlock) networkingv1.NetworkPolicy {
		return ingress(networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{{IPBlock: &b}}})
	}
	on := func(p networkingv1.NetworkPolicyPort) networkingv1.NetworkPolicy {
		return ingress(networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{p}})
	}
	first := intstr.FromInt32(8000)
	tests := map[string]struct {
		policy networkingv1.NetworkPolicy
		pod    corev1.Pod
		want   string
	}{
		"a policy without types":         {policy: policy(networkingv1.NetworkPolicySpec{}), want: "NetworkPolicy team/own: spec.policyTypes is empty"},
		"a block with exceptions":        {policy: block(networkingv1.IPBlock{CIDR: "192.0.2.0/24", Except: []string{"192.0.2.1/32"}}), want: "spec.ingress[0]: peer 0: ipBlock.except is not supported"},
		"a block of IPv6":                {policy: block(networkingv1.IPBlock{CIDR: "2001:db8::/32"}), want: "ipBlock.cidr: 2001:db8::/32 is not of IPv4"},
		"a range of ports":               {policy: on(networkingv1.NetworkPolicyPort{Port: &first, EndPort: &last}), want: "spec.ingress[0]: port 0: endPort is not supported"},
		"all ports of a protocol":        {policy: on(networkingv1.NetworkPolicyPort{}), want: "port 0: all ports of a protocol are not supported"},
		"a protocol of its own":          {policy: on(networkingv1.NetworkPolicyPort{Protocol: &sctp, Port: &first}), want: "port 0: protocol SCTP is not supported"},
		"a port of peers by its name":    {policy: egress(networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{port(intstr.FromString("web"))}}), want: "spec.egress[0]: port web has a name"},
		"a selector that is not one":     {policy: ingress(networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}}}}), want: `spec.ingress[0]: peer 0: podSelector: "Like" is not a valid label selector operator`},
		"a pod with an address of IPv6":  {policy: ingress(networkingv1.NetworkPolicyIngressRule{}), pod: pod("team", "a", "2001:db8::1", nil), want: "pod team/a: its address 2001:db8::1 is not of IPv4"},
		"a pod whose address is not one": {policy: ingress(networkingv1.NetworkPolicyIngressRule{}), pod: pod("team", "a", "here", nil), want: "pod team/a: its address here is not of IPv4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := firewall.Rules("test", []networkingv1.NetworkPolicy{tc.policy}, namespaces, []corev1.Pod{tc.pod})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q; the rules:\n%s", err, tc.want, got)
			}
		})
	}
}
