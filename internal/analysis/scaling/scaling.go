package scaling

import (
	"cmp"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Outcome is how a sweep ends for an implementation.
type Outcome string

const (
	// NotReached: the throughput still rises at the last level.
	NotReached Outcome = "NotReached"
	// SaturatedAtOrBelowFirst: no level rises over the first one.
	SaturatedAtOrBelowFirst Outcome = "SaturatedAtOrBelowFirst"
	// Knee: the Universal Scalability Law gives the peak.
	Knee Outcome = "Knee"
	// SaturatesBetween means a rise up to one level and not beyond the next.
	SaturatesBetween Outcome = "SaturatesBetween"
	// GeneratorLimited: the generator's limit came first.
	GeneratorLimited Outcome = "GeneratorLimited"
	// Unclear means too few blocks or too much noise.
	Unclear Outcome = "Unclear"
)

// Result is how throughput follows a closed load's connections.
type Result struct {
	Implementation string         `json:"implementation"`
	Load           string         `json:"load"`
	Outcome        Outcome        `json:"outcome"`
	Reason         verdict.Reason `json:"reason,omitempty"`
	Points         []Point        `json:"points"`
	// From and To enclose the limit, in connections; 0 if unknown. For NotReached, From is the last level.
	From int32 `json:"fromConnections,omitempty"`
	To   int32 `json:"toConnections,omitempty"`
	// GeneratorLimitFrom is the first level limited by the generator; no level from there on shows a knee.
	GeneratorLimitFrom int32 `json:"generatorLimitFromConnections,omitempty"`
	// Asymptotic is the estimate N* = Xmax · R(1): the connections that keep the server always busy if none waited
	// for another. R(1) is 1 / X(1), so it needs level 1; it is not given for several streams.
	Asymptotic *Estimate `json:"asymptoticConnections,omitempty"`
	Knee       *Estimate `json:"kneeConnections,omitempty"`
	// Fit is for outcome Knee. It is not given for several streams, since its parameters assume one request at a
	// time.
	Fit *inference.USL `json:"usl,omitempty"`
}

// Point is one level of a sweep.
type Point struct {
	Connections int32              `json:"connections"`
	Throughput  *inference.Summary `json:"throughputRequestsPerSecond,omitempty"`
	IsBound     bool               `json:"throughputIsLowerBound"`
	// PerConnection is relative to level 1; nil without it.
	PerConnection *float64 `json:"perConnectionShare,omitempty"`
	// Residual is measured / fitted throughput - 1.
	Residual *float64 `json:"residual,omitempty"`
}

// Estimate is a number with its interval at inference.Confidence, from N blocks.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	N     int     `json:"n"`
}

const (
	// leastElasticity is the least rise that matters: a twentieth of the added share of connections, however little
	// noise there is.
	leastElasticity = 0.05
	// flatElasticity: if noise cannot rule out half of a proportional rise, it is unclear whether the throughput
	// still rises.
	flatElasticity = 0.5
	// uslLevels and uslBeside are the law's needs: six levels, two on each side of the peak. From four levels,
	// resampled peaks ranged over six powers of ten.
	uslLevels, uslBeside = 6, 2
	// uslMisfit is how far the curve may miss any level. The law rounds off sharp ends: fitted to a server that rises
	// to 10 connections and then stays, it invents a peak at 44, with a narrow interval.
	uslMisfit = 0.1
)

// Of evaluates all loads whose closed levels differ in connections only.
func Of(p planned.Run, groups []validity.Group, seed uint64) []Result {
	out := []Result{}
	for _, load := range sweeps(p.Levels) {
		for _, i := range p.Implementations {
			s := sweep{seed: seed + uint64(len(out)), streams: load[0].StreamsPerConnection > 1, out: Result{Implementation: i.Name, Load: load[0].Load, Points: []Point{}}}
			for _, l := range load {
				s.add(validity.GroupAt(groups, l.Point, i.Name))
			}
			s.conclude()
			out = append(out, s.out)
		}
	}
	return out
}

func sweeps(levels []planned.Level) [][]planned.Level {
	var out [][]planned.Level
	for _, l := range levels {
		if l.RequestsPerSecond > 0 || l.Step > 0 {
			continue
		}
		k := slices.IndexFunc(out, func(s []planned.Level) bool { return s[0].Load == l.Load })
		if k < 0 {
			out = append(out, []planned.Level{l})
			continue
		}
		out[k] = append(out[k], l)
	}
	out = slices.DeleteFunc(out, func(s []planned.Level) bool { return len(s) < 2 })
	for _, s := range out {
		slices.SortFunc(s, func(a, b planned.Level) int { return cmp.Compare(a.Connections, b.Connections) })
	}
	return out
}

type sweep struct {
	seed    uint64
	levels  []inference.BlockRates
	streams bool
	out     Result
}

func (s *sweep) add(g *validity.Group) {
	rates := map[int32]float64{}
	for _, c := range g.Cells {
		if c.Validity != validity.Void && c.Throughput != nil {
			rates[c.Block] = *c.Throughput
		}
	}
	s.levels = append(s.levels, inference.BlockRates{Connections: g.Connections, Rates: rates})
	s.out.Points = append(s.out.Points, Point{Connections: g.Connections, Throughput: g.Throughput, IsBound: g.ThroughputIsBound})
	if g.ThroughputIsBound && s.out.GeneratorLimitFrom == 0 {
		s.out.GeneratorLimitFrom = g.Connections
	}
}

// conclude decides where the throughput stops rising. A level is at the limit if none after it rises over it. A lower
// bound may rise over a level, but cannot be at the limit.
func (s *sweep) conclude() {
	s.perConnection()
	free := len(s.levels)
	if k := slices.IndexFunc(s.out.Points, func(p Point) bool { return p.IsBound }); k >= 0 {
		free = k
	}
	if free < 2 && s.out.GeneratorLimitFrom > 0 {
		s.out.Outcome = GeneratorLimited
		return
	}
	last := -1
	for k := range free {
		for l := k + 1; l < len(s.levels); l++ {
			if s.step(k, l).rises() {
				last = k
			}
		}
	}
	ends := s.step(max(free-2, 0), free-1)
	if first := last + 1; first < free-1 {
		ends = s.step(first, free-1)
	}
	s.asymptote(free)
	switch {
	case last >= free-2 && s.out.GeneratorLimitFrom > 0:
		s.out.Outcome = GeneratorLimited
	case last >= free-2:
		s.out.Outcome, s.out.From = NotReached, s.levels[free-1].Connections
	case ends.pairs < inference.MinPairs:
		s.out.Outcome, s.out.Reason = Unclear, verdict.TooFewBlocks
	case ends.high >= flatElasticity:
		s.out.Outcome, s.out.Reason = Unclear, verdict.NoiseTooHigh
	case last < 0:
		s.out.Outcome, s.out.To = SaturatedAtOrBelowFirst, s.levels[0].Connections
	default:
		s.out.Outcome, s.out.From, s.out.To = SaturatesBetween, s.levels[last].Connections, s.levels[last+1].Connections
		s.fit(s.levels[:free])
	}
}

func (s *sweep) perConnection() {
	first := s.out.Points[0]
	if first.Connections != 1 || first.Throughput == nil || first.IsBound {
		return
	}
	for k := range s.out.Points {
		p := &s.out.Points[k]
		if p.Throughput != nil {
			share := p.Throughput.Mean / float64(p.Connections) / first.Throughput.Mean
			p.PerConnection = &share
		}
	}
}

type rise struct {
	pairs           int
	mean, low, high float64
}

func (r rise) rises() bool {
	return r.pairs >= inference.MinPairs && r.low > 0 && r.mean >= leastElasticity
}

func (s *sweep) step(from, to int) rise {
	a, b := s.levels[from], s.levels[to]
	proportional := math.Log(float64(b.Connections) / float64(a.Connections))
	if proportional <= 0 {
		return rise{}
	}
	e := inference.NewEstimate([]inference.Stratum{{Weight: 1, Samples: s.ratios(from, to)}})
	out := rise{pairs: e.Blocks, mean: e.Mean / proportional}
	if e.Known {
		low, high := e.Interval()
		out.low, out.high = low/proportional, high/proportional
	}
	return out
}

func (s *sweep) ratios(under, over int) []inference.Sample {
	var out []inference.Sample
	for _, b := range s.blocks() {
		x, ok := s.levels[under].Rates[b]
		y, both := s.levels[over].Rates[b]
		if ok && both {
			out = append(out, inference.Sample{Block: b, Span: inference.Exactly(math.Log(y / x))})
		}
	}
	return out
}

func (s *sweep) blocks() []int32 {
	var out []int32
	for _, l := range s.levels {
		for b := range l.Rates {
			out = append(out, b)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asymptote: if the generator limited a level, Xmax is unknown.
func (s *sweep) asymptote(free int) {
	if s.levels[0].Connections != 1 || s.streams || free < len(s.levels) || free < 2 {
		return
	}
	best := s.best()
	e := inference.NewEstimate([]inference.Stratum{{Weight: 1, Samples: s.ratios(0, best)}})
	if e.Known && best > 0 {
		low, high := e.Interval()
		s.out.Asymptotic = &Estimate{Value: math.Exp(e.Mean), Low: math.Exp(low), High: math.Exp(high), N: e.Blocks}
	}
}

func (s *sweep) best() int {
	best := 0
	for k, p := range s.out.Points {
		if p.Throughput != nil && (s.out.Points[best].Throughput == nil || p.Throughput.Mean > s.out.Points[best].Throughput.Mean) {
			best = k
		}
	}
	return best
}

// fit needs enough levels and blocks, a fall beyond the peak by more than noise, and a curve that misses no level.
func (s *sweep) fit(levels []inference.BlockRates) {
	blocks := s.blocks()
	if len(levels) < uslLevels || levels[0].Connections != 1 || len(blocks) < verdict.MinBlocks || s.step(s.best(), len(levels)-1).high >= 0 {
		return
	}
	u, ok := inference.FitUSL(levels)
	knee := u.Peak()
	if !ok || math.IsInf(knee, 1) || !surrounded(levels, knee) {
		return
	}
	residuals := make([]*float64, len(levels))
	for k, l := range levels {
		if t := s.out.Points[k].Throughput; t != nil {
			r := t.Mean/u.At(float64(l.Connections)) - 1
			if math.Abs(r) > uslMisfit {
				return
			}
			residuals[k] = &r
		}
	}
	low, high, ok := inference.PeakInterval(levels, blocks, knee, s.seed)
	if !ok {
		return
	}
	s.out.Outcome, s.out.Knee = Knee, &Estimate{Value: knee, Low: low, High: high, N: len(blocks)}
	if s.streams {
		return
	}
	s.out.Fit = &u
	for k, r := range residuals {
		s.out.Points[k].Residual = r
	}
}

func surrounded(levels []inference.BlockRates, knee float64) bool {
	below, above := 0, 0
	for _, l := range levels {
		switch n := float64(l.Connections); {
		case n < knee:
			below++
		case n > knee:
			above++
		}
	}
	return below >= uslBeside && above >= uslBeside
}
