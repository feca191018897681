package comparisons

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/verdict"
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
