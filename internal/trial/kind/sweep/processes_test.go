package sweep_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// of is a sweep of servers with two CPUs each, and a generator with three.
func of(servers int, changes ...func(*sweep.Sweep)) sweep.Sweep {
	s := sweep.Sweep{
		Generators: record.Generators{Pods: 1, CPUs: 3},
		Placement:  record.Placement{Pinning: record.Required, GeneratorPinning: record.Required, SeparateNodes: record.Preferred},
	}
	for i := range servers {
		s.Implementations = append(s.Implementations, record.Implementation{
			Name: []string{"go", "epoll"}[i], Image: []string{"go:1", "epoll:1"}[i], Command: []string{"/server"}, Port: int32(8080 + i), CPUs: 2, MemoryBytes: 1 << 28,
		})
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func member(t *testing.T, s sweep.Sweep, name string) kind.Member {
	t.Helper()
	members := s.Members()
	i := slices.IndexFunc(members, func(m kind.Member) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no member is called %s: %q", name, names(members))
	}
	return members[i]
}

func TestAServerOwnsItsCPUsAndADuetSharesOne(t *testing.T) {
	for name, tc := range map[string]struct {
		servers int
		member  string
		milli   int64
		share   kind.CPUShare
		with    string
		port    string
	}{
		"a server alone":       {1, "server-0", 2000, kind.Limited, "", "--port=8080"},
		"the first of a duet":  {2, "server-0", sweep.DuetMilliCPU, kind.Unlimited, "", "--port=8080"},
		"the second of a duet": {2, "server-1", sweep.DuetMilliCPU, kind.Unlimited, "server-0", "--port=8081"},
	} {
		t.Run(name, func(t *testing.T) {
			s := of(tc.servers)
			m := member(t, s, tc.member)
			if m.Role != v1alpha1.RoleServer || m.With != tc.with || len(m.Processes) != 2 {
				t.Fatalf("the member is %+v", m)
			}
			server, observer := m.Processes[0], m.Processes[1]
			if server.MilliCPU != tc.milli || server.CPU != tc.share || server.MemoryBytes != 1<<28 || server.IsAgent() {
				t.Errorf("the server is %+v", server)
			}
			// A whole CPU would be the observer's own; it must use its node's shared ones.
			if observer.MilliCPU%1000 == 0 || observer.CPU != kind.Limited || !observer.IsAgent() || !slices.Contains(observer.Args, tc.port) {
				t.Errorf("the observer is %+v", observer)
			}
		})
	}
}

func TestAGeneratorOwnsItsCPUsUnlessThatIsLeftOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		pinning, apart record.Strictness
		milli          int64
		share          kind.CPUShare
	}{
		"required":               {record.Required, record.Required, 3000, kind.Limited},
		"preferred":              {record.Preferred, record.Preferred, 300, kind.Unlimited},
		"pinned, and not apart":  {record.Required, record.Preferred, 3000, kind.Limited},
		"apart, and not pinned":  {record.Preferred, record.Required, 300, kind.Unlimited},
		"what is not said holds": {"", "", 3000, kind.Limited},
	} {
		t.Run(name, func(t *testing.T) {
			m := member(t, of(1, func(s *sweep.Sweep) { s.Placement.GeneratorPinning, s.Placement.SeparateNodes = tc.pinning, tc.apart }), "generator-0")
			if m.Role != v1alpha1.RoleGenerator || m.Apart != tc.apart || m.With != "" || len(m.Processes) != 1 {
				t.Fatalf("the member is %+v", m)
			}
			if p := m.Processes[0]; p.MilliCPU != tc.milli || p.CPU != tc.share || !p.IsAgent() {
				t.Errorf("the process is %+v", p)
			}
		})
	}
}

func TestAGeneratorHasMemoryForItsLargestShare(t *testing.T) {
	memory := func(cells ...record.Cell) int64 {
		return member(t, of(1, func(s *sweep.Sweep) { s.Cells = cells }), "generator-0").Processes[0].MemoryBytes
	}
	cell := func(connections, generators int32, order record.Order) record.Cell {
		return record.Cell{Tool: record.ToolWrk, Connections: connections, Generators: generators, DurationSeconds: 1, Order: order}
	}
	least := memory()
	for name, tc := range map[string]struct {
		cells []record.Cell
		want  int64
	}{
		"one cell":                {[]record.Cell{cell(1000, 1, "")}, 1000},
		"the largest of some":     {[]record.Cell{cell(10, 1, ""), cell(1000, 1, ""), cell(100, 1, "")}, 1000},
		"a share of a cell":       {[]record.Cell{cell(1000, 3, "")}, 334},
		"both servers of a duet":  {[]record.Cell{cell(1000, 1, record.OrderSlicedDuet)}, 2000},
		"a small cell of a duet":  {[]record.Cell{cell(300, 1, record.OrderSlicedDuet), cell(500, 1, "")}, 600},
		"one that shares nothing": {[]record.Cell{cell(0, 1, "")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := memory(tc.cells...) - least; got != tc.want*tool.ConnectionBytes {
				t.Errorf("it has memory for %d connections, want %d", got/tool.ConnectionBytes, tc.want)
			}
		})
	}
}

func TestASweepIsAskedForWhatItHolds(t *testing.T) {
	s := of(2, func(s *sweep.Sweep) {
		s.Cells = []record.Cell{{Load: "a", Tool: record.ToolWrk, Connections: 1, DurationSeconds: 2}, {Load: "a", Tool: record.ToolWrk, Connections: 2, DurationSeconds: 3}}
	})
	if diff := cmp.Diff(s.Implementations, s.Servers()); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if got := timetable.End(s.Slots()); len(s.Slots()) != 2 || got < 5*time.Second {
		t.Errorf("%d slots end at %s", len(s.Slots()), got)
	}
	if s.EndsItself() {
		t.Error("a server that ends has done its work")
	}
	var m record.TrialManifest
	s.Describe(&m)
	if diff := cmp.Diff(s.Cells, m.Cells); diff != "" {
		t.Errorf("the manifest's cells (-want +got):\n%s", diff)
	}
	targets, scripts := []string{"10.0.0.1:80", "10.0.0.2:80"}, []protocol.Script{{Load: "a", Text: []byte("x")}}
	want := &protocol.Check{Targets: targets, Requests: []record.Request{{}}, Cells: s.Cells, Scripts: scripts}
	if diff := cmp.Diff(want, s.Check(targets, scripts)); diff != "" {
		t.Errorf("the check (-want +got):\n%s", diff)
	}
	if got := (sweep.Kind{}).Type(); got != record.Sweep {
		t.Errorf("the kind is called %s", got)
	}
}
