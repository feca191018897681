package verdict

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
)

// Grade is how certain a comparison is.
type Grade string

const (
	// Proved: the verdict meets every limit of noise.
	Proved Grade = "Proved"
	// Indicated: disturbed cells count, with intervals as much wider as the disturbance may have changed them.
	Indicated Grade = "Indicated"
	// NotComparable: too few blocks, disturbed ones included.
	NotComparable Grade = "NotComparable"
)

// Indication is the winner of a comparison that counts disturbed cells.
type Indication struct {
	Verdict Verdict         `json:"verdict"`
	Metric  Metric          `json:"metric"`
	Ratio   float64         `json:"ratio"`
	Low     float64         `json:"low"`
	High    float64         `json:"high"`
	Levels  int             `json:"levels"`
	Blocks  int             `json:"blocks"`
	Cells   int             `json:"cells"`
	Void    int             `json:"voidCells"`
	Reasons []validity.Code `json:"voidReasons"`
	AtLeast bool            `json:"atLeast,omitempty"`
}

// Grade is empty for an inconclusive comparison with enough blocks.
func (c Comparison) Grade() Grade {
	switch {
	case c.Verdict != Inconclusive:
		return Proved
	case c.Indicated != nil:
		return Indicated
	case c.Reason == TooFewBlocks:
		return NotComparable
	}
	return ""
}

// indicate looks for winners of comparisons that lack valid cells. Its errors have a separate budget.
func indicate(p planned.Run, groups []validity.Group, failures map[string]int, all []Comparison) {
	if !slices.ContainsFunc(all, open) || !slices.ContainsFunc(groups, disturbed) {
		return
	}
	again := Admitting(p, groups, failures)
	for k := range all {
		if open(all[k]) {
			all[k].Indicated = again[k].indication()
		}
	}
}

func open(c Comparison) bool { return c.Verdict == Inconclusive }

func disturbed(g validity.Group) bool { return slices.ContainsFunc(g.Cells, validity.Cell.OnlyNoisy) }

// Admitting compares as Compare does, but counts the cells that only noise made void.
func Admitting(p planned.Run, groups []validity.Group, failures map[string]int) []Comparison {
	out := comparisons(p, admit(groups), failures)
	judgeAll(out, Searches{}, AnalysisAlpha(p.Analyses), false)
	return out
}

func admit(groups []validity.Group) []validity.Group {
	out := slices.Clone(groups)
	for k := range out {
		out[k].Cells = slices.Clone(out[k].Cells)
		for j := range out[k].Cells {
			out[k].Cells[j].Admit()
		}
	}
	return out
}

func (c Comparison) indication() *Indication {
	d := c.Deciding()
	if c.Verdict != Better && c.Verdict != Worse || c.Reason == RateNotSustained || d.admitted == 0 {
		return nil
	}
	return &Indication{
		Verdict: c.Verdict, Metric: d.Metric, Ratio: *d.Ratio, Low: *d.Low, High: *d.High, Levels: d.Levels, Blocks: d.Blocks,
		Cells: d.contender.cells + d.base.cells, Void: d.admitted, Reasons: util.Distinct(d.noise), AtLeast: d.AtLeast(c.Verdict),
	}
}
