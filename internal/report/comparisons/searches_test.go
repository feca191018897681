package comparisons

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/search"
)

func searched(of ...capacity.Capacity) searches {
	return searches{view.New(analysis.Table{
		Run: analysis.Run{Baseline: "go", Blocks: 3}, Rules: analysis.Rules{Confidence: 0.99, MinBlocks: 7}, Capacities: of,
		Implementations: []planned.Implementation{{Name: "go", Baseline: true}, {Name: "go2"}},
	}, phrase.English)}
}

func TestThereIsASectionIfThereAreSearches(t *testing.T) {
	if s := Capacity(searched().View); s.Data != nil {
		t.Errorf("a run without searches has %+v", s.Data)
	}
	one := func(load, implementation string) capacity.Capacity {
		return capacity.Capacity{Load: load, Implementation: implementation, Connections: 50, Percentile: 99, MaxMilliseconds: 20}
	}
	got, ok := Capacity(searched(one("tight", "go"), one("tight", "go2"), one("wide", "go")).View).Data.(capacities)
	if !ok || len(got.Charts) != 2 || len(got.Table.Bodies) != 2 {
		t.Fatalf("section %+v", got)
	}
	if b := got.Table.Bodies[0]; b.Title != "tight" || len(b.Rows) != 2 || b.Detail != "p99 from the intended start ≤ 20 ms, no errors, with up to 50 connections" {
		t.Errorf("the first load is %+v", b)
	}
}

func TestARowSaysWhatTheSearchesFound(t *testing.T) {
	found := &inference.Summary{N: 3, Mean: 1234, Low: ptr(1200.0), High: ptr(1300.0)}
	better := &verdict.Result{Metric: verdict.Capacity, Ratio: ptr(1.1), Low: ptr(1.05), High: ptr(1.15), AdjustedP: ptr(0.001), Verdict: verdict.Better}
	for name, tc := range map[string]struct {
		of   capacity.Capacity
		want []string
	}{
		"the baseline": {
			capacity.Capacity{Implementation: "go", Rate: found, Found: 3},
			[]string{"go", "1,234", "1,200–1,300", "3", "3 found the boundary", "–", "–", "–", ""},
		},
		"a contender": {
			capacity.Capacity{Implementation: "go2", Rate: found, Found: 2, Missing: 1, ToBaseline: better},
			[]string{"go2", "1,234", "1,200–1,300", "3", "2 found the boundary; 1 missing", "+10.0 %", "+5.0 % to +15.0 %", "0.0010", "sustains more"},
		},
		"a lower bound": {
			capacity.Capacity{Implementation: "go", Rate: &inference.Summary{N: 3, Mean: 1234, Low: ptr(1200.0)}, IsBound: true, NotReached: 3},
			[]string{"go", "≥ 1,234", "≥ 1,200", "3", "3 missed no rate beyond doubt", "–", "–", "–", ""},
		},
		"no rate sustained": {
			capacity.Capacity{Implementation: "go", BelowStart: 2, Trials: []capacity.Trial{
				{Result: search.BelowStart, Lowest: search.Tried{Rate: 25}}, {Result: search.BelowStart, Lowest: search.Tried{Rate: 30}},
			}},
			[]string{"go", "≤ 30.0", "–", "0", "2 sustained no rate", "–", "–", "–", ""},
		},
		"nothing": {
			capacity.Capacity{Implementation: "go", Unusable: 2, BelowStart: 1},
			[]string{"go", "–", "–", "0", "1 sustained no rate; 2 void", "–", "–", "–", ""},
		},
		"why rates are bounds": {
			capacity.Capacity{Implementation: "go", Found: 3, Trials: []capacity.Trial{{Bound: capacity.GeneratorLimited}, {Bound: capacity.Disturbed}, {Bound: capacity.Disturbed}}},
			[]string{"go", "–", "–", "0", "3 found the boundary; 1 generator-bound; 2 disturbed at the boundary", "–", "–", "–", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range searched().capacityRow(tc.of).Cells {
				got = append(got, c.Text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNobodyIsFasterInASearch(t *testing.T) {
	for name, tc := range map[string]struct {
		of   verdict.Result
		want []string
	}{
		"better":       {verdict.Result{Verdict: verdict.Better}, []string{"sustains more", ""}},
		"worse":        {verdict.Result{Verdict: verdict.Worse}, []string{"sustains less", ""}},
		"bounds alone": {verdict.Result{Verdict: verdict.Inconclusive, Reason: verdict.BoundsOnly}, []string{"inconclusive", "the rates are only lower bounds"}},
		"noise":        {verdict.Result{Verdict: verdict.Inconclusive, Reason: verdict.NoiseTooHigh}, []string{"inconclusive", "may be due to chance"}},
	} {
		t.Run(name, func(t *testing.T) {
			words, why := searched().CapacityVerdict(tc.of)
			if diff := cmp.Diff(tc.want, []string{words, why}); diff != "" {
				t.Errorf("verdict and reason (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStepShowsWhetherItKeptItsBound(t *testing.T) {
	y := chart.Span{Low: 100, High: 10_000, From: 200, To: 0, Log: true}
	steps := []validity.Step{
		{Step: 1, Rate: 100, Met: true},
		{Step: 2, Rate: 1000, Why: "p99 was 31 ms"},
		{Step: 3, Rate: 500, Met: true, Validity: validity.Void},
	}
	got := searched().stepMarks(capacity.Capacity{Implementation: "go"}, capacity.Trial{Block: 2, Steps: steps}, y, 5, 30)
	want := []chart.Mark{
		chart.Line("5.00%", "200.0", "35.00%", "100.0", "path c0"),
		chart.Line("35.00%", "100.0", "65.00%", "130.1", "path c0"),
		{Kind: "circle", X: "5.00%", Y: "200.0", Class: "dotted point c0", Title: "go, block 2, step 1: 100 requests/s, met."},
		{Kind: "circle", X: "35.00%", Y: "100.0", Class: "dotted hollow c0", Title: "go, block 2, step 2: 1,000 requests/s, missed. p99 was 31 ms"},
		{Kind: "cross", X: "65.00%", Y: "130.1", Class: "void", Title: "go, block 2, step 3: 500 requests/s, met. (void)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestBlocksStandSideBySide(t *testing.T) {
	v := searched()
	if first, middle, last := v.placeOf(1), v.placeOf(2), v.placeOf(3); !(0 < first && first < middle && middle == 0.5 && middle < last && last < 1) {
		t.Errorf("blocks stand at %v, %v and %v", first, middle, last)
	}
	v.Table.Run.Blocks = 1
	if v.placeOf(1) != 0.5 {
		t.Errorf("the only block stands at %v", v.placeOf(1))
	}
}
