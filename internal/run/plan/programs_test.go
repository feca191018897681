package plan

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

func programs(deltas ...func(*v1alpha1.BenchmarkRunSpec)) v1alpha1.BenchmarkRunSpec {
	s := v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{
			{Name: "old", Image: "bench:1", Command: []string{"/bench"}, CPUs: 1}, {Name: "new", Image: "bench:2", Command: []string{"/bench"}, CPUs: 2},
		},
		Baseline: "old", Blocks: 3, Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatJSONLines, LimitSeconds: 30},
	}
	for _, d := range deltas {
		d(&s)
	}
	return s
}

func TestTheSizeOfAPlanCountsCellsOnlyWhereThereAreAny(t *testing.T) {
	for name, tc := range map[string]struct {
		spec v1alpha1.BenchmarkRunSpec
		want string
	}{
		"a sweep":  {spec(), "6 trials of 2 cells"},
		"programs": {programs(), "6 trials"},
		"a duet":   {duetSpec(), "3 trials of 2 cells"},
	} {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, tc.spec)
			if p.Size() != tc.want {
				t.Errorf("its size is %q, want %q", p.Size(), tc.want)
			}
			if n := strings.Count(strings.Join(p.Notes, "\n"), p.Size()+"; the order within each block follows from the seed"); n != 1 {
				t.Errorf("its size %q is noted %d times in:\n%s", p.Size(), n, strings.Join(p.Notes, "\n"))
			}
		})
	}
}

func TestTheNotesOfProgramsSpeakOfNoLoad(t *testing.T) {
	p := compiled(t, programs(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks, s.Microbenchmark.LimitSeconds, s.Implementations[0].CPUs = 0, 0, 0
	}))
	notes := strings.Join(p.Notes, "\n")
	for _, want := range []string{
		"spec.blocks defaults to 10", "spec.microbenchmark.limitSeconds defaults to 300", "implementations[old].cpus defaults to 1",
		"implementations[old].memory defaults to 256Mi", "implementations[new].memory defaults to 256Mi", "spec.seed defaults to", "spec.timeoutSeconds defaults to",
		"spec.placement.pinning defaults to Required: a process that does not own its CPUs is void", "20 trials; the order within each block",
	} {
		if strings.Count(notes, want) != 1 {
			t.Errorf("%q is noted %d times in:\n%s", want, strings.Count(notes, want), notes)
		}
	}
	for _, foreign := range []string{"cell", "generator", "load", "separateNodes", "connection", "implementations[new].cpus"} {
		if strings.Contains(notes, foreign) {
			t.Errorf("the notes speak of a %s:\n%s", foreign, notes)
		}
	}
	if p.Placement.Pinning != record.Required || p.Programs.LimitSeconds != 300 {
		t.Errorf("what is noted is not planned: %+v, %+v", p.Placement, p.Programs)
	}
}

func TestWhatIsGivenForProgramsIsNotNotedAsADefault(t *testing.T) {
	p := compiled(t, programs(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Placement.Pinning, s.Seed, s.TimeoutSeconds = v1alpha1.Preferred, 9, 900
	}))
	for _, note := range p.Notes {
		if strings.Contains(note, "defaults to") && !strings.Contains(note, ".memory") {
			t.Errorf("it is noted that %s", note)
		}
	}
	if p.Programs.LimitSeconds != 30 || p.Placement.Pinning != record.Preferred || p.Seed != 9 || p.TimeoutSeconds != 900 {
		t.Errorf("the plan has %+v, %+v, the seed %d and %d s", p.Programs, p.Placement, p.Seed, p.TimeoutSeconds)
	}
}

func TestProgramsAreReckonedByTheirLimit(t *testing.T) {
	short, long := compiled(t, programs()), compiled(t, programs(func(s *v1alpha1.BenchmarkRunSpec) { s.Microbenchmark.LimitSeconds = 330 }))
	if long.TrialSeconds-short.TrialSeconds != 300 || short.TrialSeconds < 30 {
		t.Errorf("a limit of 30 s makes trials of %v s, one of 330 s of %v s", short.TrialSeconds, long.TrialSeconds)
	}
	if long.TimeoutSeconds-short.TimeoutSeconds != 3*6*300 {
		t.Errorf("six trials with 300 s more each raise the timeout from %d to %d s", short.TimeoutSeconds, long.TimeoutSeconds)
	}
}

// The same seed gives the same order of processes, also in a repeat block.
func TestProgramsComeInAnOrderThatFollowsFromTheSeed(t *testing.T) {
	order := func(seed int64) []string {
		var names []string
		for _, line := range compiled(t, programs(func(s *v1alpha1.BenchmarkRunSpec) { s.Seed, s.Blocks = seed, 20 })).Trials {
			if line.Type != record.Microbenchmark || len(line.Servers) != 1 {
				t.Fatalf("%s is a %s of %v", line.Name, line.Type, line.Servers)
			}
			names = append(names, line.Servers[0])
		}
		return names
	}
	if !slices.Equal(order(1), order(1)) || slices.Equal(order(1), order(2)) {
		t.Error("the order does not follow from the seed")
	}
	p := compiled(t, programs())
	repeat := p.Repeat("r", 1)
	if len(repeat) != 2 || repeat[0].Type != record.Microbenchmark || repeat[0].Block != p.Blocks+1 || repeat[0].Index != int32(len(p.Trials)) {
		t.Errorf("the repeat block is %+v", repeat)
	}
}

// Programs need no generator node; each needs one node for it and its collector.
func TestProgramsFitWhereTheLargestHasRoom(t *testing.T) {
	p := compiled(t, programs())
	for name, tc := range map[string]struct {
		nodes []Node
		want  string
	}{
		"one node with room, and none for generators": {nodes: []Node{{Name: "a", Role: v1alpha1.RoleServer, MilliCPU: 2200}}},
		"a node without a label":                      {nodes: []Node{{Name: "a", MilliCPU: 2200}}},
		"room for the program alone":                  {[]Node{{Name: "a", Role: v1alpha1.RoleServer, MilliCPU: 2000}}, "spec.implementations[1].cpus is 2: its pod needs 2200m CPU on one node"},
		"room for the smaller alone":                  {[]Node{{Name: "a", Role: v1alpha1.RoleServer, MilliCPU: 1500}, {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 9000}}, "the largest node for a server, a, has 1500m allocatable"},
		"no node at all":                              {nil, "no node may run a server"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Fits(p, tc.nodes)
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonNotEnoughCPUs || !strings.Contains(v.Message, tc.want)) {
				t.Errorf("got %+v, want %q", v, tc.want)
			}
		})
	}
}

func TestAProgramThatCannotBeIsRefusedBeforeAnythingStarts(t *testing.T) {
	memory := func(text string) func(*v1alpha1.BenchmarkRunSpec) {
		return func(s *v1alpha1.BenchmarkRunSpec) {
			q := resource.MustParse(text)
			s.Implementations[1].Memory = &q
		}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		local  bool
		want   string
	}{
		"memory for no container":        {memory("1Mi"), false, "spec.implementations[1].memory is 1Mi, too little for any container"},
		"memory for no agent":            {memory("31Mi"), false, "spec.implementations[1].memory is 31Mi, and the agent that starts new needs some of it: give at least 32Mi"},
		"memory for both":                {memory("32Mi"), false, ""},
		"no image on a cluster":          {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Image = "" }, false, "spec.implementations[0].image is missing"},
		"no image on this machine":       {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Image = "" }, true, ""},
		"no command on this machine":     {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Command = nil }, true, "spec.implementations[0].command is"},
		"a rate of errors":               {func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxErrorRate = "0.0005" }, false, "spec.validity.maxErrorRate applies to loads"},
		"a share of neighbours":          {func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxNeighbourCPU = "0.1" }, false, ""},
		"a word for the share":           {func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxNeighbourCPU = "NaN" }, false, "spec.validity.maxNeighbourCPU is \"NaN\""},
		"no implementation":              {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations = nil }, false, "spec.implementations is empty"},
		"blocks, which is no duet's own": {func(s *v1alpha1.BenchmarkRunSpec) { s.Order = v1alpha1.OrderBlocks }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(programs(tc.change), Options{Name: "r", UID: "u", Local: tc.local})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTheDefaultOfTheTimeoutIsAWeekAtMost(t *testing.T) {
	p := compiled(t, programs(func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks, s.Microbenchmark.LimitSeconds = 100, 3600 }))
	if p.TimeoutSeconds != MaxTimeoutSeconds || !strings.Contains(strings.Join(p.Notes, " "), "spec.timeoutSeconds defaults to 604800: the longest that a run may take") {
		t.Errorf("%d s, with the notes %q", p.TimeoutSeconds, p.Notes)
	}
}
