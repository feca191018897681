package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func compiled(t *testing.T, s v1alpha1.BenchmarkRunSpec) Plan {
	t.Helper()
	p, err := Compile(s, Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARunThatMayEndEarlyIsAnalysedBeforeItsLastBlock(t *testing.T) {
	for blocks, want := range map[int32][]int32{7: {}, 10: {}, 11: {10}, 20: {10}, 21: {10, 20}, 30: {10, 20}, 31: {10, 20, 30}, 100: {10, 20, 30}} {
		if got := InterimBlocks(blocks); !slices.Equal(got, want) {
			t.Errorf("a run of %d blocks is analysed after %d, want %d", blocks, got, want)
		}
	}
	for name, tc := range map[string]struct {
		stop v1alpha1.Stop
		want []int32
		wide string
	}{
		"a run that may not": {},
		"a run that may":     {v1alpha1.Stop{MaxWidth: "0.02"}, []int32{10, 20}, "0.02"},
	} {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks, s.Stop = 25, tc.stop }))
			if !slices.Equal(p.Interim, tc.want) || p.MaxWidth != tc.wide {
				t.Errorf("analysed after %d with a width of %q; want %d, %q", p.Interim, p.MaxWidth, tc.want, tc.wide)
			}
		})
	}
}

func TestASpecCanTightenTheLimitsOfValidity(t *testing.T) {
	for text, want := range map[string]float64{"": 0.001, "0": 0, "0.0005": 0.0005} {
		p := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxErrorRate = text }))
		if p.Validity.MaxErrorRate != want {
			t.Errorf("an error rate of %q is planned as %v, want %v", text, p.Validity.MaxErrorRate, want)
		}
	}
	if p := compiled(t, spec()); p.Validity.MaxSteal != MaxSteal {
		t.Errorf("without a limit of steal it is %v, want %v", p.Validity.MaxSteal, MaxSteal)
	}
}

func TestAPlanFindsItsImplementationsByName(t *testing.T) {
	p := compiled(t, spec())
	for _, want := range p.Implementations {
		if diff := cmp.Diff(want, p.Implementation(want.Name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, diff)
		}
	}
	if got := p.Implementation("epoll"); got.CPUs != 2 || got.Port != 8081 || got.MemoryBytes != DefaultMemoryBytes {
		t.Errorf("epoll is planned as %+v", got)
	}
}

func TestAnEstimateGrowsWithTheTrials(t *testing.T) {
	p := Plan{Plan: record.Plan{TrialSeconds: 10.5}}
	if none := p.Estimate(0); none != 0 {
		t.Errorf("no trial takes %s", none)
	}
	if one, ten := p.Estimate(1), p.Estimate(10); ten != 10*one || one < 10500*time.Millisecond {
		t.Errorf("one trial takes %s, ten take %s", one, ten)
	}
}

func TestATrialOnOneMachineIsReckonedToCostLess(t *testing.T) {
	for name, tc := range map[string]struct {
		local bool
		want  time.Duration
	}{
		"on a cluster":   {false, 10*time.Second + 4*TrialOverhead},
		"on one machine": {true, 10*time.Second + 4*LocalTrialOverhead},
	} {
		p := Plan{Local: tc.local, Plan: record.Plan{TrialSeconds: 2.5}}
		if got := p.Estimate(4); got != tc.want {
			t.Errorf("four trials %s take %s, want %s", name, got, tc.want)
		}
	}
}

// All others are compared with the baseline; the default is the first implementation.
func TestASpecWithoutABaselineHasItsFirstImplementation(t *testing.T) {
	for given, want := range map[string]string{"": "go", "go": "go", "epoll": "epoll"} {
		if p := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Baseline = given })); p.Baseline != want {
			t.Errorf("with the baseline %q the plan has %q, want %q", given, p.Baseline, want)
		}
	}
}

func TestTheLargestLoadDecidesTheGenerators(t *testing.T) {
	for name, tc := range map[string]struct {
		given []v1alpha1.Generators
		want  record.Generators
	}{
		"none given":                   {[]v1alpha1.Generators{{}}, record.Generators{Pods: 1, CPUs: 1}},
		"one load of two pods":         {[]v1alpha1.Generators{{Pods: 2}}, record.Generators{Pods: 2, CPUs: 1}},
		"pods of one, CPUs of another": {[]v1alpha1.Generators{{Pods: 2}, {CPUs: 5}}, record.Generators{Pods: 2, CPUs: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) {
				like := s.Loads[0]
				s.Loads = nil
				for i, g := range tc.given {
					l := like
					l.Name, l.Generators = string(rune('a'+i)), g
					s.Loads = append(s.Loads, l)
				}
			}))
			if p.Generators != tc.want {
				t.Errorf("the run needs %+v, want %+v", p.Generators, tc.want)
			}
			for i, c := range p.Cells {
				own := tc.given[i/2]
				if c.Generators != max(own.Pods, 1) || c.Threads != max(own.CPUs, 1) {
					t.Errorf("cell %d has %d generators of %d threads, the load asks for %+v", i, c.Generators, c.Threads, own)
				}
			}
		})
	}
}

func TestASearchIsACellAStep(t *testing.T) {
	for name, tc := range map[string]struct {
		given v1alpha1.Search
		want  record.Search
	}{
		"every default": {
			v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100},
			record.Search{Percentile: 99, MaxMilliseconds: 100, StartRequestsPerSecond: sweep.DefaultSearchStart, Steps: sweep.DefaultSearchSteps},
		},
		"everything given": {
			v1alpha1.Search{Percentile: 90, MaxMilliseconds: 60, StartRequestsPerSecond: 700, Steps: 4},
			record.Search{Percentile: 90, MaxMilliseconds: 60, StartRequestsPerSecond: 700, Steps: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, spec(func(s *v1alpha1.BenchmarkRunSpec) {
				s.Loads[0].Tool, s.Loads[0].Levels, s.Loads[0].Search = v1alpha1.ToolK6, s.Loads[0].Levels[:1], tc.given
			}))
			if len(p.Cells) != int(tc.want.Steps) {
				t.Fatalf("%d cells, want one for each of %d steps", len(p.Cells), tc.want.Steps)
			}
			for i, c := range p.Cells {
				if c.Step != int32(i+1) || c.RequestsPerSecond != 0 || c.Connections != 10 {
					t.Errorf("cell %d is step %d with %d connections at %d requests/s", i, c.Step, c.Connections, c.RequestsPerSecond)
				}
				if diff := cmp.Diff(&tc.want, c.Search); diff != "" {
					t.Errorf("cell %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestAViolationIsItsSentence(t *testing.T) {
	v := &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.loads is wrong"}
	if v.Error() != v.Message {
		t.Errorf("the error is %q", v.Error())
	}
}

func TestEveryDefaultIsNoted(t *testing.T) {
	p := compiled(t, v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}},
		Loads:           []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}}}},
	})
	notes := strings.Join(p.Notes, "\n")
	for _, field := range []string{
		"spec.blocks", "spec.seed", "spec.timeoutSeconds", "spec.placement.pinning", "spec.placement.separateNodes", "implementations[go].cpus",
		"implementations[go].memory", "loads[sweep].warmupSeconds", "loads[sweep].durationSeconds", "loads[sweep].request.expect.body",
	} {
		if strings.Count(notes, field) != 1 {
			t.Errorf("%s is noted %d times in:\n%s", field, strings.Count(notes, field), notes)
		}
	}
}

func TestEveryTrialOfACompiledPlanMeasuresItsServers(t *testing.T) {
	for name, s := range map[string]v1alpha1.BenchmarkRunSpec{"blocks": spec(), "a duet": duetSpec()} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(s, Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			for _, trial := range p.Trials {
				got, ok := kinds.Planned(p.Plan, trial).(sweep.Sweep)
				if !ok {
					t.Fatalf("%s is no sweep", trial.Name)
				}
				var servers []string
				for _, server := range got.Implementations {
					servers = append(servers, server.Name)
				}
				if diff := cmp.Diff(trial.Servers, servers); diff != "" || got.Duet() != (len(trial.Servers) == 2) {
					t.Errorf("%s, a duet: %v (-want +got):\n%s", trial.Name, got.Duet(), diff)
				}
				cells := slices.SortedFunc(slices.Values(got.Cells), func(a, b record.Cell) int { return int(a.Connections - b.Connections) })
				if diff := cmp.Diff(p.Cells, cells); diff != "" {
					t.Errorf("%s (-want +got):\n%s", trial.Name, diff)
				}
			}
		})
	}
}

func TestAPlanFindsTheLineOfEachTrial(t *testing.T) {
	p, err := Compile(duetSpec(), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	p.Following = []record.PlannedTrial{{Name: "r-p00-a", Index: 70}, {Name: "r-p01-b", Index: 71}}
	for _, line := range slices.Concat(p.Trials, p.Repeat("r", 1), p.Repeat("r", 3), p.Following) {
		got, found := p.Line("r", line.Name, line.Index, line.Block)
		if diff := cmp.Diff(line, got); diff != "" || !found {
			t.Errorf("%s is found %v (-want +got):\n%s", line.Name, found, diff)
		}
	}
	first := p.Trials[0]
	for name, found := range map[string]bool{
		"another name":  ok(p.Line("r", "r-000-other", first.Index, first.Block)),
		"another index": ok(p.Line("r", first.Name, first.Index+1, first.Block)),
		"another block": ok(p.Line("r", first.Name, first.Index, first.Block+1)),
		"no block":      ok(p.Line("r", first.Name, first.Index, 0)),
		"an empty plan": ok(Plan{}.Line("r", first.Name, first.Index, first.Block)),
	} {
		if found {
			t.Errorf("a trial of %s is found", name)
		}
	}
}

func ok(_ record.PlannedTrial, found bool) bool { return found }

func TestNetworkOfTheMachineIsRefusedOnACluster(t *testing.T) {
	s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Placement.Network = v1alpha1.NetworkHost
		for i := range s.Implementations {
			s.Implementations[i].Command = []string{"./a"}
		}
	})
	for local, want := range map[bool]string{true: "", false: "spec.placement.network works on one machine only: remove it"} {
		if _, err := Compile(s, Options{Name: "r", UID: "u", Local: local}); (err == nil) != local || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("local: %t: got %v, want %q", local, err, want)
		}
	}
}

func TestOnlyARunOnAClusterCanBeSuspended(t *testing.T) {
	for name, tc := range map[string]struct {
		suspend *bool
		opts    Options
		want    string
	}{
		"a run on a cluster":                      {suspend: new(true)},
		"a run of a round that somebody suspends": {suspend: new(true), opts: Options{Round: true}},
		"a template of a suite":                   {suspend: new(true), opts: Options{Round: true, Template: true}, want: "spec.suspend is true, and the runs of a suite are made when their round begins"},
		"a run on one machine":                    {suspend: new(true), opts: Options{Local: true}, want: "spec.suspend is true, and a run on one machine begins when it is started"},
		"one there that says it is not":           {suspend: new(false), opts: Options{Local: true}},
	} {
		s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
			s.Suspend = tc.suspend
			for i := range s.Implementations {
				s.Implementations[i].Command = []string{"./a"}
			}
		})
		tc.opts.Name, tc.opts.UID = "r", "u"
		p, err := Compile(s, tc.opts)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
		s.Suspend = nil
		if same, _ := Compile(s, tc.opts); err == nil && same.Hash() != p.Hash() {
			t.Errorf("%s: it measures something else when it is resumed", name)
		}
	}
}

func TestAnImplementationNeedsWhatItIsStartedBy(t *testing.T) {
	for name, tc := range map[string]struct {
		image   string
		command []string
		local   bool
		want    string
	}{
		"a cluster has its image":       {image: "a:1"},
		"a cluster has no image":        {command: []string{"/a"}, want: "spec.implementations[0].image is missing"},
		"this machine has its command":  {command: []string{"./a"}, local: true},
		"this machine has its image":    {image: "a:1", local: true},
		"this machine has nothing":      {local: true, want: "spec.implementations[0].command is missing"},
		"a cluster has no such file":    {image: "./a.tar", want: "spec.implementations[0].image is ./a.tar, a file of one machine"},
		"this machine needs no image":   {command: []string{"./a"}, local: true},
		"a cluster ignores the command": {image: "a:1", command: []string{"/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
				for i := range s.Implementations {
					s.Implementations[i].Image, s.Implementations[i].Command = tc.image, tc.command
				}
			})
			_, err := Compile(s, Options{Name: "r", UID: "u", Local: tc.local})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
