package sweep_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func TestMembersAreGeneratorsThenServers(t *testing.T) {
	for name, tc := range map[string]struct {
		generators, servers int
		want                []string
	}{
		"one generator":      {1, 1, []string{"generator-0", "server-0"}},
		"several generators": {3, 1, []string{"generator-0", "generator-1", "generator-2", "server-0"}},
		"a duet":             {1, 2, []string{"generator-0", "server-0", "server-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sweep.Sweep{Generators: record.Generators{Pods: int32(tc.generators)}, Implementations: make([]record.Implementation, tc.servers)}
			if diff := cmp.Diff(tc.want, names(s.Members())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDependenciesBelongToTheMemberOfTheirServer(t *testing.T) {
	own := record.Implementation{Name: "go", CPUs: 1, Dependencies: []record.Dependency{
		{Name: "db", Image: "postgres:16", Port: 5432, MilliCPU: 2000, MemoryBytes: 1 << 30}, {Name: "cache", Image: "redis:7", MilliCPU: 300, MemoryBytes: 64 << 20},
	}}
	members := sweep.Sweep{Generators: record.Generators{Pods: 1}, Implementations: []record.Implementation{own}}.Members()
	server := members[len(members)-1]
	var processes, dependencies []string
	for _, p := range server.Processes {
		processes, dependencies = append(processes, p.Name), append(dependencies, p.Dependency)
	}
	if diff := cmp.Diff([]string{"server", "observer", "dep-db", "dep-cache"}, processes); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "", "db", "cache"}, dependencies); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	if got := server.MilliCPU(); got != 1000+sweep.ObserverMilliCPU+2300 {
		t.Errorf("the member asks for %dm CPU", got)
	}
	if args := server.Processes[1].Args; !slices.Contains(args, "--dependency=db") || !slices.Contains(args, "--dependency=cache") {
		t.Errorf("the observer is told %v", args)
	}
}

func TestACheckSendsOneRequestOfEachKind(t *testing.T) {
	one, other := "one", "other"
	cell := func(path string, status int32, body *string) record.Cell {
		c := record.Cell{}
		c.Request.Path, c.Request.Expect.Status, c.Request.Expect.Body = path, status, body
		return c
	}
	copied := one
	scripted := cell("/mine", 200, nil)
	scripted.Script = &record.Script{}
	cells := []record.Cell{
		cell("/", 200, nil), cell("/", 200, nil), cell("/other", 200, nil), cell("/", 404, nil),
		cell("/", 200, &one), cell("/", 200, &copied), cell("/", 200, &other), scripted,
	}
	want := []record.Request{cells[0].Request, cells[2].Request, cells[3].Request, cells[4].Request, cells[6].Request}
	if diff := cmp.Diff(want, sweep.Requests(cells)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := sweep.Requests([]record.Cell{scripted}); got != nil {
		t.Errorf("of a script it sends %v", got)
	}
}

func names(members []kind.Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}
