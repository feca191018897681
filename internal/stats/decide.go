package stats

import "loadstone.dev/loadstone/internal/record"

// Ratios are the logs of one contender's ratios to the baseline, contender / baseline: of each metric one list a level, with one
// log a block. Levels and blocks are the same for both metrics.
type Ratios struct {
	CPUPerRequest [][]float64
	Throughput    [][]float64
	// ThroughputIsBound says that the generator limited both sides.
	ThroughputIsBound bool
}

// Decide gives the verdicts of a run of which nothing but the ratios is known, as Analyse would: the contenders are one family. It
// exists so that the rules themselves can be tried on very many runs that were drawn from recorded ones; so it leaves out what
// only tells how many blocks would do: Detectable, BlocksNeeded and SignFlipP. Comparisons come in the order of the contenders and
// are named after nobody; levels are told apart by their number of connections, which is their index from 1.
func Decide(contenders []Ratios) []Comparison {
	out := make([]Comparison, len(contenders))
	for k, r := range contenders {
		out[k] = r.comparison()
	}
	judgeAll(out, VerdictAlpha)
	return out
}

// comparison computes what the ratios say, and no verdict yet.
func (r Ratios) comparison() Comparison {
	c := Comparison{}
	for l := range r.CPUPerRequest {
		level := LevelComparison{
			Point:   record.Point{Connections: int32(l + 1)},
			Results: []Result{atBlocks(CPUPerRequest, r.CPUPerRequest[l]), atBlocks(Throughput, r.Throughput[l])},
		}
		level.Results[1].ContenderIsBound, level.Results[1].BaselineIsBound = r.ThroughputIsBound, r.ThroughputIsBound
		choose(level.Results)
		c.Levels = append(c.Levels, level)
	}
	for k, m := range metrics {
		var levels []Result
		for _, l := range c.Levels {
			levels = append(levels, l.Results[k])
		}
		overall := pool(m, levels)
		overall.test()
		c.Overall = append(c.Overall, overall)
	}
	choose(c.Overall)
	return c
}

// atBlocks is the result of one metric at one level, with a pair a block from 1 on.
func atBlocks(m Metric, logs []float64) Result {
	r := Result{Metric: m, Levels: 1, Pairs: make([]Pair, 0, len(logs))}
	for b, log := range logs {
		r.pair(int32(b+1), log)
	}
	r.test()
	return r
}
