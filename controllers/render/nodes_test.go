package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// allowed are the nodes that a pod may run on by their names; nil if names do not matter.
func allowed(pod *corev1.Pod) []string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	var names []string
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		names = append(names, term.MatchFields[0].Values...)
	}
	return names
}

func TestGoldenObjectsOfABoundRun(t *testing.T) {
	o := options()
	o.Bound = map[string]string{record.MemberServer(0): "s-1", record.MemberServer(1): "s-1", record.MemberGenerator(0): "g-1"}
	golden(t, "bound-server.yaml", member(t, trial(t, compiled(t)), record.MemberServer(0), o))
	golden(t, "bound-generator.yaml", member(t, trial(t, compiled(t)), record.MemberGenerator(0), o))
	_, tr := duet(t)
	golden(t, "bound-beside.yaml", member(t, tr, record.MemberServer(1), o))
}

func TestEachGeneratorIsBoundToItsOwnNode(t *testing.T) {
	o := options()
	o.Bound = map[string]string{record.MemberGenerator(0): "g-1", record.MemberGenerator(1): "g-2"}
	tr := trial(t, compiled(t))
	tr.Generators.Pods = 2
	for index, want := range []string{"g-1", "g-2"} {
		if got := allowed(member(t, tr, record.MemberGenerator(index), o)); !cmp.Equal(got, []string{want}) {
			t.Errorf("generator %d may run on %s, want %s", index, got, want)
		}
	}
	if got := allowed(member(t, trial(t, compiled(t)), record.MemberServer(0), o)); got != nil {
		t.Errorf("a server that is not bound may run on %s only", got)
	}
}

// The node of the first trial is that of all, so that it must hold the largest server.
func TestTheFirstServerIsPutWhereTheLargestFits(t *testing.T) {
	server, generator := v1alpha1.RoleServer, v1alpha1.RoleGenerator
	for name, tc := range map[string]struct {
		nodes     []plan.Node
		resources map[string]int64
		want      []string
	}{
		"all nodes have room":          {nodes: []plan.Node{{Name: "a", Role: server, MilliCPU: 2200}, {Name: "b", Role: server, MilliCPU: 4000}}},
		"one node has room":            {nodes: []plan.Node{{Name: "a", Role: server, MilliCPU: 1200}, {Name: "b", Role: server, MilliCPU: 2200}}, want: []string{"b"}},
		"two of three nodes have room": {nodes: []plan.Node{{Name: "c", Role: server, MilliCPU: 4000}, {Name: "a", Role: server, MilliCPU: 1200}, {Name: "b", Role: server, MilliCPU: 2200}}, want: []string{"b", "c"}},
		"no node has room":             {nodes: []plan.Node{{Name: "a", Role: server, MilliCPU: 1200}}},
		"nodes for others do not count": {nodes: []plan.Node{
			{Name: "a", Role: server, MilliCPU: 2200}, {Name: "b", Role: generator, MilliCPU: 4000}, {Name: "c", MilliCPU: 1000},
		}},
		"one node has a resource that another server asks for": {
			nodes:     []plan.Node{{Name: "a", Role: server, MilliCPU: 4000}, {Name: "b", Role: server, MilliCPU: 4000, Resources: map[string]int64{"nvidia.com/gpu": 1}}},
			resources: map[string]int64{"nvidia.com/gpu": 1}, want: []string{"b"},
		},
		"nodes without labels do where none has one": {nodes: []plan.Node{{Name: "a", MilliCPU: 1000}, {Name: "b", MilliCPU: 4000}}, want: []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Nodes, o.LargestServer = tc.nodes, plan.Demand{MilliCPU: 2200, Resources: tc.resources}
			if diff := cmp.Diff(tc.want, allowed(member(t, trial(t, compiled(t)), record.MemberServer(0), o))); diff != "" {
				t.Errorf("where the server may run (-want +got):\n%s", diff)
			}
			if got := allowed(member(t, trial(t, compiled(t)), record.MemberGenerator(0), o)); got != nil {
				t.Errorf("a generator may run on %s only", got)
			}
		})
	}
}
