package verdict

import (
	"fmt"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Ratios holds one contender at one level: by metric, the logs of contender / baseline per block, NaN for a block
// without a pair.
type Ratios struct {
	record.Point
	Logs map[Metric][]float64
	// ThroughputIsBound: the generator limited both sides.
	ThroughputIsBound bool
	Rate              *RateCounts
}

// Rulebook completes the input of Decide.
type Rulebook struct {
	// Duet and Weights are as in a plan. Analyses is the number of possible analyses; 0 means 1.
	Duet     bool
	Weights  map[string]float64
	Analyses int
	// Foresight adds Detectable and BlocksNeeded, which takes most of the time.
	Foresight bool
}

// Decide gives the verdicts of a run from its ratios alone, as analysis.Analyse would; all contenders and levels are
// one family. It exists to test the rules on many runs drawn from recorded ones. Comparisons are named after the
// contenders' indices.
func Decide(contenders [][]Ratios, rules Rulebook) []Comparison {
	var out []Comparison
	for k, levels := range contenders {
		var compared []LevelComparison
		for _, l := range levels {
			compared = append(compared, l.comparison(rules.Duet))
		}
		for _, c := range contender(compared, rules.Weights) {
			c.Implementation = fmt.Sprint(k)
			out = append(out, c)
		}
	}
	judgeAll(out, Searches{}, AnalysisAlpha(rules.Analyses), rules.Foresight)
	return out
}

func (r Ratios) comparison(duet bool) LevelComparison {
	c := LevelComparison{Point: r.Point, Rate: r.Rate}
	for _, m := range r.metrics(duet) {
		var samples []inference.Sample
		for b, log := range r.Logs[m] {
			if !math.IsNaN(log) {
				samples = append(samples, inference.Sample{Block: int32(b + 1), Span: inference.Exactly(log)})
			}
		}
		one := NewResult(m, samples)
		one.ClosedLoop = ClosedLoop(m, planned.Level{Point: r.Point})
		if m == Throughput {
			one.ContenderIsBound, one.BaselineIsBound, one.Diluted = r.ThroughputIsBound, r.ThroughputIsBound, duet
		}
		c.Results = append(c.Results, one)
	}
	choose(c.Results, duet || planned.Level{Point: r.Point}.Imposed())
	return c
}

func (r Ratios) metrics(duet bool) []Metric {
	var out []Metric
	p := planned.Run{Duet: duet, Latencies: record.Percentiles}
	for _, m := range metricsAt(p, planned.Level{Point: r.Point}) {
		if _, ok := r.Logs[m]; ok {
			out = append(out, m)
		}
	}
	if !slices.Contains(out, CPUPerRequest) {
		out = append([]Metric{CPUPerRequest}, out...)
	}
	return out
}
