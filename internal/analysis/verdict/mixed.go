package verdict

import (
	"cmp"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

// Winner is a winner in one metric at one place.
type Winner struct {
	// Point is a level; without connections, the mean over a load's levels; without a load, the comparison's own mean.
	record.Point
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`
	Metric  Metric  `json:"metric"`
	// Ratio, Low and High are contender / baseline; nil if an unsustained rate decided. AtLeast marks a lower bound.
	Ratio   *float64    `json:"ratio,omitempty"`
	Low     *float64    `json:"low,omitempty"`
	High    *float64    `json:"high,omitempty"`
	Blocks  int         `json:"blocks,omitempty"`
	AtLeast bool        `json:"atLeast,omitempty"`
	Rate    *RateCounts `json:"rate,omitempty"`
	// SuspectCells of UsedCells behind the ratio are suspect in Metric.
	UsedCells      int             `json:"usedCells,omitempty"`
	SuspectCells   int             `json:"suspectCells,omitempty"`
	SuspectReasons []validity.Code `json:"suspectReasons,omitempty"`
}

// WinnerAt returns a decided result as a winner at a place.
func WinnerAt(at record.Point, r Result) Winner {
	w := Winner{Point: at, Verdict: r.Verdict, Metric: r.Metric, Ratio: r.Ratio, Low: r.Low, High: r.High, Blocks: r.Blocks, AtLeast: r.AtLeast(r.Verdict)}
	w.SuspectCells, w.UsedCells, w.SuspectReasons = r.Suspects()
	return w
}

// Winner returns the level's winner; false if it has none.
func (l LevelComparison) Winner() (Winner, bool) {
	w := WinnerAt(l.Point, l.Deciding())
	if l.Reason == RateNotSustained {
		w = Winner{Point: l.Point, Reason: l.Reason, Metric: l.Metric, Rate: l.Rate}
	}
	w.Verdict = l.Verdict
	return w, l.Verdict == Better || l.Verdict == Worse
}

// Size is the log of the difference; infinite for an unsustained rate.
func (w Winner) Size() float64 {
	if w.Ratio == nil {
		return math.Inf(1)
	}
	return math.Abs(math.Log(*w.Ratio))
}

// hides reports whether the comparison's sentence would say nothing of a winner's side. DependsOnLoad lists its
// levels or loads.
func (c *Comparison) hides(w Winner) bool {
	switch c.Verdict {
	case Better, Worse:
		return w.Verdict != c.Verdict
	case DependsOnLoad:
		return !slices.ContainsFunc(c.Levels, func(l LevelComparison) bool { return l.Verdict == w.Verdict }) &&
			!slices.ContainsFunc(c.Loads, func(l LoadVerdict) bool { return l.Verdict == w.Verdict })
	case NoDifference, Inconclusive, Mixed, Differs:
	}
	return true
}

// winners lists the winners in any metric, of the mean and of each level of several.
func (c *Comparison) winners(mean record.Point) []Winner {
	out := winnersAt(mean, c.Overall)
	for _, l := range c.Levels {
		if w, _ := l.Winner(); l.Reason == RateNotSustained {
			out = append(out, w)
		}
		if len(c.Levels) > 1 {
			out = append(out, winnersAt(l.Point, l.Results)...)
		}
	}
	return out
}

func winnersAt(at record.Point, results []Result) []Winner {
	var out []Winner
	for _, r := range results {
		if r.Decided() {
			out = append(out, WinnerAt(at, r))
		}
	}
	return out
}

// weighAgainst keeps the winners that the sentence would hide, the largest first. A winner or equality that they
// contradict becomes Mixed.
func (c *Comparison) weighAgainst(winners []Winner) {
	for _, w := range winners {
		ofMean := func(o Winner) bool {
			return o.Point == record.Point{} && o.Metric == w.Metric && o.Verdict == w.Verdict
		}
		if c.hides(w) && (ofMean(w) || w.Reason == RateNotSustained || !slices.ContainsFunc(winners, ofMean)) {
			c.Against = append(c.Against, w)
		}
	}
	slices.SortStableFunc(c.Against, func(a, b Winner) int { return cmp.Compare(b.Size(), a.Size()) })
	if len(c.Against) > 0 && c.Verdict != Inconclusive && c.Verdict != DependsOnLoad {
		c.Main, c.Verdict = c.Verdict, Mixed
	}
	if len(c.Levels) == 1 && c.Verdict == Mixed {
		c.Levels[0].Verdict = Mixed
	}
}
