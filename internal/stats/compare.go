package stats

import (
	"math"
	"slices"
)

// compare compares every contender with the baseline over the levels. Steps of a search are none: their rates differ between the sides.
func compare(p planned, groups []Group, c Coverage) []Comparison {
	out := []Comparison{}
	if len(p.levels) == 0 {
		return out
	}
	for _, i := range p.contenders() {
		out = append(out, newComparison(i.Name, p, groups, c))
	}
	judgeAll(out, p.alpha)
	return out
}

// newComparison computes all ratios of one contender, and no verdict yet.
func newComparison(name string, p planned, groups []Group, cov Coverage) Comparison {
	c := Comparison{Implementation: name, Baseline: p.baseline}
	trialFaults, baseTrialFaults := cov.ownFaults(name), cov.ownFaults(p.baseline)
	c.OwnFaults, c.BaselineFaults = trialFaults, baseTrialFaults
	for _, l := range p.levels {
		own, base := findGroup(groups, l.Point, name), findGroup(groups, l.Point, p.baseline)
		level := LevelComparison{
			Point:     l.Point,
			OwnFaults: trialFaults + cellFaults(own), BaselineFaults: baseTrialFaults + cellFaults(base),
		}
		for _, m := range metrics {
			level.Results = append(level.Results, atLevel(m, own, base))
		}
		choose(level.Results)
		c.Levels = append(c.Levels, level)
		c.OwnFaults += cellFaults(own)
		c.BaselineFaults += cellFaults(base)
	}
	for k, m := range metrics {
		var levels []Result
		for _, l := range c.Levels {
			levels = append(levels, l.Results[k])
		}
		c.Overall = append(c.Overall, overLevels(m, levels))
	}
	choose(c.Overall)
	return c
}

func cellFaults(g *Group) int {
	n := 0
	for _, c := range g.Cells {
		if ownFault(c) {
			n++
		}
	}
	return n
}

// choose marks the result that decides: the throughput where it is a measurement of the server on both sides, otherwise the CPU
// time. Who was the bottleneck makes the choice, and never who won.
func choose(results []Result) {
	cpu, throughput := &results[0], &results[1]
	bound := throughput.ContenderIsBound || throughput.BaselineIsBound
	if cpu.Blocks == 0 || (throughput.Blocks > 0 && !bound) {
		throughput.Decides = true
		return
	}
	cpu.Decides = true
}

// atLevel pairs the cells of two groups by block.
func atLevel(m Metric, own, base *Group) Result {
	r := Result{Metric: m, Levels: 1, Pairs: []Pair{}}
	for _, a := range own.Cells {
		b := find(base.Cells, func(c *Cell) bool { return c.Block == a.Block })
		if b == nil || a.Validity == Void || b.Validity == Void || m.of(a) == nil || m.of(*b) == nil {
			continue
		}
		r.pair(a.Block, math.Log(*m.of(a) / *m.of(*b)))
		if m == Throughput {
			r.ContenderIsBound = r.ContenderIsBound || a.ThroughputIsBound
			r.BaselineIsBound = r.BaselineIsBound || b.ThroughputIsBound
		}
	}
	r.estimate()
	return r
}

// overLevels averages the logs of the levels within each block. A block counts if it has a pair at each of the levels covered, lest
// blocks differ in their mix of levels.
func overLevels(m Metric, levels []Result) Result {
	r := pool(m, covered(levels))
	r.estimate()
	return r
}

// covered are the levels with pairs enough for a verdict or, where none has, with as many as any. While too few blocks have a pair at each of
// them, the level is left out without which most blocks have: that depends on what was measured, and never on what came out.
func covered(levels []Result) []Result {
	enough := 0
	for _, l := range levels {
		enough = max(enough, min(l.Blocks, MinBlocks))
	}
	if enough == 0 {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(levels), func(l Result) bool { return l.Blocks < enough })
	for len(out) > 1 && len(common(out)) < enough {
		var rest []Result
		for k := range out {
			without := slices.Delete(slices.Clone(out), k, k+1)
			if rest == nil || len(common(without)) > len(common(rest)) {
				rest = without
			}
		}
		out = rest
	}
	return out
}

// common are the blocks in which each of the levels has a pair, in order.
func common(levels []Result) []int32 {
	counts := map[int32]int{}
	for _, l := range levels {
		for _, p := range l.Pairs {
			counts[p.Block]++
		}
	}
	var blocks []int32
	for b, n := range counts {
		if n == len(levels) {
			blocks = append(blocks, b)
		}
	}
	slices.Sort(blocks)
	return blocks
}

// pool averages levels in the blocks that are common to them.
func pool(m Metric, levels []Result) Result {
	r := Result{Metric: m, Levels: len(levels), Pairs: []Pair{}}
	sums := map[int32]float64{}
	for _, l := range levels {
		r.ContenderIsBound = r.ContenderIsBound || l.ContenderIsBound
		r.BaselineIsBound = r.BaselineIsBound || l.BaselineIsBound
		for k, p := range l.Pairs {
			sums[p.Block] += l.logs[k]
		}
	}
	for _, b := range common(levels) {
		r.pair(b, sums[b]/float64(len(levels)))
	}
	return r
}

func (r *Result) pair(block int32, log float64) {
	r.logs = append(r.logs, log)
	r.Pairs = append(r.Pairs, Pair{Block: block, Ratio: math.Exp(log), Advantage: math.Exp(log * r.Metric.sign())})
}

// estimate computes everything that the pairs of one result say by themselves.
func (r *Result) estimate() {
	t := r.test()
	if !t.known {
		return
	}
	d := math.Expm1(detectable(t.sd, t.n))
	r.Detectable = &d
	r.BlocksNeeded = blocksNeeded(t)
	if t.n >= SignFlipFrom && t.n <= SignFlipTo {
		p := signFlip(r.logs)
		r.SignFlipP = &p
	}
}

// test computes what a verdict rests on.
func (r *Result) test() paired {
	r.Blocks = len(r.logs)
	if r.Blocks == 0 {
		return paired{}
	}
	t := pairedT(r.logs)
	sign := r.Metric.sign()
	r.Ratio = exp(t.mean)
	r.Advantage = &Advantage{Ratio: math.Exp(t.mean * sign)}
	if !t.known {
		return t
	}
	r.Low, r.High = exp(t.low), exp(t.high)
	r.Advantage.Low, r.Advantage.High = exp(t.low*sign), exp(t.high*sign)
	if sign < 0 {
		r.Advantage.Low, r.Advantage.High = r.Advantage.High, r.Advantage.Low
	}
	r.LogStdDev, r.P = &t.sd, &t.p
	return t
}

func exp(v float64) *float64 {
	e := math.Exp(v)
	return &e
}
