package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// judge finds the figures of objectives.
type judge struct {
	t    Table
	data record.RunData
	// earlier are the tables of earlier runs, by their prefix.
	earlier map[string]*Table
}

// figure is an objective's figure of one implementation at one level.
func (j judge) figure(o v1alpha1.Objective, l Level, i Implementation) figure {
	g := j.t.Group(l.Point, i.Name)
	var f figure
	switch o.Metric {
	case v1alpha1.ObjectiveErrorRate:
		f = errorRate(g)
		f.faulty = j.t.Coverage.ownFaults(i.Name) > 0 || slices.ContainsFunc(g.Cells, silent)
		return f
	case v1alpha1.ObjectiveRegression:
		return j.regression(o, l, i)
	case v1alpha1.ObjectiveRatioToBaseline:
		return j.ratio(o, l, i)
	case v1alpha1.ObjectiveLatencyPercentile:
		f = g.percentile(o.Percentile)
	case v1alpha1.ObjectiveMeanLatency:
		f = g.meanOf(g.MeanLatency)
		f.kind = record.LatencyKind(g.LatencyKind)
	case v1alpha1.ObjectiveThroughput:
		f = g.meanOf(g.Throughput)
	case v1alpha1.ObjectiveServerCPUPerRequest:
		f = g.meanOf(g.CPUPerRequest)
	case v1alpha1.ObjectiveServerCPUs:
		f = g.meanOf(g.ServerCPUs)
	case v1alpha1.ObjectivePeakMemory:
		f = g.meanOf(g.ServerPeakMemory)
	default:
		return unknown(NotMeasured, "")
	}
	g.limit(o.Metric, &f)
	f.faulty = j.t.Coverage.ownFaults(i.Name)+cellFaults(g, false) > 0
	return f
}

// meanOf is the mean over blocks with its interval. The high end is open where the summary's is.
func (g *Group) meanOf(s *Summary) figure {
	if s == nil || s.Low == nil {
		f := unknown(g.lacking(s), "")
		if s != nil {
			f.value, f.n = s.Mean, s.N
		}
		return f
	}
	f := figure{value: s.Mean, low: *s.Low, high: math.Inf(1), n: s.N}
	if s.High != nil {
		f.high = *s.High
	}
	return f
}

// lacking says why a group has too few values.
func (g *Group) lacking(s *Summary) ObjectiveReason {
	switch {
	case g.Void > 0 && len(g.Cells) >= minPairs:
		return VoidCells
	case s == nil && g.Valid+g.Suspect > 0:
		return NotMeasured
	}
	return FewBlocks
}

// limit takes from an interval the end of which the generator was the limit and not the server: a throughput could be higher, and a
// latency lower.
func (g *Group) limit(m v1alpha1.ObjectiveMetric, f *figure) {
	var end bool
	switch m {
	case v1alpha1.ObjectiveThroughput:
		if end = g.ThroughputIsBound; end {
			f.high = math.Inf(1)
		}
	case v1alpha1.ObjectiveLatencyPercentile, v1alpha1.ObjectiveMeanLatency:
		if end = slices.ContainsFunc(g.Cells, waited); end {
			f.low = 0
		}
	default: // The others are seen on the server's side.
	}
	if end && f.why == "" {
		f.why = OnlyBound
	}
}

// attempts are the requests of a cell that were completed, and those that were not because their connection failed.
func attempts(c Cell) int64 { return c.Requests + c.Errors.Connect + c.Errors.Read + c.Errors.Write }

// silent says of a cell that its server gave neither answers nor errors.
func silent(c Cell) bool { return attempts(c) == 0 && ownFault(c) }

// errorRate is the share of failed requests among all, over all cells: those that are void too, since it is errors that void most of
// them. Its interval covers both ways in which errors come: Clopper and Pearson's, as if each request failed by itself, which also
// bounds a rate of which no error was seen; and Student's t over the cells, since errors come in bursts.
func errorRate(g *Group) figure {
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
	if len(shares) < minPairs {
		f := unknown(FewBlocks, "")
		f.n, f.requests = len(shares), all
		if all > 0 {
			f.value = float64(failed) / float64(all)
		}
		return f
	}
	f := figure{value: float64(failed) / float64(all), high: 1, n: len(shares), requests: all}
	mean, sd := moments(shares)
	low, high := plainInterval(mean, sd, len(shares))
	e, n := float64(failed), float64(all)
	if failed > 0 {
		f.low = min(distuv.Beta{Alpha: e, Beta: n - e + 1}.Quantile(Alpha/2), max(low, 0))
	}
	if failed < all {
		f.high = min(1, max(distuv.Beta{Alpha: e + 1, Beta: n - e}.Quantile(1-Alpha/2), high))
	}
	return f
}

// percentiles are the quantiles of the tables, of the cell's own latencies.
func (f *facts) percentiles() map[record.LatencyKind][]Quantile {
	out := map[record.LatencyKind][]Quantile{}
	for kind, s := range f.latencies {
		d := s.distribution()
		for _, q := range tableQuantiles {
			out[kind] = append(out[kind], d.quantile(q))
		}
	}
	return out
}

// between are the values between which a known quantile lies, in microseconds.
func (q Quantile) between() (low, high float64) {
	low, high = float64(*q.Micros), float64(*q.Micros)
	if q.LowMicros != nil {
		low = float64(*q.LowMicros)
	}
	return low, high
}

// percentile is a quantile of the merged distribution. Its interval is of the logs of the blocks' own quantiles (Student's t), and
// holds the merged one: where a quantile is known between two values only, its low end is of the low ones and its high end of the
// high ones.
func (g *Group) percentile(name string) figure {
	column := slices.Index(v1alpha1.Percentiles, name)
	kind, merged := g.preferred()
	if column < 0 || merged == nil {
		return unknown(g.lacking(nil), "")
	}
	q := merged.Quantiles[column]
	if q.Micros == nil {
		return unknown(unknownQuantile(q), "")
	}
	f := unknown("", "")
	f.kind, f.requests, f.value = kind, merged.Samples, float64(*q.Micros)
	var samples []sample
	for _, c := range g.Cells {
		own := c.percentiles[kind]
		if c.Validity == Void || own == nil {
			continue
		}
		if own[column].Micros == nil {
			f.why = unknownQuantile(own[column])
			return f
		}
		low, high := own[column].between()
		low, high = math.Log(max(low, 1)), math.Log(max(high, 1))
		samples = append(samples, sample{c.Block, span{low, (low + high) / 2, high}})
	}
	e := newEstimate([]stratum{{1, samples}})
	f.n = e.blocks
	if !e.known {
		f.why = g.lacking(g.Throughput)
		return f
	}
	low, high := q.between()
	least, most := e.interval()
	f.low, f.high = min(math.Exp(least), low), max(math.Exp(most), high)
	return f
}

// preferred is the distribution that objectives speak of.
func (g *Group) preferred() (record.LatencyKind, *Latency) {
	for _, kind := range percentileKinds {
		if l := find(g.Latency, func(l *Latency) bool { return l.Kind == kind }); l != nil {
			return kind, l
		}
	}
	return "", nil
}

func unknownQuantile(q Quantile) ObjectiveReason {
	if q.Unknown == TooFewSamples {
		return FewSamples
	}
	return AmongTimeouts
}

// ratio is the result of the comparison with the baseline.
func (j judge) ratio(o v1alpha1.Objective, l Level, i Implementation) figure {
	c := find(j.t.Comparisons, func(c *Comparison) bool { return c.Implementation == i.Name && c.Load == l.Load })
	if c == nil {
		return unknown(NotMeasured, "")
	}
	level := find(c.Levels, func(k *LevelComparison) bool { return k.Point == l.Point })
	r := inMetric(level.Results, ComparedMetric(o.Of, o.Percentile))
	if r == nil {
		return unknown(NotMeasured, "")
	}
	f := unknown(FewBlocks, "")
	f.n = r.Blocks
	if r.Ratio != nil {
		f.value = *r.Ratio
	}
	if r.Low != nil {
		f.low, f.high, f.why = *r.Low, *r.High, ""
	}
	f.loosen(r.Metric, r.ContenderIsBound, r.BaselineIsBound)
	f.share(r.Diluted)
	f.faulty = level.OwnFaults+level.BaselineFaults+level.contenderMissed()+level.baselineMissed() > 0
	return f
}

// share opens the interval of a ratio whose two sides took turns or shared a busy generator.
func (f *figure) share(diluting bool) {
	if diluting && f.why == "" {
		f.why, f.low, f.high = Shared, diluted(f.low), diluted(f.high)
	}
}

// diluted opens the end of a diluted ratio's interval that points away from 1: the servers may differ by more.
func diluted(end float64) float64 {
	switch {
	case end > 1:
		return math.Inf(1)
	case end < 1:
		return 0
	}
	return end
}

// loosen takes the ends of a ratio's interval whose numerator or denominator is only a bound: a lower one of a throughput, an upper one of
// a latency.
func (f *figure) loosen(m Metric, numerator, denominator bool) {
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
		f.why = OnlyBound
	}
}
