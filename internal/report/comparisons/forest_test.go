package comparisons

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

func TestEachMetricSaysWhichSideIsBetter(t *testing.T) {
	result := func(m verdict.Metric, ratio float64) verdict.Result {
		return verdict.Result{Metric: m, Levels: 1, Blocks: 1, Ratio: &ratio, Pairs: []verdict.Pair{{Block: 1, Ratio: ratio}}, Verdict: verdict.Worse, FewestPairs: 1}
	}
	c := verdict.Comparison{Implementation: "slow", Baseline: "go", Levels: []verdict.LevelComparison{{
		Verdict: verdict.Worse,
		Results: []verdict.Result{result(verdict.CPUPerRequest, 1.2), result(verdict.Throughput, 0.83)},
	}}}
	both := []planned.Implementation{{Name: "go", Baseline: true}, {Name: "slow"}}
	v := comparisons{view.New(analysis.Table{Run: analysis.Run{Baseline: "go"}, Implementations: both, Comparisons: []verdict.Comparison{c}}, phrase.English)}
	sides := map[string][]string{}
	for _, p := range v.forest().Groups[0].Panels {
		sides[p.Metric] = []string{p.Better, p.Axis[0].Text, p.Axis[1].Text, p.Rows[0].Effect, p.Rows[0].Verdict}
	}
	want := map[string][]string{
		"Server CPU time per request": {"change from go; less is better", "← better", "worse →", "+20.0 %", "worse"},
		"Throughput":                  {"change from go; more is better", "← worse", "better →", "−17.0 %", "worse"},
	}
	if diff := cmp.Diff(want, sides); diff != "" {
		t.Errorf("panels (-want +got):\n%s", diff)
	}
}

func compared(results ...verdict.Result) comparisons {
	return comparisons{view.New(analysis.Table{
		Run: analysis.Run{Baseline: "go"}, Rules: analysis.Rules{Confidence: 0.99, MinBlocks: 7, EquivalenceMargin: 0.05, Alpha: 0.01},
		Implementations: []planned.Implementation{{Name: "go", Baseline: true}, {Name: "slow"}},
		Comparisons: []verdict.Comparison{{Implementation: "slow", Baseline: "go", Load: "sweep", Levels: []verdict.LevelComparison{{
			Point: record.Point{Load: "sweep", Connections: 10}, Verdict: verdict.Worse, Results: results,
		}}}},
	}, phrase.English)}
}

func ptr[T any](v T) *T { return &v }

func known(m verdict.Metric, ratio float64, pairs int) verdict.Result {
	r := verdict.Result{
		Metric: m, Blocks: pairs, FewestPairs: pairs, Ratio: ptr(ratio), Low: ptr(ratio * 0.9), High: ptr(ratio * 1.1), P: ptr(0.001), AdjustedP: ptr(0.002),
		Verdict: verdict.Inconclusive, Reason: verdict.NoiseTooHigh,
	}
	for k := range pairs {
		r.Pairs = append(r.Pairs, verdict.Pair{Block: int32(k + 1), Ratio: ratio})
	}
	return r
}

func TestARunThatComparesNothingHasNoneOfTheSections(t *testing.T) {
	v := comparisons{view.New(analysis.Table{}, phrase.English)}
	if e, s := Effects(v.View), Tests(v.View); e.Data != nil || s.Data != nil {
		t.Errorf("there are sections %+v and %+v", e, s)
	}
}

func TestARowOfThePictureShowsItsBlocksItsIntervalAndItsMean(t *testing.T) {
	deciding := known(verdict.Throughput, 1.2, 7)
	deciding.Decides = true
	for name, tc := range map[string]struct {
		of   verdict.Result
		want map[string]int
		row  []string
	}{
		"the metric that decides has the verdict of the place": {
			deciding,
			map[string]int{"dot": 7, "diamond": 1, "interval decides t-slower": 1},
			[]string{"+20.0 %", "+8.0 % to +32.0 %", "worse", ""},
		},
		"one beside it has its own": {
			known(verdict.Throughput, 0.9, 7),
			map[string]int{"dot": 7, "diamond": 1, "interval beside t-unknown": 1},
			[]string{"−10.0 %", "−19.0 % to −1.0 %", "inconclusive", "may be due to chance"},
		},
		"too few blocks have no interval": {
			known(verdict.Throughput, 0.9, 6),
			map[string]int{"dot": 6, "diamond": 1, "interval beside t-unknown": 0},
			[]string{"−10.0 %", "", "inconclusive", "may be due to chance"},
		},
		"no block has nothing at all": {
			verdict.Result{Metric: verdict.Throughput, Decides: true, Reason: verdict.TooFewBlocks},
			map[string]int{"dot": 0, "diamond": 0},
			[]string{"–", "", "worse", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			row := compared(tc.of).forest().Groups[0].Panels[0].Rows[0]
			if diff := cmp.Diff(tc.row, []string{row.Effect, row.Interval, row.Verdict, row.Why}); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
			seen := map[string]int{}
			for _, m := range row.Strip {
				seen[m.Kind]++
				seen[m.Class]++
			}
			for what, n := range tc.want {
				if seen[what] != n {
					t.Errorf("%d of %s, want %d", seen[what], what, n)
				}
			}
		})
	}
}

func TestAMetricThatNobodyHasHasNoPanel(t *testing.T) {
	of := compared(known(verdict.Throughput, 1.2, 7), verdict.Result{Metric: verdict.CPUPerRequest}).forest().Groups[0].Panels
	if len(of) != 1 || of[0].Metric != "Throughput" {
		t.Errorf("panels %+v", of)
	}
}

func TestAnAxisHoldsAllThatIsDrawnUpToAThousandfold(t *testing.T) {
	v := compared()
	for name, tc := range map[string]struct {
		of        verdict.Result
		low, high float64
	}{
		"hardly a difference is not magnified": {known(verdict.Throughput, 1, 1), 1 / leastSpan, leastSpan},
		"an interval":                          {known(verdict.Throughput, 1.5, 7), 1, 1.65},
		"an interval of too few blocks is not": {known(verdict.Throughput, 1.5, 6), 1, 1.5},
		"what is a million times slower":       {known(verdict.Throughput, 1e-6, 1), 1e-3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			x, ticks := v.forestAxis(verdict.Throughput, []view.Effect{{Results: []verdict.Result{tc.of}}})
			if x.Low > tc.low || x.High < tc.high || ticks[0] != x.Low || ticks[len(ticks)-1] != x.High {
				t.Errorf("the axis from %v to %v with the ticks %v does not hold %v to %v", x.Low, x.High, ticks, tc.low, tc.high)
			}
			if x.Low < 0.9/widestRatio || x.High > 1.1*widestRatio {
				t.Errorf("the axis from %v to %v is too long", x.Low, x.High)
			}
		})
	}
}

func TestTheTableOfTestsBeginsWithWhatDecides(t *testing.T) {
	deciding := known(verdict.CPUPerRequest, 1.2, 7)
	deciding.Decides, deciding.Detectable = true, ptr(0.043)
	rows := compared(known(verdict.Throughput, 0.9, 7), deciding).testsTable().Bodies[0].Rows
	var got [][]string
	for _, r := range rows {
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, c.Text)
		}
		got = append(got, cells)
	}
	want := [][]string{
		{"sweep: 10 connections", "server CPU time per request", "7", "+20.0 %", "+8.0 % to +32.0 %", "0.0010", "0.0020", "–", "4.30 %", "worse"},
		{"sweep: 10 connections", "throughput", "7", "−10.0 %", "−19.0 % to −1.0 %", "0.0010", "0.0020", "–", "–", "inconclusive"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if rows[0].Muted || !rows[1].Muted || rows[0].Cells[1].Sub != "decides" {
		t.Errorf("what decides is not told from the rest: %+v", rows)
	}
}
