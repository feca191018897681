package stats

import (
	"cmp"
	"maps"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Headline is the outcome of a run in one line, still to be put into words.
type Headline struct {
	// Entries hold one contender each: those with a verdict first, the largest difference first.
	Entries []HeadlineEntry `json:"entries"`
	// Peaks hold each implementation's best mean throughput, in the order of the spec; it is all there is to say of a run that
	// compares nothing.
	Peaks []Peak `json:"peaks"`
	// MeasuredTrials and PlannedTrials are the run's.
	MeasuredTrials int `json:"measuredTrials"`
	PlannedTrials  int `json:"plannedTrials"`
	// Rules are those by which the verdicts were found.
	Rules Rules `json:"rules"`
}

// HeadlineEntry is one contender against the baseline. In a run of which all loads are searches, it compares what those of one load
// have found.
type HeadlineEntry struct {
	// Load is the load of a search; empty for a comparison over levels.
	Load           string        `json:"load,omitempty"`
	Implementation string        `json:"implementation"`
	Baseline       string        `json:"baseline"`
	Verdict        Verdict       `json:"verdict"`
	Reason         VerdictReason `json:"reason,omitempty"`
	Metric         Metric        `json:"metric"`
	// Ratio, Low and High are contender / baseline in the metric.
	Ratio *float64 `json:"ratio,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Factor, FactorLow and FactorHigh say how many times as fast or slow: the same ratio, turned to be at least 1 where the
	// verdict is Faster or Slower.
	Factor     *float64 `json:"factor,omitempty"`
	FactorLow  *float64 `json:"factorLow,omitempty"`
	FactorHigh *float64 `json:"factorHigh,omitempty"`
	// AtLeast is true if Factor is only a lower bound.
	AtLeast    bool     `json:"atLeast,omitempty"`
	Detectable *float64 `json:"detectable,omitempty"`
	Blocks     int      `json:"blocks"`
	// BlocksNeeded is how many blocks would about decide; 0 if unknown or decided.
	BlocksNeeded int `json:"blocksNeeded,omitempty"`
	// Cells are the measured cells of both sides, VoidCells those of them that count nowhere, and VoidReasons why, the most
	// frequent first.
	Cells       int          `json:"cells"`
	VoidCells   int          `json:"voidCells"`
	VoidReasons []ReasonCode `json:"voidReasons,omitempty"`
	// Levels is the number of levels in the mean, Agreeing the number of them with the same verdict.
	Levels   int `json:"levels"`
	Agreeing int `json:"agreeing"`
	// Least and Most are the levels with the same verdict and the smallest and the largest factor; nil if there are fewer than two.
	Least *LevelFactor `json:"least,omitempty"`
	Most  *LevelFactor `json:"most,omitempty"`
}

// LevelFactor is how many times faster or slower a contender is at one level.
type LevelFactor struct {
	record.Point
	Factor float64 `json:"factor"`
}

// Peak is the best mean throughput of an implementation.
type Peak struct {
	Implementation string        `json:"implementation"`
	Role           v1alpha1.Role `json:"role"`
	record.Point
	Throughput Summary `json:"throughputRequestsPerSecond"`
	IsBound    bool    `json:"isLowerBound"`
	// Kept is true if Throughput is of the highest rates that searches found to keep their bound.
	Kept bool `json:"kept,omitempty"`
}

// Headline puts the outcome in a nutshell.
func (t Table) Headline() Headline {
	h := Headline{MeasuredTrials: t.Coverage.MeasuredTrials, PlannedTrials: t.Coverage.PlannedTrials, Rules: t.Rules, Entries: []HeadlineEntry{}, Peaks: []Peak{}}
	for _, c := range t.Comparisons {
		e := entry(c)
		t.countVoid(&e)
		h.Entries = append(h.Entries, e)
	}
	if len(t.Levels) == 0 {
		t.addCapacities(&h)
	}
	slices.SortStableFunc(h.Entries, func(a, b HeadlineEntry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.size(), a.size()))
	})
	for _, i := range t.Implementations {
		if p, ok := t.peak(i); ok {
			h.Peaks = append(h.Peaks, p)
		}
	}
	return h
}

// addCapacities says what searches have found.
func (t Table) addCapacities(h *Headline) {
	for _, c := range t.Capacities {
		if c.Rate != nil {
			h.Peaks = append(h.Peaks, Peak{Implementation: c.Implementation, Role: c.Role, Point: c.Point(), Throughput: *c.Rate, IsBound: c.IsBound, Kept: true})
		}
		if r := c.ToBaseline; r != nil {
			e := HeadlineEntry{Load: c.Load, Implementation: c.Implementation, Baseline: t.Run.Baseline, Verdict: r.Verdict, Reason: r.Reason}
			e.AtLeast = r.Verdict == Faster && r.ContenderIsBound || r.Verdict == Slower && r.BaselineIsBound
			e.measure(*r)
			h.Entries = append(h.Entries, e)
		}
	}
}

// Conclusive says whether every comparison of the run has a verdict, with a reason of the API's condition Conclusive. Searches are
// asked only where there is nothing else.
func (t Table) Conclusive() (conclusive bool, reason string) {
	entries := t.Headline().Entries
	if len(entries) == 0 {
		return false, v1alpha1.ReasonNothingToCompare
	}
	reason = v1alpha1.ReasonDone
	for _, e := range entries {
		switch {
		case e.Verdict != Inconclusive:
		case e.Reason == TooFewBlocks:
			return false, v1alpha1.ReasonTooFewBlocks
		default:
			reason = v1alpha1.ReasonNoiseTooHigh
		}
	}
	return reason == v1alpha1.ReasonDone, reason
}

func entry(c Comparison) HeadlineEntry {
	e := HeadlineEntry{Implementation: c.Implementation, Baseline: c.Baseline, Verdict: c.Verdict, Reason: c.Reason}
	e.agree(c)
	e.measure(c.Deciding())
	return e
}

// measure copies the numbers of the result whose verdict the entry has.
func (e *HeadlineEntry) measure(r Result) {
	e.Metric, e.Ratio, e.Low, e.High, e.Detectable = r.Metric, r.Ratio, r.Low, r.High, r.Detectable
	e.Blocks, e.BlocksNeeded, e.Levels = r.Blocks, r.BlocksNeeded, r.Levels
	e.Factor, e.FactorLow, e.FactorHigh = r.Ratio, r.Low, r.High
	switch {
	case r.Advantage == nil:
	case e.Verdict == Faster:
		e.Factor, e.FactorLow, e.FactorHigh = &r.Advantage.Ratio, r.Advantage.Low, r.Advantage.High
	case e.Verdict == Slower:
		e.Factor, e.FactorLow, e.FactorHigh = inverse(&r.Advantage.Ratio), inverse(r.Advantage.High), inverse(r.Advantage.Low)
	}
}

// agree looks at the levels with the verdict of the whole.
func (e *HeadlineEntry) agree(c Comparison) {
	for _, l := range c.Levels {
		if l.Verdict != c.Verdict {
			continue
		}
		e.Agreeing++
		f := l.Deciding().Factor
		if f == nil {
			continue
		}
		here := LevelFactor{Point: l.Point, Factor: *f}
		if e.Least == nil || here.Factor < e.Least.Factor {
			e.Least = &here
		}
		if e.Most == nil || here.Factor > e.Most.Factor {
			e.Most = &here
		}
	}
	if e.Agreeing < 2 {
		e.Least, e.Most = nil, nil
	}
}

// countVoid says how many cells of the two sides are void, and why.
func (t Table) countVoid(e *HeadlineEntry) {
	counts := map[ReasonCode]int{}
	for _, g := range t.Groups {
		if g.Implementation != e.Implementation && g.Implementation != e.Baseline {
			continue
		}
		e.Cells += len(g.Cells)
		e.VoidCells += g.Void
		for _, f := range g.Findings {
			if f.Weight == Void {
				counts[f.Code] += len(f.Blocks)
			}
		}
	}
	e.VoidReasons = slices.SortedFunc(maps.Keys(counts), func(a, b ReasonCode) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

func inverse(v *float64) *float64 {
	if v == nil {
		return nil
	}
	i := 1 / *v
	return &i
}

// rank orders verdicts: winners and losers, then draws, then the undecided.
func rank(e HeadlineEntry) int {
	switch e.Verdict {
	case Faster, Slower:
		return 0
	case NoDifference:
		return 1
	case Inconclusive:
	}
	return 2
}

// size is how far the factor lies from 1, in the direction of the verdict.
func (e HeadlineEntry) size() float64 {
	if e.Factor == nil {
		return 0
	}
	return *e.Factor
}

func (t Table) peak(i Implementation) (Peak, bool) {
	var best Peak
	found := false
	for _, g := range t.Groups {
		if g.Implementation != i.Name || g.Throughput == nil || (found && g.Throughput.Mean <= best.Throughput.Mean) {
			continue
		}
		best = Peak{Implementation: i.Name, Role: i.Role, Point: g.Point, Throughput: *g.Throughput, IsBound: g.ThroughputIsBound}
		found = true
	}
	return best, found
}
