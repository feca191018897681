package report

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
)

func (v run) badges() []page.Badge {
	c := v.Table.Coverage
	own := c.Contenders()
	var out []page.Badge
	add := func(good bool, words string) {
		tone := "care"
		if good {
			tone = "good"
		}
		out = append(out, page.Badge{Text: words, Tone: tone})
	}
	n := format.Integer[int]
	if len(v.Table.Objectives) > 0 {
		out = append(out, v.objectiveBadge())
	}
	add(c.MeasuredTrials == c.PlannedTrials, v.Say("badge.trials", n(c.MeasuredTrials), n(c.PlannedTrials)))
	add(own.VoidCells == 0 && own.SuspectCells == own.SuspectLatencies && own.MeasuredCells == own.PlannedCells, v.cellsBadge("badge.valid", own))
	switch {
	case own.MeasuredCells == 0:
	case own.PinnedCells == own.MeasuredCells:
		add(true, v.Say("badge.pinned"))
	default:
		add(false, v.Say("badge.pinned.not", n(own.MeasuredCells-own.PinnedCells), n(own.MeasuredCells)))
	}
	if slices.ContainsFunc(v.Table.Environment, func(f environment.Fact) bool { return f.Differs }) {
		add(false, v.Say("badge.environment"))
	} else {
		add(true, v.Say("badge.environment.same"))
	}
	if c.References.PlannedCells > 0 {
		out = append(out, page.Badge{Text: v.cellsBadge("badge.references", c.References), Tone: "plain"})
	}
	return out
}

// cellsBadge returns how many cells are valid, and what the others are. Where only the latencies of a cell are suspect, the rest of it is
// valid: a generator that works hard delays answers, and counts them rightly.
func (v run) cellsBadge(key string, c analysis.CellCount) string {
	n := format.Integer[int]
	suspect := c.SuspectCells - c.SuspectLatencies
	words := v.Say(key, n(c.MeasuredCells-c.VoidCells-suspect), n(c.PlannedCells))
	if c.SuspectLatencies > 0 {
		words += ", " + v.Say("badge.latencies", n(c.SuspectLatencies))
	}
	if suspect > 0 {
		words += ", " + v.Say("badge.suspect", n(suspect))
	}
	if c.VoidCells > 0 {
		words += ", " + v.Say("badge.void", n(c.VoidCells))
	}
	return words
}
