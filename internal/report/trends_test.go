package report

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/trend"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

func TestTheMethodSaysWhichTrendsWereFound(t *testing.T) {
	quiet := trend.Change{Implementation: "go", Change: 0.01, Low: -0.02, High: 0.04}
	aging := trend.Change{Implementation: "c", Change: -0.1, Low: -0.15, High: -0.05}
	for name, tc := range map[string]struct {
		of   trend.Result
		want string
	}{
		"nothing was tested": {},
		"one order": {
			trend.Result{LevelOrders: 1},
			"All trials measured the levels in one order, so an effect of the load cannot be told from one of the server's age.",
		},
		"no trend": {
			trend.Result{LevelOrders: 8, WithAge: []trend.Change{quiet}, OverRun: &quiet},
			"The trials measured the levels in 8 orders. No change of speed with the age of a server was found. No drift over the run was found (change in speed from the first to the last block: 99 % interval −2.0 % to +4.0 %).",
		},
		"age": {
			trend.Result{LevelOrders: 8, WithAge: []trend.Change{quiet, aging}},
			"The trials measured the levels in 8 orders. From the first to the last level of a trial, the speed of c changed by −10.0 % (99 % interval −15.0 % to −5.0 %).",
		},
		"drift": {
			trend.Result{OverRun: &aging},
			"The run drifted: from the first to the last block, the speed of the servers, taken together, changed by −10.0 % (99 % interval −15.0 % to −5.0 %).",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := run{View: view.New(analysis.Table{Rules: analysis.Rules{Confidence: 0.99}, Trends: tc.of}, phrase.English)}
			if got := v.trends(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
