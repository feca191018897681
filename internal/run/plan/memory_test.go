package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// hungry is a run of a server with this memory, and more under its two profilers.
func hungry(t *testing.T, memory string) Plan {
	t.Helper()
	q := resource.MustParse(memory)
	p, err := Compile(v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Command: []string{"/go"}, Port: 80, Memory: &q}},
		Loads:           []v1alpha1.Load{{Name: "l", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}}}},
		Profiles:        []v1alpha1.Profile{{Name: "calls", Tool: v1alpha1.ToolStrace}, {Name: "leaks", Tool: v1alpha1.ToolMemcheck}},
	}, Options{Name: "run", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPodIsRefusedWhereNoNodeHasItsMemory(t *testing.T) {
	node := func(mebibytes int64) Node {
		return Node{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: 4000, MemoryBytes: mebibytes << 20}
	}
	generators := Node{Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 4000, MemoryBytes: 4 << 30}
	small := Node{Name: "large", Role: v1alpha1.RoleServer, MilliCPU: 100, MemoryBytes: 64 << 30}
	for name, tc := range map[string]struct {
		nodes []Node
		want  string
	}{
		"a node with room for everything":             {[]Node{node(8192), generators}, ""},
		"a node of which nobody knows the memory":     {[]Node{node(0), generators}, ""},
		"one that has the server's and no profiler's": {[]Node{node(1400), generators}, "spec.implementations[0].memory is 1Gi: its pod under profiles[calls], with its additional needs, needs 1440Mi of memory on one node, and the largest node for a server with enough CPUs, s, has 1400Mi: lower it, or add a larger node labelled loadstone.dev/role=server"},
		"one that has the first profiler's only":      {[]Node{node(2048), generators}, "profiles[leaks]"},
		"one that has too little for the server":      {[]Node{node(512), generators}, "spec.implementations[0].memory is 1Gi: its pod needs 1088Mi of memory"},
		"a larger one with too few CPUs":              {[]Node{node(512), small, generators}, "the largest node for a server with enough CPUs, s, has 512Mi"},
		"too little for the generators":               {[]Node{node(8192), {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 4000, MemoryBytes: 1 << 20}}, "the pod of generator-0 needs"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Fits(hungry(t, "1Gi"), tc.nodes)
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonNotEnoughMemory || !strings.Contains(v.Message, tc.want)) {
				t.Errorf("got %+v, want %q", v, tc.want)
			}
		})
	}
}

// A run waits for an unavailable node if it lacks the node's memory.
func TestARunWaitsForTheMemoryOfANodeThatIsAway(t *testing.T) {
	away := Node{Name: "large", Role: v1alpha1.RoleServer, MilliCPU: 4000, MemoryBytes: 8 << 30, Away: true}
	nodes := []Node{{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: 4000, MemoryBytes: 1 << 29}, away, {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 4000}}
	if got := Awaits(hungry(t, "1Gi"), nodes); !strings.HasSuffix(got, ": large") {
		t.Errorf("it awaits %q", got)
	}
}
