package verdict

import (
	"cmp"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Compare compares every contender with the baseline, by load and, with weights, over all loads. Searches belong to
// the loads' family. Failures counts the trials that each implementation failed.
func Compare(p planned.Run, groups []validity.Group, failures map[string]int, searches Searches) []Comparison {
	out := comparisons(p, groups, failures)
	judgeAll(out, searches, AnalysisAlpha(p.Analyses), true)
	indicate(p, groups, failures, out)
	return out
}

// comparisons computes all ratios, without verdicts.
func comparisons(p planned.Run, groups []validity.Group, failures map[string]int) []Comparison {
	out := []Comparison{}
	for _, i := range p.Contenders() {
		var levels []LevelComparison
		for _, l := range p.Levels {
			levels = append(levels, atLevel(p, l, i.Name, groups, failures))
		}
		for _, one := range contender(levels, p.Weights) {
			one.Implementation, one.Baseline = i.Name, p.Baseline
			out = append(out, one)
		}
	}
	return out
}

func contender(levels []LevelComparison, weights map[string]float64) []Comparison {
	var out []Comparison
	for len(levels) > 0 {
		n := slices.IndexFunc(levels, func(l LevelComparison) bool { return l.Load != levels[0].Load })
		if n < 0 {
			n = len(levels)
		}
		out = append(out, ofLoad(levels[:n]))
		levels = levels[n:]
	}
	if len(weights) > 0 && len(out) > 1 {
		out = append([]Comparison{overLoads(out, weights)}, out...)
	}
	return out
}

// ofLoad leaves out levels whose rate neither side sustained.
func ofLoad(levels []LevelComparison) Comparison {
	c := Comparison{Load: levels[0].Load, Levels: slices.Clone(levels)}
	var strata []leveled
	for k := range c.Levels {
		l := &c.Levels[k]
		c.ContenderFailures, c.BaselineFailures = c.ContenderFailures+l.ContenderFailures, c.BaselineFailures+l.BaselineFailures
		if l.NeitherSustained() {
			c.Unsustained = append(c.Unsustained, l.Point)
			continue
		}
		strata = append(strata, leveled{level: l, weight: 1})
		c.contenderMissed, c.baselineMissed = c.contenderMissed+l.contenderMissed(), c.baselineMissed+l.baselineMissed()
	}
	c.Overall = overLevels(strata)
	if len(strata) == 0 {
		c.Overall = []Result{{Metric: CPUPerRequest, Pairs: []Pair{}}}
	}
	choose(c.Overall, slices.ContainsFunc(c.Levels, func(l LevelComparison) bool { return deciding(l.Results).Metric != Throughput }))
	return c
}

// overLoads: a load's levels share its weight equally.
func overLoads(loads []Comparison, weights map[string]float64) Comparison {
	var c Comparison
	var strata []leveled
	byCPU := false
	for k := range loads {
		l := &loads[k]
		c.ContenderFailures, c.BaselineFailures = c.ContenderFailures+l.ContenderFailures, c.BaselineFailures+l.BaselineFailures
		c.contenderMissed, c.baselineMissed = c.contenderMissed+l.contenderMissed, c.baselineMissed+l.baselineMissed
		c.Loads = append(c.Loads, LoadVerdict{Load: l.Load, Weight: weights[l.Load]})
		byCPU = byCPU || deciding(l.Overall).Metric != Throughput
		c.Unsustained = append(c.Unsustained, l.Unsustained...)
		kept := len(l.Levels) - len(l.Unsustained)
		for j := range l.Levels {
			if !l.Levels[j].NeitherSustained() {
				strata = append(strata, leveled{level: &l.Levels[j], weight: weights[l.Load] / float64(kept)})
			}
		}
	}
	c.Levels = []LevelComparison{}
	c.Overall = overLevels(strata)
	if len(strata) == 0 {
		c.Overall = []Result{{Metric: CPUPerRequest, Pairs: []Pair{}}}
	}
	choose(c.Overall, byCPU)
	return c
}

type leveled struct {
	level  *LevelComparison
	weight float64
}

// overLevels covers metrics that all levels have.
func overLevels(levels []leveled) []Result {
	var out []Result
	if len(levels) == 0 {
		return out
	}
	var total float64
	for _, l := range levels {
		total += l.weight
	}
	for _, first := range levels[0].level.Results {
		r := Result{Metric: first.Metric, Pairs: []Pair{}}
		var strata []inference.Stratum
		for _, l := range levels {
			one := InMetric(l.level.Results, first.Metric)
			if one == nil {
				break
			}
			strata = append(strata, inference.Stratum{Weight: l.weight / total, Samples: one.samples})
			r.inherit(*one)
		}
		if len(strata) == len(levels) {
			r.estimateOf(strata)
			out = append(out, r)
		}
	}
	return out
}

func (r *Result) inherit(level Result) {
	r.ContenderIsBound = r.ContenderIsBound || level.ContenderIsBound
	r.BaselineIsBound = r.BaselineIsBound || level.BaselineIsBound
	r.Diluted, r.Hidden, r.ClosedLoop = r.Diluted || level.Diluted, r.Hidden || level.Hidden, r.ClosedLoop || level.ClosedLoop
	r.uncounted = r.uncounted || level.uncounted
	r.admitted, r.noise = r.admitted+level.admitted, append(r.noise, level.noise...)
	r.contender.add(level.contender.cells, level.contender.suspect)
	r.base.add(level.base.cells, level.base.suspect)
	r.doubts = util.Distinct(slices.Concat(r.doubts, level.doubts))
	r.contenderCensored, r.baselineCensored = r.contenderCensored+level.contenderCensored, r.baselineCensored+level.baselineCensored
}

// atLevel: an imposed rate's throughput is no answer, and a duet has no latencies.
func atLevel(p planned.Run, l planned.Level, name string, groups []validity.Group, failures map[string]int) LevelComparison {
	own, base := validity.GroupAt(groups, l.Point, name), validity.GroupAt(groups, l.Point, p.Baseline)
	out := LevelComparison{
		Point: l.Point, Rate: rateCounts(own, base),
		ContenderFailures: failures[name] + own.ImplementationFailures(l.Imposed()), BaselineFailures: failures[p.Baseline] + base.ImplementationFailures(l.Imposed()),
	}
	for _, m := range metricsAt(p, l) {
		r := ByBlock(m, own, base)
		r.ClosedLoop = ClosedLoop(m, l)
		out.Results = append(out.Results, r)
	}
	choose(out.Results, p.Duet || l.Imposed())
	return out
}

// metricsAt: CPU time decides if the throughput does not.
func metricsAt(p planned.Run, l planned.Level) []Metric {
	out := []Metric{CPUPerRequest}
	if !l.Imposed() {
		out = append(out, Throughput)
	}
	if p.Duet {
		return out
	}
	for _, percentile := range p.Latencies {
		out = append(out, LatencyAt(percentile))
	}
	return out
}

// choose marks the deciding result: the throughput if it measures both servers, otherwise the CPU time. The
// bottleneck makes the choice, never the winner.
func choose(results []Result, byCPU bool) {
	cpu, throughput := InMetric(results, CPUPerRequest), InMetric(results, Throughput)
	if throughput != nil && !byCPU && (cpu.Blocks == 0 || throughput.decidesThroughput()) {
		throughput.Decides = true
		return
	}
	cpu.Decides = true
}

func (r *Result) decidesThroughput() bool {
	return r.Metric == Throughput && r.Blocks > 0 && !r.ContenderIsBound && !r.BaselineIsBound && !r.Diluted
}

// ByBlock compares two groups in one metric, pairing the cells of the same block.
func ByBlock(m Metric, own, base *validity.Group) Result {
	var limits Result
	var samples []inference.Sample
	for _, a := range own.Cells {
		b := util.First(base.Cells, func(c *validity.Cell) bool { return c.Block == a.Block })
		if b == nil {
			continue
		}
		limits.contenderCensored += asInt(m.censoredIn(a))
		limits.baselineCensored += asInt(m.censoredIn(*b))
		log, ok := m.pairOf(a, *b)
		if !ok {
			limits.uncounted = limits.uncounted || m.uncountedIn(a) || m.uncountedIn(*b)
			continue
		}
		samples = append(samples, inference.Sample{Block: a.Block, Span: log})
		limits.AddPair(m.Doubts(a), m.Doubts(*b))
		limits.inherit(Result{
			ContenderIsBound: m.boundIn(a), BaselineIsBound: m.boundIn(*b),
			Diluted: m.dilutedIn(a) || m.dilutedIn(*b), Hidden: m.hiddenIn(a) && m.hiddenIn(*b),
			admitted: asInt(len(a.Noise) > 0) + asInt(len(b.Noise) > 0), noise: slices.Concat(a.Noise, b.Noise),
		})
	}
	r := NewResult(m, samples)
	r.inherit(limits)
	return r
}

// NewResult has no verdict; samples are a metric's log ratios by block.
func NewResult(m Metric, samples []inference.Sample) Result {
	r := Result{Metric: m, Pairs: []Pair{}}
	r.estimateOf([]inference.Stratum{{Weight: 1, Samples: samples}})
	return r
}

func (r *Result) estimateOf(levels []inference.Stratum) {
	e := inference.NewEstimate(levels)
	r.estimate, r.Levels, r.Blocks, r.FewestPairs = e, len(levels), e.Blocks, e.Fewest
	if len(levels) == 1 {
		r.samples = levels[0].Samples
	}
	if e.Blocks == 0 {
		return
	}
	for _, s := range e.Contributions {
		r.Pairs = append(r.Pairs, Pair{Block: s.Block, Ratio: math.Exp(s.Mid)})
	}
	r.Ratio = exp(e.Mean)
	if !e.Known {
		return
	}
	low, high := e.Interval()
	p := e.P()
	r.Low, r.High, r.LogStdDev, r.P = exp(low), exp(high), &e.SD, &p
}

func (r *Result) foresee(alpha float64) {
	e := r.estimate
	if !e.Known {
		return
	}
	p := inference.Prospect{SD: e.SD, Width: e.Width(), Alpha: alpha, Margin: math.Log1p(inference.EquivalenceMargin)}
	d := math.Expm1(p.Detectable(e.Blocks))
	r.Detectable = &d
	if r.Verdict == Inconclusive && (r.Reason == TooFewBlocks || r.Reason == NoiseTooHigh || r.Reason == ManyComparisons) {
		r.BlocksNeeded, r.Bracketed = p.BlocksNeeded(e.Mean, max(r.Blocks+1, MinBlocks)), p.Bracketed(e.Mean)
	}
	if e.Whole && e.Blocks >= SignFlipFrom && e.Blocks <= SignFlipTo {
		f := inference.SignFlip(e.Contributions)
		r.SignFlipP = &f
	}
}

func exp(v float64) *float64 {
	e := math.Exp(v)
	return &e
}

// rateCounts ignores disturbed cells and those whose generator did not keep up.
func rateCounts(own, base *validity.Group) *RateCounts {
	if cmp.Or(own.RequestsPerSecond, base.RequestsPerSecond) == 0 {
		return nil
	}
	var k RateCounts
	for _, c := range own.Cells {
		kept, nearly, missed := c.SustainedRate(), c.NearlySustainedRate(), c.MissedRate()
		k.ContenderSustained, k.ContenderNearly, k.ContenderMissed = k.ContenderSustained+asInt(kept), k.ContenderNearly+asInt(nearly), k.ContenderMissed+asInt(missed)
		b := util.First(base.Cells, func(b *validity.Cell) bool { return b.Block == c.Block })
		if b == nil {
			continue
		}
		k.OnlyContenderMissed += asInt(missed && (b.SustainedRate() || b.NearlySustainedRate()))
		k.OnlyBaselineMissed += asInt((kept || nearly) && b.MissedRate())
	}
	for _, c := range base.Cells {
		k.BaselineSustained, k.BaselineNearly = k.BaselineSustained+asInt(c.SustainedRate()), k.BaselineNearly+asInt(c.NearlySustainedRate())
		k.BaselineMissed += asInt(c.MissedRate())
	}
	return &k
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
