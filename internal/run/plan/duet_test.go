package plan

import (
	"errors"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func duetSpec(deltas ...func(*v1alpha1.BenchmarkRunSpec)) v1alpha1.BenchmarkRunSpec {
	s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Order = v1alpha1.OrderSlicedDuet
		s.Implementations[1].CPUs, s.Implementations[1].Role = 1, ""
	})
	for _, d := range deltas {
		d(&s)
	}
	return s
}

func TestCompileMatchesTheGoldenPlanOfADuet(t *testing.T) {
	golden(t, "duet.json", duetSpec(), "duet")
}

func TestADuetIsOneTrialABlockAndDrawsWhoIsStartedFirst(t *testing.T) {
	p, err := Compile(duetSpec(func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 50 }), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]int{}
	for i, trial := range p.Trials {
		if trial.Block != int32(i+1) || trial.Index != int32(i) || len(trial.Servers) != 2 || trial.Servers[0] == trial.Servers[1] {
			t.Fatalf("trial %d is %+v", i, trial)
		}
		first[trial.Servers[0]]++
	}
	// Of 50 fair coins, fewer than 10 heads or tails occur once in 100,000 tries.
	if len(p.Trials) != 50 || first["go"] < 10 || first["epoll"] < 10 {
		t.Errorf("%d trials, started first: %v", len(p.Trials), first)
	}
	if repeat := p.Repeat("r", 1); len(repeat) != 1 || repeat[0].Block != 51 || repeat[0].Index != 50 {
		t.Errorf("the repeat block is %+v", repeat)
	}
}

func TestWhatADuetCannotMeasureIsRefused(t *testing.T) {
	load := func(change func(*v1alpha1.Load)) func(*v1alpha1.BenchmarkRunSpec) {
		return func(s *v1alpha1.BenchmarkRunSpec) { change(&s.Loads[0]) }
	}
	for name, tc := range map[string]struct {
		delta func(*v1alpha1.BenchmarkRunSpec)
		want  string
	}{
		"three implementations": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Implementations = append(s.Implementations, v1alpha1.Implementation{Name: "x"})
			},
			"spec.implementations has 3: create a run for each pair",
		},
		"a server of two CPUs": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].CPUs = 2 },
			"spec.implementations[0].cpus is 2, but the servers of spec.order SlicedDuet share one CPU: make it 1",
		},
		"a limit": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Role = v1alpha1.RoleReference },
			"spec.implementations[1].role is Reference",
		},
		"another tool":                  {load(func(l *v1alpha1.Load) { l.Tool = v1alpha1.ToolAb }), "spec.loads[0].tool is ab, which cannot be paused as spec.order SlicedDuet pauses it: choose spec.order Blocks, or use wrk"},
		"a connection a request":        {load(func(l *v1alpha1.Load) { l.Connection = v1alpha1.PerRequest }), "spec.loads[0].connection is PerRequest"},
		"several generator pods":        {load(func(l *v1alpha1.Load) { l.Generators.Pods = 2 }), "spec.loads[0].generators.pods is 2"},
		"a script":                      {load(func(l *v1alpha1.Load) { l.Script = v1alpha1.Script{ConfigMap: "a", Key: "b"} }), "spec.loads[0].script is set"},
		"a search":                      {load(func(l *v1alpha1.Load) { l.Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100} }), "spec.loads[0].search is set"},
		"an arrival rate, second level": {load(func(l *v1alpha1.Load) { l.Levels[1].RequestsPerSecond = 7 }), "spec.loads[0].levels[1].requestsPerSecond is 7"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(duetSpec(tc.delta), Options{Name: "r", UID: "u"})
			var v *Violation
			if !errors.As(err, &v) || v.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(v.Message, tc.want) {
				t.Errorf("got %v, want a violation that says %q", err, tc.want)
			}
		})
	}
}

func TestADuetFitsWhereOneNodeHasRoomForBoth(t *testing.T) {
	p, err := Compile(duetSpec(), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		nodes []Node
		want  string
	}{
		"room for both":             {nodes: []Node{{Name: "s", Role: "server", MilliCPU: 1200}, {Name: "g", Role: "generator", MilliCPU: 1000}}},
		"room for one on each":      {nodes: []Node{{Name: "s", Role: "server", MilliCPU: 1199}, {Name: "s2", Role: "server", MilliCPU: 1199}, {Name: "g", Role: "generator", MilliCPU: 1000}}, want: "spec.order is SlicedDuet: its two servers need 1200m CPU on one node, and the largest node for a server, s, has 1199m"},
		"no room for the generator": {nodes: []Node{{Name: "s", Role: "server", MilliCPU: 1200}, {Name: "g", Role: "generator", MilliCPU: 999}}, want: "spec.loads[].generators.cpus is 1"},
		"no node at all":            {want: "label one with loadstone.dev/role=server"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if v := Fits(p, tc.nodes); v != nil {
				got = v.Message
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
