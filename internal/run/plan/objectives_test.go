package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestObjectivesSpeakOfWhatTheRunMeasures(t *testing.T) {
	const regression = v1alpha1.ObjectiveRegression
	tool := func(tool v1alpha1.Tool) func(*v1alpha1.BenchmarkRunSpec) {
		return func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Tool = tool }
	}
	withAb := func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads = append(s.Loads, v1alpha1.Load{Name: "bench", Tool: v1alpha1.ToolAb, Levels: []v1alpha1.Level{{Connections: 20}}})
	}
	asDuet := func(s *v1alpha1.BenchmarkRunSpec) {
		s.Order = v1alpha1.OrderSlicedDuet
		s.Implementations[1].CPUs, s.Implementations[1].Role = 1, ""
	}
	for name, tc := range map[string]struct {
		objective v1alpha1.Objective
		change    func(*v1alpha1.BenchmarkRunSpec)
		round     bool
		want      string
	}{
		"all levels of all contenders":   {objective: v1alpha1.Objective{Metric: "Throughput", Min: "17000"}},
		"one level of one load":          {objective: v1alpha1.Objective{Metric: "ErrorRate", Max: "0.001", Load: "sweep", Connections: 10, Implementations: []string{"go", "epoll"}}},
		"a regression through a limit":   {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "0.95", Against: v1alpha1.Earlier{Runs: []v1alpha1.PastRun{{UID: "a"}}, Anchor: "epoll"}}},
		"both bounds":                    {objective: v1alpha1.Objective{Metric: "Throughput", Min: "1", Max: "2"}, want: "needs either min or max"},
		"a case of a load":               {objective: v1alpha1.Objective{Metric: "CaseTime", Max: "1"}, want: "spec.objectives[0] bounds a case, and loads have none: bound a metric of loads, or give spec.microbenchmark instead of spec.loads"},
		"a ratio of cases of a load":     {objective: v1alpha1.Objective{Metric: "RatioToBaseline", Of: "CaseBytes", Max: "1"}, want: "bounds a case, and loads have none"},
		"no bound":                       {objective: v1alpha1.Objective{Metric: "Throughput"}, want: "needs either min or max"},
		"a bound that is no number":      {objective: v1alpha1.Objective{Metric: "Throughput", Min: "fast"}, want: `"fast" is not a decimal number`},
		"a bound that nothing can keep":  {objective: v1alpha1.Objective{Metric: "ErrorRate", Max: "0.0"}, want: "give a number above 0"},
		"a share in percent":             {objective: v1alpha1.Objective{Metric: "ErrorRate", Max: "5"}, want: `write 1 % as "0.01"`},
		"an implementation that is none": {objective: v1alpha1.Objective{Metric: "Throughput", Min: "1", Implementations: []string{"go", "rust"}}, want: "spec.objectives[0].implementations[1] is rust"},
		"a load that is none":            {objective: v1alpha1.Objective{Metric: "Throughput", Min: "1", Load: "spike"}, want: "spec.objectives[0].load is spike"},
		"a level that is none":           {objective: v1alpha1.Objective{Metric: "Throughput", Min: "1", Load: "sweep", Connections: 11}, want: "matches no level"},
		"the capacity of a search": {objective: v1alpha1.Objective{Metric: "Capacity", Min: "5000", Load: "sweep"}, change: func(s *v1alpha1.BenchmarkRunSpec) {
			s.Loads[0].Tool = v1alpha1.ToolK6
			s.Loads[0].Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100}
		}},
		"a capacity of levels":  {objective: v1alpha1.Objective{Metric: "Capacity", Min: "5000", Load: "sweep"}, want: `load "sweep" has no search`},
		"a capacity of no load": {objective: v1alpha1.Objective{Metric: "Capacity", Min: "5000"}, want: `load "" has no search`},
		"a most of a capacity":  {objective: v1alpha1.Objective{Metric: "Capacity", Max: "5000", Load: "search"}, want: "give min"},
		"a capacity at a level": {objective: v1alpha1.Objective{Metric: "Capacity", Min: "5000", Load: "search", Connections: 10}, want: "leave out connections"},
		"a rate that is none":   {objective: v1alpha1.Objective{Metric: "Throughput", Min: "1", Load: "sweep", RequestsPerSecond: 5}, want: "matches no level"},
		"the steps of a search": {objective: v1alpha1.Objective{Metric: "Throughput", Min: "1"}, change: func(s *v1alpha1.BenchmarkRunSpec) {
			s.Loads[0].Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100}
		}, want: "matches no level"},
		"the baseline against itself":       {objective: v1alpha1.Objective{Metric: "RatioToBaseline", Of: "Throughput", Min: "1", Implementations: []string{"go"}}, want: "is go, which is not compared with the baseline"},
		"a limit against the baseline":      {objective: v1alpha1.Objective{Metric: "RatioToBaseline", Of: "Throughput", Min: "1", Implementations: []string{"epoll"}}, want: "is epoll, which is not compared"},
		"a baseline alone":                  {objective: v1alpha1.Objective{Metric: "RatioToBaseline", Of: "Throughput", Min: "1"}, change: func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations = s.Implementations[:1] }, want: "only one implementation"},
		"a regression against nothing":      {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1"}, want: "against is not set"},
		"a regression of a lone run":        {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1", Against: v1alpha1.Earlier{LastGood: 3, Anchor: "epoll"}}, want: "spec.objectives[0].against.lastGood needs a BenchmarkSuite: make this run a template of one, or name earlier runs in spec.objectives[0].against.runs"},
		"runs and last good ones":           {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1", Against: v1alpha1.Earlier{Runs: []v1alpha1.PastRun{{UID: "a"}}, LastGood: 3, Anchor: "epoll"}}, round: true, want: "needs either runs or lastGood"},
		"neither runs nor last good ones":   {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1", Against: v1alpha1.Earlier{Anchor: "epoll"}}, want: "needs either runs or lastGood"},
		"no good round yet, and no anchor":  {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1", Against: v1alpha1.Earlier{LastGood: 3, Anchor: "rust"}}, round: true, want: "against.anchor is rust"},
		"an anchor that is none":            {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1", Against: v1alpha1.Earlier{Runs: []v1alpha1.PastRun{{UID: "a"}}, Anchor: "rust"}}, want: "against.anchor is rust"},
		"an anchor that is held to a bound": {objective: v1alpha1.Objective{Metric: regression, Of: "Throughput", Min: "1", Implementations: []string{"epoll"}, Against: v1alpha1.Earlier{Runs: []v1alpha1.PastRun{{UID: "a"}}, Anchor: "epoll"}}, want: "which is the anchor"},
		"a latency of a search": {
			objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99", Max: "5000", Load: "sweep"},
			change: func(s *v1alpha1.BenchmarkRunSpec) {
				s.Loads[0].Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100}
			},
			want: "spec.objectives[0].load is sweep, which has search and therefore no levels: bound its Capacity",
		},
		"the 99.9th percentile of wrk":                {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99.9", Max: "5000"}},
		"the 99.9th percentile of k6":                 {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99.9", Max: "5000"}, change: tool(v1alpha1.ToolK6)},
		"the 99th percentile of ab":                   {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99", Max: "5000"}, change: tool(v1alpha1.ToolAb)},
		"the 99.9th percentile of ab":                 {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99.9", Max: "5000"}, change: tool(v1alpha1.ToolAb), want: "spec.objectives[0].percentile is 99.9, and ab, the tool of spec.loads[0], reports whole percentiles only: choose 99, or name another load in spec.objectives[0].load, or use "},
		"the 99.9th percentile of all loads, ab too":  {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99.9", Max: "5000"}, change: withAb, want: "the tool of spec.loads[1]"},
		"the 99.9th percentile of wrk beside ab":      {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99.9", Max: "5000", Load: "sweep"}, change: withAb},
		"the 99.9th percentile of a level ab has not": {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "99.9", Max: "5000", Load: "bench", Connections: 10}, change: withAb, want: "matches no level"},
		"a percentile in a duet":                      {objective: v1alpha1.Objective{Metric: "LatencyPercentile", Percentile: "50", Max: "5000"}, change: asDuet, want: "spec.objectives[0] bounds a latency, but spec.order SlicedDuet has none"},
		"a mean latency in a duet":                    {objective: v1alpha1.Objective{Metric: "MeanLatency", Max: "5000"}, change: asDuet, want: "bound ServerCPUPerRequest, or choose spec.order Blocks"},
		"a CPU time per request in a duet":            {objective: v1alpha1.Objective{Metric: "ServerCPUPerRequest", Max: "50"}, change: asDuet},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Objectives = []v1alpha1.Objective{tc.objective} })
			if tc.change != nil {
				tc.change(&s)
			}
			_, err := Compile(s, Options{Name: "a", UID: "b", Round: tc.round})
			var v *Violation
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (!errors.As(err, &v) || !strings.Contains(v.Message, tc.want)):
				t.Errorf("got %v, want a violation that says %q", err, tc.want)
			}
		})
	}
}

func TestAnObjectiveThatNothingCanAnswerYetIsLeftOut(t *testing.T) {
	s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Objectives = []v1alpha1.Objective{
			{Metric: v1alpha1.ObjectiveRegression, Of: "Throughput", Min: "0.95", Against: v1alpha1.Earlier{LastGood: 3, Anchor: "epoll"}},
			{Metric: "Throughput", Min: "17000"},
		}
	})
	p, err := Compile(s, Options{Name: "a", UID: "b", Round: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Objectives) != 1 || p.Objectives[0].Metric != v1alpha1.ObjectiveThroughput {
		t.Errorf("the plan has the objectives %+v", p.Objectives)
	}
	const want = "spec.objectives[0] is left out: fewer than three earlier rounds of the suite were good when this one began, too few to compare with"
	if !slices.Contains(p.Notes, want) {
		t.Errorf("the notes are %q", p.Notes)
	}
}
