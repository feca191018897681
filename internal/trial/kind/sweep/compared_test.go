package sweep

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestWeights(t *testing.T) {
	load := func(name, weight string) v1alpha1.Load {
		return v1alpha1.Load{Name: name, Weight: weight, Levels: []v1alpha1.Level{{Connections: 1}}}
	}
	search := func(weight string) v1alpha1.Load {
		l := load("s", weight)
		l.Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100}
		return l
	}
	for name, tc := range map[string]struct {
		loads []v1alpha1.Load
		// want is part of the message; empty if the weights are valid.
		want string
	}{
		"no weights at all":              {loads: []v1alpha1.Load{load("a", ""), load("b", "")}},
		"two that add up to 1":           {loads: []v1alpha1.Load{load("a", "0.25"), load("b", "0.75")}},
		"three thirds":                   {loads: []v1alpha1.Load{load("a", "0.333"), load("b", "0.333"), load("c", "0.333")}},
		"a search needs none":            {loads: []v1alpha1.Load{load("a", "0.5"), load("b", "0.5"), search("")}},
		"they add up to less":            {loads: []v1alpha1.Load{load("a", "0.25"), load("b", "0.25")}, want: "add up to 0.5: make them add up to 1"},
		"they add up to more":            {loads: []v1alpha1.Load{load("a", "0.9"), load("b", "0.25")}, want: "add up to 1.15"},
		"one is missing":                 {loads: []v1alpha1.Load{load("a", "0.9"), load("b", "")}, want: "spec.loads[1].weight is not set"},
		"one is 0":                       {loads: []v1alpha1.Load{load("a", "0"), load("b", "1")}, want: "spec.loads[0].weight is \"0\""},
		"one is no number":               {loads: []v1alpha1.Load{load("a", "half"), load("b", "1")}, want: "spec.loads[0].weight is \"half\""},
		"a search has one":               {loads: []v1alpha1.Load{load("a", "0.5"), search("0.5")}, want: "spec.loads[1].weight does not apply to a load with search"},
		"a single load has one":          {loads: []v1alpha1.Load{load("a", "1")}, want: "has no effect"},
		"a single load beside a search":  {loads: []v1alpha1.Load{load("a", "1"), search("")}, want: "has no effect"},
		"more than one whole is refused": {loads: []v1alpha1.Load{load("a", "1.5"), load("b", "0.5")}, want: "at most 1"},
	} {
		t.Run(name, func(t *testing.T) {
			v := checkWeights(v1alpha1.BenchmarkRunSpec{Loads: tc.loads})
			switch {
			case tc.want == "" && v != nil:
				t.Errorf("refused: %s", v.Message)
			case tc.want != "" && (v == nil || !strings.Contains(v.Message, tc.want)):
				t.Errorf("got %v, want a sentence with %q", v, tc.want)
			}
		})
	}
}

func TestARatioOfThroughputsAtAnImposedRateIsRefused(t *testing.T) {
	spec := v1alpha1.BenchmarkRunSpec{Loads: []v1alpha1.Load{
		{Name: "closed", Levels: []v1alpha1.Level{{Connections: 10}}},
		{Name: "open", Levels: []v1alpha1.Level{{Connections: 10, RequestsPerSecond: 500}}},
	}}
	for name, tc := range map[string]struct {
		objective v1alpha1.Objective
		refused   bool
	}{
		"of all loads":         {v1alpha1.Objective{Of: v1alpha1.ComparedThroughput}, true},
		"of the imposed rate":  {v1alpha1.Objective{Of: v1alpha1.ComparedThroughput, Load: "open"}, true},
		"of the closed load":   {v1alpha1.Objective{Of: v1alpha1.ComparedThroughput, Load: "closed"}, false},
		"of the CPU time":      {v1alpha1.Objective{Of: v1alpha1.ComparedServerCPUPerRequest, Load: "open"}, false},
		"of no ratio":          {v1alpha1.Objective{Metric: v1alpha1.ObjectiveThroughput, Load: "open"}, false},
		"of a latency":         {v1alpha1.Objective{Of: v1alpha1.ComparedLatencyPercentile, Percentile: "99", Load: "open"}, false},
		"of another rate only": {v1alpha1.Objective{Of: v1alpha1.ComparedThroughput, Load: "open", RequestsPerSecond: 100}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if v := checkAnswer(spec, tc.objective, 3); (v != nil) != tc.refused || v != nil && !strings.Contains(v.Message, "spec.objectives[3]") {
				t.Errorf("got %v", v)
			}
		})
	}
}

func TestComparedPercentilesAreThoseThatEveryLoadHas(t *testing.T) {
	for name, tc := range map[string]struct {
		percentiles []string
		tool        v1alpha1.Tool
		order       v1alpha1.Order
		want        string
	}{
		"none named, with ab":        {tool: v1alpha1.ToolAb},
		"none named, in a duet":      {tool: v1alpha1.ToolWrk, order: v1alpha1.OrderSlicedDuet},
		"some of wrk":                {percentiles: []string{"50", "99.9"}, tool: v1alpha1.ToolWrk},
		"whole percents of ab":       {percentiles: []string{"90", "99"}, tool: v1alpha1.ToolAb},
		"a tenth of a percent of ab": {percentiles: []string{"50", "99.9"}, tool: v1alpha1.ToolAb, want: "spec.latencyPercentiles[1] is 99.9, and ab, the tool of spec.loads[0], reports whole percentiles only: choose 99, or use h2load, k6 or wrk"},
		"some in a duet":             {percentiles: []string{"50"}, tool: v1alpha1.ToolWrk, order: v1alpha1.OrderSlicedDuet, want: "spec.order SlicedDuet has none"},
		"one that is never known":    {percentiles: []string{"98"}, tool: v1alpha1.ToolWrk, want: "spec.latencyPercentiles[0] is 98: choose from 50, 90"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := v1alpha1.BenchmarkRunSpec{LatencyPercentiles: tc.percentiles, Order: tc.order, Loads: []v1alpha1.Load{{Tool: tc.tool, Levels: []v1alpha1.Level{{Connections: 1}}}}}
			v := kind.Join(checkPercentiles(spec), checkTools(spec))
			if (v != nil) != (tc.want != "") || v != nil && !strings.Contains(v.Message, tc.want) {
				t.Errorf("got %v, want %q", v, tc.want)
			}
		})
	}
}

func TestLatencyPercentilesAreThoseNamedAndThoseOfObjectives(t *testing.T) {
	ratio := func(of v1alpha1.ComparedMetric, percentile string) v1alpha1.Objective {
		return v1alpha1.Objective{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: of, Percentile: percentile}
	}
	for name, tc := range map[string]struct {
		named      []string
		objectives []v1alpha1.Objective
		want       []string
	}{
		"none named":                          {want: []string{"50", "99"}},
		"named in another order":              {named: []string{"99.9", "50"}, want: []string{"50", "99.9"}},
		"one named twice":                     {named: []string{"90", "90"}, want: []string{"90"}},
		"an objective adds its own":           {objectives: []v1alpha1.Objective{ratio(v1alpha1.ComparedLatencyPercentile, "95")}, want: []string{"50", "95", "99"}},
		"an objective adds to those named":    {named: []string{"50"}, objectives: []v1alpha1.Objective{ratio(v1alpha1.ComparedLatencyPercentile, "90")}, want: []string{"50", "90"}},
		"an objective of what is there":       {objectives: []v1alpha1.Objective{ratio(v1alpha1.ComparedLatencyPercentile, "99")}, want: []string{"50", "99"}},
		"a ratio of throughputs adds none":    {objectives: []v1alpha1.Objective{ratio(v1alpha1.ComparedThroughput, "")}, want: []string{"50", "99"}},
		"a bound of a latency itself is none": {objectives: []v1alpha1.Objective{{Metric: v1alpha1.ObjectiveLatencyPercentile, Percentile: "95"}}, want: []string{"50", "99"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := latencyPercentiles(v1alpha1.BenchmarkRunSpec{LatencyPercentiles: tc.named, Objectives: tc.objectives})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !slices.Equal(record.Percentiles, []string{"50", "90", "95", "99", "99.9"}) {
				t.Fatalf("the list of all percentiles has changed: %q", record.Percentiles)
			}
		})
	}
}

func TestAPlannedObjectiveHoldsEveryFieldOfTheSpec(t *testing.T) {
	given := v1alpha1.Objective{
		Name: "a", Metric: "b", Load: "c", Case: "l", Connections: 1, RequestsPerSecond: 2, Implementations: []string{"d", "e"}, Percentile: "f", Of: "g", Grade: "m",
		Against: v1alpha1.Earlier{Runs: []v1alpha1.PastRun{{UID: "h"}}, Anchor: "i"}, Min: "j", Max: "k",
	}
	for v, i := reflect.ValueOf(given), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("this test does not set %s", v.Type().Field(i).Name)
		}
	}
	want, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(kind.ObjectiveOf(given))
	if err != nil {
		t.Fatal(err)
	}
	// Both are compared by names and values, whatever their order.
	var wantFields, gotFields map[string]any
	if err := json.Unmarshal(want, &wantFields); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &gotFields); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantFields, gotFields); diff != "" {
		t.Errorf("(-spec +plan):\n%s", diff)
	}
}
