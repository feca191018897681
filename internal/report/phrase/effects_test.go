package phrase

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
)

func TestAnIntervalHasTheFormOfItsMean(t *testing.T) {
	inf := math.Inf(1)
	for name, tc := range map[string]struct{ got, want string }{
		"an interval":                         {English.ChangeInterval(0.85, 0.83, 0.87), "−17.0 % to −13.0 %"},
		"an interval around nothing":          {English.ChangeInterval(1, 0.98, 1.02), "−2.0 % to +2.0 %"},
		"an interval beyond twice":            {English.ChangeInterval(1.9, 1.7, 2.12), "+70.0 % to +112.0 %"},
		"an interval of many":                 {English.ChangeInterval(2.4, 1.9, 3.03), "1.90× to 3.03×"},
		"an interval of many down to a trace": {English.ChangeInterval(2.4, 0.0012, 4800), "0.00120× to 4,800×"},
		"an interval without an upper end":    {English.ChangeInterval(1.17, 1.15, inf), "≥ +15.0 %"},
		"an interval without a lower end":     {English.ChangeInterval(0.85, 0, 0.87), "≤ −13.0 %"},
		"an interval without any end":         {English.ChangeInterval(0.85, 0, inf), format.Missing},
		"in ASCII":                            {format.ASCII(English.ChangeInterval(0.85, 0, 0.87) + " " + format.Change(2.4)), "<= -13.0 % 2.40x"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestTheChangeOfABoundHasOneEnd(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for name, tc := range map[string]struct {
		contender, baseline bool
		want                []string
	}{
		"two measured sides":          {false, false, []string{"+89.0 %", "+77.0 % to +102.0 %"}},
		"the contender may be better": {true, false, []string{"≥ +89.0 %", "≥ +77.0 %"}},
		"the baseline may be better":  {false, true, []string{"≤ +89.0 %", "≤ +102.0 %"}},
		"both sides may be better":    {true, true, []string{"+89.0 %", format.Missing}},
	} {
		t.Run(name, func(t *testing.T) {
			r := verdict.Result{Metric: verdict.Throughput, Ratio: p(1.89), Low: p(1.77), High: p(2.02), ContenderIsBound: tc.contender, BaselineIsBound: tc.baseline}
			if diff := cmp.Diff(tc.want, []string{English.ChangeOf(r), English.ChangeLimits(r)}); diff != "" {
				t.Errorf("change and interval (-want +got):\n%s", diff)
			}
			r.Metric, r.ContenderIsBound, r.BaselineIsBound = verdict.LatencyAt("99"), tc.baseline, tc.contender
			if diff := cmp.Diff(tc.want, []string{English.ChangeOf(r), English.ChangeLimits(r)}); diff != "" {
				t.Errorf("of a latency, whose bound is above, the other way round (-want +got):\n%s", diff)
			}
		})
	}
}
