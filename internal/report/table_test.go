package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/latency"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/verdict"
)

func TestATableLeavesOutItsEmptyColumns(t *testing.T) {
	of := func(words ...string) row {
		r := row{}
		for _, w := range words {
			r.Cells = append(r.Cells, word(w))
		}
		return r
	}
	got := table{
		Head:     []cell{word("name"), word("none"), word("some"), word("all")},
		Sections: []section{{Rows: []row{of("a", missing, missing, "1"), of("b", "", "2", "3")}}},
	}.finish("things", true)
	var head []string
	for _, c := range got.Head {
		head = append(head, c.Text)
	}
	if diff := cmp.Diff([]string{"name", "some", "all"}, head); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if cells := got.Sections[0].Rows[1].Cells; len(cells) != 3 || cells[0].Label != "" || cells[1].Label != "some" || cells[2].Label != "all" {
		t.Errorf("cells %+v", cells)
	}
	if c := got.Sections[0].Rows[0].Cells[1]; c.Tone != "nil" {
		t.Errorf("an empty cell is %+v", c)
	}
}

func TestALinkStaysInTheFolderOfItsRun(t *testing.T) {
	v := &view{language: english}
	v.t.Run.Namespace, v.t.Run.Name, v.t.Run.UID = "perf", "quick", "0123456789"
	for name, tc := range map[string]struct{ key, want string }{
		"an object of the run":        {"suites/perf/quick-01234567/trials/t/attempt-1/server/result.json", "../../trials/t/attempt-1/server/result.json"},
		"without a prefix":            {"perf/quick-01234567/plan.json", "../../plan.json"},
		"an object of another run":    {"perf/quick-89abcdef/plan.json", ""},
		"what leads out of it":        {"perf/quick-01234567/../../x", ""},
		"what would be a scheme":      {"perf/quick-01234567/javascript:alert(1)", "../../javascript:alert%281%29"},
		"what would end an attribute": {`perf/quick-01234567/"><b>`, "../../%22%3E%3Cb%3E"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.beside(tc.key); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestACurveEndsAtItsLastRise(t *testing.T) {
	curve := func(micros ...int64) []latency.Quantile {
		var out []latency.Quantile
		for k := range micros {
			out = append(out, latency.Quantile{Q: 1 - 1/float64(k+2), Micros: &micros[k]})
		}
		return out
	}
	for name, tc := range map[string]struct {
		of   []latency.Quantile
		want int
	}{
		"a flat end is cut":       {curve(1, 2, 2, 3, 9, 9, 9), 5},
		"a rising end stays":      {curve(1, 2, 3), 3},
		"one value is a point":    {curve(5, 5, 5), 1},
		"nothing is left of none": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(untilFlat(tc.of)); got != tc.want {
				t.Errorf("%d points are left, want %d", got, tc.want)
			}
		})
	}
}

func TestTheChangeOfABoundHasOneEnd(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	v := &view{language: english}
	for name, tc := range map[string]struct {
		contender, baseline bool
		want                []string
	}{
		"two measured sides":          {false, false, []string{"+89.0 %", "+77.0 % to +102.0 %"}},
		"the contender may be better": {true, false, []string{"≥ +89.0 %", "≥ +77.0 %"}},
		"the baseline may be better":  {false, true, []string{"≤ +89.0 %", "≤ +102.0 %"}},
		"both sides may be better":    {true, true, []string{"+89.0 %", missing}},
	} {
		t.Run(name, func(t *testing.T) {
			r := verdict.Result{Metric: verdict.Throughput, Ratio: p(1.89), Low: p(1.77), High: p(2.02), ContenderIsBound: tc.contender, BaselineIsBound: tc.baseline}
			if diff := cmp.Diff(tc.want, []string{v.changeOf(r), v.changeLimits(r)}); diff != "" {
				t.Errorf("change and interval (-want +got):\n%s", diff)
			}
			r.Metric, r.ContenderIsBound, r.BaselineIsBound = verdict.LatencyAt("99"), tc.baseline, tc.contender
			if diff := cmp.Diff(tc.want, []string{v.changeOf(r), v.changeLimits(r)}); diff != "" {
				t.Errorf("of a latency, whose bound is above, the other way round (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachMetricSaysWhichSideIsBetter(t *testing.T) {
	result := func(m verdict.Metric, ratio float64) verdict.Result {
		return verdict.Result{Metric: m, Levels: 1, Blocks: 1, Ratio: &ratio, Pairs: []verdict.Pair{{Block: 1, Ratio: ratio}}, Verdict: verdict.Worse, FewestPairs: 1}
	}
	c := verdict.Comparison{Implementation: "slow", Baseline: "go", Levels: []verdict.LevelComparison{{
		Verdict: verdict.Worse,
		Results: []verdict.Result{result(verdict.CPUPerRequest, 1.2), result(verdict.Throughput, 0.83)},
	}}}
	both := []planned.Implementation{{Name: "go", Baseline: true}, {Name: "slow"}}
	v := newView(analysis.Table{Run: analysis.Run{Baseline: "go"}, Implementations: both, Comparisons: []verdict.Comparison{c}}, english)
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
