package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// asking requests a resource; an amount of "" leaves it out.
func asking(name, amount string) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		own := v1alpha1.ResourceAmount{Name: name}
		if amount != "" {
			q := resource.MustParse(amount)
			own.Amount = &q
		}
		s.Implementations[0].Resources = append(s.Implementations[0].Resources, own)
	}
}

func TestResourcesAreThoseThatNodesOfferInWholeNumbers(t *testing.T) {
	for name, tc := range map[string]struct{ resource, amount, want string }{
		"huge pages":                  {"hugepages-2Mi", "64Mi", ""},
		"a device":                    {"nvidia.com/gpu", "2", ""},
		"a device, without an amount": {"nvidia.com/gpu", "", ""},
		"CPUs":                        {"cpu", "2", "spec.implementations[0].resources[0].name is cpu, which has a dedicated field: set cpus"},
		"memory":                      {"memory", "1Gi", "name is memory, which has a dedicated field: set memory"},
		"disk":                        {"ephemeral-storage", "1Gi", "name is ephemeral-storage, which has a dedicated field: set the size of a folder of scratch"},
		"a word":                      {"gpu", "1", `resources[0].name is "gpu", which no node offers: give hugepages- and a size, such as hugepages-2Mi, or a name with a domain, such as nvidia.com/gpu`},
		"half a device":               {"nvidia.com/gpu", "500m", "resources[0].amount is 500m, and a container gets a whole number of nvidia.com/gpu: give 1 or more"},
		"no device":                   {"nvidia.com/gpu", "0", "amount is 0, and a container gets a whole number"},
		"fewer devices than none":     {"nvidia.com/gpu", "-1", "amount is -1, and a container gets a whole number"},
		"a part of a huge page":       {"hugepages-2Mi", "3Mi", "resources[0].amount is 3Mi, and huge pages have 2Mi each: give a multiple of it"},
		"huge pages without an amount": {
			"hugepages-1Gi", "", "resources[0].amount is 1, and huge pages have 1Gi each: give a multiple of it",
		},
		"huge pages of no size": {"hugepages-large", "64Mi", `resources[0].name ends in "large", which is no size of pages`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(spec(asking(tc.resource, tc.amount)), Options{Name: "r", UID: "u"})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	s := spec(asking("nvidia.com/gpu", "1"), func(s *v1alpha1.BenchmarkRunSpec) {
		for i := range s.Implementations {
			s.Implementations[i].Command = []string{"./server"}
		}
	})
	if _, err := Compile(s, Options{Name: "r", UID: "u", Local: true}); err == nil || !strings.Contains(err.Error(), "spec.implementations[0].resources works on clusters only") {
		t.Errorf("on one machine: %v", err)
	}
}

func TestARunIsRefusedWhereNoNodeHasItsResources(t *testing.T) {
	node := func(milliCPU int64, has map[string]int64) Node {
		return Node{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: milliCPU, Resources: has}
	}
	const enough = 4000
	for name, tc := range map[string]struct {
		nodes []Node
		want  string
	}{
		"a node with all":             {[]Node{node(enough, map[string]int64{"hugepages-2Mi": 64 << 20, "nvidia.com/gpu": 1})}, ""},
		"a node with all but a GPU":   {[]Node{node(enough, map[string]int64{"hugepages-2Mi": 64 << 20})}, "spec.implementations[0].resources: its pod needs 64 MiB of hugepages-2Mi and 1 of nvidia.com/gpu on one node with CPUs enough, and no node for a server has that (at most: 64 MiB of hugepages-2Mi, 0 of nvidia.com/gpu): request less, add it to a node, or label one that has it with loadstone.dev/role=server"},
		"a node with too few pages":   {[]Node{node(enough, map[string]int64{"hugepages-2Mi": 32 << 20, "nvidia.com/gpu": 1})}, "at most: 32 MiB of hugepages-2Mi"},
		"one node with each":          {[]Node{node(enough, map[string]int64{"hugepages-2Mi": 64 << 20}), node(enough, map[string]int64{"nvidia.com/gpu": 1})}, "no node for a server has that"},
		"all where there are no CPUs": {[]Node{node(enough, nil), node(100, map[string]int64{"hugepages-2Mi": 64 << 20, "nvidia.com/gpu": 1})}, "on one node with CPUs enough"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(spec(asking("hugepages-2Mi", "64Mi"), asking("nvidia.com/gpu", "")), Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			v := Fits(p, append(tc.nodes, Node{Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: enough}))
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonNotEnoughResources || !strings.Contains(v.Message, tc.want)) {
				t.Errorf("got %+v, want %q", v, tc.want)
			}
		})
	}
}

// The blocks share the node of the first trial, whichever implementation it measures.
func TestOneNodeHasTheResourcesOfAllServersOfARun(t *testing.T) {
	node := func(name string, milliCPU int64, has map[string]int64) Node {
		return Node{Name: name, MilliCPU: milliCPU, Resources: has}
	}
	also := func(name string, amount int64) func(*v1alpha1.BenchmarkRunSpec) {
		return func(s *v1alpha1.BenchmarkRunSpec) {
			s.Implementations[1].Resources = []v1alpha1.ResourceAmount{{Name: name, Amount: resource.NewQuantity(amount, resource.BinarySI)}}
		}
	}
	nothing := func(*v1alpha1.BenchmarkRunSpec) {}
	apart := func(s *v1alpha1.BenchmarkRunSpec) {
		s.Placement.SeparateNodes, s.Loads[0].Generators.CPUs = v1alpha1.Required, 5
	}
	const gpu, pages = "nvidia.com/gpu", "hugepages-2Mi"
	withPages, withGPU, withBoth := map[string]int64{pages: 64 << 20}, map[string]int64{gpu: 1}, map[string]int64{pages: 64 << 20, gpu: 1}
	for name, tc := range map[string]struct {
		change       func(*v1alpha1.BenchmarkRunSpec)
		nodes        []Node
		reason, want string
	}{
		"one node with all":                   {also(gpu, 1), []Node{node("a", 4000, withPages), node("b", 4000, withBoth)}, "", ""},
		"each asks for all that one node has": {also(pages, 64<<20), []Node{node("a", 4000, withPages)}, "", ""},
		"a node for each": {
			also(gpu, 1),
			[]Node{node("a", 4000, withPages), node("b", 4000, withGPU)},
			v1alpha1.ReasonNotEnoughResources,
			"spec.implementations[0].resources and spec.implementations[1].resources: the run needs 64 MiB of hugepages-2Mi and 1 of nvidia.com/gpu on one node with 2200m CPU, where all its blocks are measured, and no node for a server has that",
		},
		"one node has the pages, and another the CPUs of the other server": {
			nothing,
			[]Node{node("a", 1200, withPages), node("b", 4000, nil)},
			v1alpha1.ReasonNotEnoughResources,
			"spec.implementations[0].resources: the run needs 64 MiB of hugepages-2Mi on one node with 2200m CPU, where all its blocks are measured",
		},
		"generators have no room but on the only node with the pages": {
			apart, []Node{node("a", 2200, nil), node("b", 6000, withPages)}, v1alpha1.ReasonNotEnoughCPUs, "apart from the servers, a, has 2200m allocatable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(spec(asking(pages, "64Mi"), tc.change), Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			v := Fits(p, tc.nodes)
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != tc.reason || !strings.Contains(v.Message, tc.want)) {
				t.Errorf("got %+v, want %q", v, tc.want)
			}
		})
	}
}

func TestARunWithoutResourcesNamesTheFieldsThatAsk(t *testing.T) {
	depend := func(s *v1alpha1.BenchmarkRunSpec) {
		amount := resource.MustParse("64Mi")
		pages := v1alpha1.ContainerSettings{Resources: []v1alpha1.ResourceAmount{{Name: "hugepages-2Mi", Amount: &amount}}}
		s.Implementations[0].Dependencies = []v1alpha1.Dependency{{Name: "queue", Image: "queue:1"}, {Name: "db", Image: "db:1", ContainerSettings: pages}}
	}
	duet := func(s *v1alpha1.BenchmarkRunSpec) {
		amount := resource.MustParse("2Mi")
		*s = duetSpec()
		s.Implementations[1].Resources = []v1alpha1.ResourceAmount{{Name: "hugepages-2Mi", Amount: &amount}}
	}
	for name, tc := range map[string]struct {
		changes []func(*v1alpha1.BenchmarkRunSpec)
		want    string
	}{
		"a server":     {[]func(*v1alpha1.BenchmarkRunSpec){asking("hugepages-2Mi", "64Mi")}, "spec.implementations[0].resources: its pod needs 64 MiB of hugepages-2Mi on one node"},
		"a dependency": {[]func(*v1alpha1.BenchmarkRunSpec){depend}, "spec.implementations[0].dependencies[1].resources: its pod needs 64 MiB of hugepages-2Mi on one node"},
		"a server and its dependency": {
			[]func(*v1alpha1.BenchmarkRunSpec){depend, asking("hugepages-2Mi", "64Mi")},
			"spec.implementations[0].resources and spec.implementations[0].dependencies[1].resources: together they need 128 MiB of hugepages-2Mi on one node",
		},
		"both servers of a duet": {
			[]func(*v1alpha1.BenchmarkRunSpec){duet, asking("hugepages-2Mi", "64Mi")},
			"spec.implementations[0].resources and spec.implementations[1].resources: together they need 66 MiB of hugepages-2Mi on one node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(spec(tc.changes...), Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			if v := Fits(p, []Node{{Name: "a", MilliCPU: 8000}}); v == nil || !strings.HasPrefix(v.Message, tc.want) {
				t.Errorf("got %+v, want %q", v, tc.want)
			}
		})
	}
}
