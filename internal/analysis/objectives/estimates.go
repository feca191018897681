package objectives

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/search"
)

// Run is a run as objectives see it.
type Run struct {
	Data            record.RunData
	Implementations []planned.Implementation
	Levels          []planned.Level
	Requests        []planned.Request
	Groups          []validity.Group
	Comparisons     []verdict.Comparison
	// Admitting compares again with the cells that only noise made void.
	Admitting  func() []verdict.Comparison
	Capacities []capacity.Capacity
	// CaseFailures counts processes with a missing or failed case, by a place without a metric.
	Cases                  []verdict.BlockRow
	Rows                   []verdict.RowComparison
	CaseFailures           map[verdict.Place]int
	ImplementationFailures map[string]int
}

type judge struct {
	run     Run
	analyse func(record.RunData) (Run, error)
	earlier map[string]*Run
}

func (r Run) group(l planned.Level, implementation string) *validity.Group {
	return validity.GroupAt(r.Groups, l.Point, implementation)
}

func (j judge) estimate(o record.Objective, l planned.Level, i planned.Implementation) estimate {
	g := j.run.group(l, i.Name)
	var f estimate
	switch o.Metric {
	case v1alpha1.ObjectiveErrorRate:
		f = errorRate(g)
		f.faulty = j.run.ImplementationFailures[i.Name] > 0 || slices.ContainsFunc(g.Cells, silent)
		return f
	case v1alpha1.ObjectiveRegression:
		return j.regression(o, l, i)
	case v1alpha1.ObjectiveRatioToBaseline:
		return ratio(j.run.Comparisons, o, l, i)
	case v1alpha1.ObjectiveLatencyPercentile:
		f = percentileOf(g, o.Percentile)
	case v1alpha1.ObjectiveMeanLatency:
		f = meanOf(g, g.MeanLatency)
		f.kind = record.LatencyKind(g.LatencyKind)
	case v1alpha1.ObjectiveThroughput:
		f = meanOf(g, g.Throughput)
	case v1alpha1.ObjectiveServerCPUPerRequest:
		f = meanOf(g, g.CPUPerRequest)
	case v1alpha1.ObjectiveServerCPUs:
		f = meanOf(g, g.ServerCPUs)
	case v1alpha1.ObjectivePeakMemory:
		f = meanOf(g, g.ServerPeakMemory)
	default:
		return unknown(NotMeasured, "")
	}
	limit(g, o.Metric, &f)
	f.suspect, f.closedLoop = onlySuspect(g, o.Metric), o.Metric == v1alpha1.ObjectiveLatencyPercentile && !l.Imposed()
	f.faulty = j.run.ImplementationFailures[i.Name]+g.ImplementationFailures(false) > 0
	return f
}

// scopes are metrics with the same doubts. Those that the server's side shows have those of its CPU time.
var scopes = map[v1alpha1.ObjectiveMetric]verdict.Metric{
	v1alpha1.ObjectiveThroughput: verdict.Throughput, v1alpha1.ObjectiveMeanLatency: verdict.LatencyAt("50"), v1alpha1.ObjectiveLatencyPercentile: verdict.LatencyAt("50"),
	v1alpha1.ObjectiveServerCPUPerRequest: verdict.CPUPerRequest, v1alpha1.ObjectiveServerCPUs: verdict.CPUPerRequest, v1alpha1.ObjectivePeakMemory: verdict.CPUPerRequest,
}

func onlySuspect(g *validity.Group, m v1alpha1.ObjectiveMetric) bool {
	ofMemory := func(r validity.Reason) bool { return r.Weight == validity.Suspect && r.Scope == validity.ScopeMemory }
	return !slices.ContainsFunc(g.Cells, func(c validity.Cell) bool {
		doubted := len(scopes[m].Doubts(c)) > 0 || m == v1alpha1.ObjectivePeakMemory && slices.ContainsFunc(c.Reasons, ofMemory)
		return c.Validity != validity.Void && !doubted
	})
}

// meanOf leaves the high end open if the summary's is.
func meanOf(g *validity.Group, s *inference.Summary) estimate {
	if s == nil || s.Low == nil {
		f := unknown(lacking(g, s), "")
		if s != nil {
			f.value, f.n = s.Mean, s.N
		}
		return f
	}
	f := estimate{value: s.Mean, low: *s.Low, high: math.Inf(1), n: s.N}
	if s.High != nil {
		f.high = *s.High
	}
	return f
}

func lacking(g *validity.Group, s *inference.Summary) Reason {
	switch {
	case g.Void > 0 && len(g.Cells) >= inference.MinPairs:
		return VoidCells
	case s == nil && g.Valid+g.Suspect > 0:
		return NotMeasured
	}
	return TooFewBlocks
}

// limit opens the end that the generator limited: a throughput could be higher, a latency lower.
func limit(g *validity.Group, m v1alpha1.ObjectiveMetric, f *estimate) {
	var end bool
	switch m {
	case v1alpha1.ObjectiveThroughput:
		if end = g.ThroughputIsBound; end {
			f.high = math.Inf(1)
		}
	case v1alpha1.ObjectiveLatencyPercentile, v1alpha1.ObjectiveMeanLatency:
		if end = slices.ContainsFunc(g.Cells, validity.Cell.Waited); end {
			f.low = 0
		}
	default: // The others are seen on the server's side.
	}
	if end && f.why == "" {
		f.why = GeneratorLimited
	}
}

// attempts include requests lost with their connection.
func attempts(c validity.Cell) int64 {
	return c.Requests + c.Errors.Connect + c.Errors.Read + c.Errors.Write
}

func silent(c validity.Cell) bool { return attempts(c) == 0 && c.ImplementationFailure() }

// errorRate is the share of failed requests over all cells, including void ones, since errors void most of them. Its
// interval covers both kinds of errors: Clopper and Pearson's, for independent failures (it also bounds a rate
// without errors), and Student's t over the cells, for bursts.
func errorRate(g *validity.Group) estimate {
	var failed, all int64
	var shares []float64
	for _, c := range g.Cells {
		n := attempts(c)
		if n == 0 {
			continue
		}
		e := min(c.Errors.Sum(), n)
		failed, all = failed+e, all+n
		shares = append(shares, float64(e)/float64(n))
	}
	if len(shares) < inference.MinPairs {
		f := unknown(TooFewBlocks, "")
		f.n, f.requests = len(shares), all
		if all > 0 {
			f.value = float64(failed) / float64(all)
		}
		return f
	}
	f := estimate{value: float64(failed) / float64(all), high: 1, n: len(shares), requests: all}
	mean, sd := inference.Moments(shares)
	low, high := inference.PlainInterval(mean, sd, len(shares))
	e, n := float64(failed), float64(all)
	if failed > 0 {
		f.low = min(inference.BetaQuantile(inference.Alpha/2, e, n-e+1), max(low, 0))
	}
	if failed < all {
		f.high = min(1, max(inference.BetaQuantile(1-inference.Alpha/2, e+1, n-e), high))
	}
	return f
}

// percentileOf is of the merged distribution. Its interval (Student's t on the logs of the blocks' quantiles)
// includes it, with low ends from low values and high ends from high ones.
func percentileOf(g *validity.Group, name string) estimate {
	column := slices.Index(record.Percentiles, name)
	kind, merged := preferred(g)
	if column < 0 || merged == nil {
		return unknown(lacking(g, nil), "")
	}
	q := merged.Quantiles[column]
	if q.Micros == nil {
		return unknown(unknownQuantile(q), "")
	}
	f := unknown("", "")
	f.kind, f.requests, f.value = kind, merged.Samples, float64(*q.Micros)
	var samples []inference.Sample
	for _, c := range g.Cells {
		own := c.Quantile(kind, name)
		if c.Validity == validity.Void || own == nil {
			continue
		}
		if own.Micros == nil {
			f.why = unknownQuantile(*own)
			return f
		}
		low, high := own.Between()
		low, high = math.Log(max(low, 1)), math.Log(max(high, 1))
		samples = append(samples, inference.Sample{Block: c.Block, Span: inference.Span{Low: low, Mid: (low + high) / 2, High: high}})
	}
	e := inference.NewEstimate([]inference.Stratum{{Weight: 1, Samples: samples}})
	f.n = e.Blocks
	if !e.Known {
		f.why = lacking(g, g.Throughput)
		return f
	}
	low, high := q.Between()
	least, most := e.Interval()
	f.low, f.high = min(math.Exp(least), low), max(math.Exp(most), high)
	return f
}

func preferred(g *validity.Group) (record.LatencyKind, *measured.Distribution) {
	for _, kind := range measured.Preferred {
		if l := util.First(g.Latency, func(l *measured.Distribution) bool { return l.Kind == kind }); l != nil {
			return kind, l
		}
	}
	return "", nil
}

func unknownQuantile(q measured.Quantile) Reason {
	if q.Unknown == measured.TooFewSamples {
		return TooFewSamples
	}
	return TimedOut
}

func ratio(comparisons []verdict.Comparison, o record.Objective, l planned.Level, i planned.Implementation) estimate {
	c := util.First(comparisons, func(c *verdict.Comparison) bool { return c.Implementation == i.Name && c.Load == l.Load })
	if c == nil {
		return unknown(NotMeasured, "")
	}
	level := util.First(c.Levels, func(k *verdict.LevelComparison) bool { return k.Point == l.Point })
	r := verdict.InMetric(level.Results, verdict.MetricOf(o.Of, o.Percentile))
	if r == nil {
		return unknown(NotMeasured, "")
	}
	f := unknown(TooFewBlocks, "")
	f.n = r.Blocks
	if r.Ratio != nil {
		f.value = *r.Ratio
	}
	if r.Low != nil {
		f.low, f.high, f.why = *r.Low, *r.High, ""
	}
	f.loosen(r.Metric, r.ContenderIsBound, r.BaselineIsBound)
	f.share(r.Diluted)
	f.faulty, f.suspect, f.closedLoop = level.Failures() > 0, r.OnlySuspect(), r.ClosedLoop
	return f
}

func (f *estimate) share(diluting bool) {
	if diluting && f.why == "" {
		f.why, f.low, f.high = Diluted, diluted(f.low), diluted(f.high)
	}
}

func diluted(end float64) float64 {
	switch {
	case end > 1:
		return math.Inf(1)
	case end < 1:
		return 0
	}
	return end
}

// loosen opens the ends of a ratio with a bound as numerator or denominator.
func (f *estimate) loosen(m verdict.Metric, numerator, denominator bool) {
	if !m.MoreIsBetter() {
		numerator, denominator = denominator, numerator
	}
	if numerator {
		f.high = math.Inf(1)
	}
	if denominator {
		f.low = 0
	}
	if (numerator || denominator) && f.why == "" {
		f.why = GeneratorLimited
	}
}

// ofCapacity: without a sustained rate, it lies below the lowest missed ones.
func ofCapacity(c capacity.Capacity) estimate {
	f := unknown(TooFewBlocks, "")
	switch {
	case c.Rate == nil && c.BelowStart >= inference.MinPairs:
		f.low, f.high, f.n, f.why = 0, 0, c.BelowStart, NoRateSustained
		for _, t := range c.Trials {
			if t.Result == search.BelowStart && !t.Unusable {
				f.high = max(f.high, float64(t.Lowest.Rate))
			}
		}
		return f
	case c.Rate == nil && c.Unusable >= inference.MinPairs:
		f.why = VoidCells
	case c.Rate == nil:
		f.why = NotMeasured
	case c.Rate.Low == nil:
		f.value, f.n = c.Rate.Mean, c.Rate.N
	default:
		f = estimate{value: c.Rate.Mean, low: *c.Rate.Low, high: math.Inf(1), n: c.Rate.N}
		if c.Rate.High != nil {
			f.high = *c.Rate.High
		}
	}
	if c.IsBound {
		f.high = math.Inf(1)
		if f.why == "" {
			f.why = LowerBound
		}
	}
	f.faulty, f.suspect = c.ImplementationFailures > 0, c.OnlySuspect()
	return f
}
