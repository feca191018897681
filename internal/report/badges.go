package report

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis"
)

// badge is one thing to know at a glance.
type badge struct {
	Text string
	// Tone is good, care, bad or plain.
	Tone string
}

func (v *view) badges() []badge {
	c := v.t.Coverage
	own := c.Contenders()
	var out []badge
	add := func(good bool, words string) {
		tone := "care"
		if good {
			tone = "good"
		}
		out = append(out, badge{Text: words, Tone: tone})
	}
	n := func(i int) string { return integer(int64(i)) }
	if len(v.t.Objectives) > 0 {
		out = append(out, v.objectiveBadge())
	}
	add(c.MeasuredTrials == c.PlannedTrials, v.say("badge.trials", n(c.MeasuredTrials), n(c.PlannedTrials)))
	add(own.VoidCells == 0 && own.SuspectCells == own.SuspectLatencies && own.MeasuredCells == own.PlannedCells, v.cellsBadge("badge.valid", own))
	if own.PinnedCells == own.MeasuredCells {
		add(own.MeasuredCells > 0, v.say("badge.pinned"))
	} else {
		add(false, v.say("badge.pinned.not", n(own.MeasuredCells-own.PinnedCells), n(own.MeasuredCells)))
	}
	if slices.ContainsFunc(v.t.Environment, func(f analysis.Fact) bool { return f.Differs }) {
		add(false, v.say("badge.environment"))
	} else {
		add(true, v.say("badge.environment.same"))
	}
	if c.Limits.PlannedCells > 0 {
		out = append(out, badge{Text: v.cellsBadge("badge.limits", c.Limits), Tone: "plain"})
	}
	return out
}

// cellsBadge says how many cells are valid, and what the others are. Where only the latencies of a cell are suspect, the rest of it is
// valid: a generator that works hard delays answers, and counts them rightly.
func (v *view) cellsBadge(key string, c analysis.CellCount) string {
	n := func(i int) string { return integer(int64(i)) }
	suspect := c.SuspectCells - c.SuspectLatencies
	words := v.say(key, n(c.MeasuredCells-c.VoidCells-suspect), n(c.PlannedCells))
	if c.SuspectLatencies > 0 {
		words += ", " + v.say("badge.latencies", n(c.SuspectLatencies))
	}
	if suspect > 0 {
		words += ", " + v.say("badge.suspect", n(suspect))
	}
	if c.VoidCells > 0 {
		words += ", " + v.say("badge.void", n(c.VoidCells))
	}
	return words
}
