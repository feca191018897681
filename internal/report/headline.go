package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/view"
)

// headline says first what decides about success: the objectives. An A/A run begins with its noise floor.
func (v run) headline() []page.Entry {
	h := v.Table.Headline()
	var out []page.Entry
	if h.Gate != nil {
		title, worst := v.Gate(h.Gate)
		tone := "faster"
		switch {
		case h.Gate.Missed > 0:
			tone = "slower"
		case h.Gate.Undecided > 0:
			tone = "unknown"
		}
		out = append(out, page.Entry{Title: title + ".", Tone: tone, Lines: []string{sentence(format.Capital(worst))}})
	}
	if h.Calibration != nil {
		out = append(out, page.Entry{Title: v.Calibration(h) + ".", Tone: "same", Lines: []string{v.Say("sub.calibration")}})
	}
	for _, e := range h.Entries {
		out = append(out, v.headlineEntry(h, e))
	}
	for _, c := range h.Cases {
		title, largest := v.Cases(c)
		out = append(out, page.Entry{Title: title + ".", Tone: casesTone(c), Lines: nonEmpty(sentence(format.Capital(largest)))})
	}
	if len(h.Entries)+len(h.Cases) > 0 {
		return out
	}
	key := "headline.alone"
	if len(h.Peaks)+h.AloneCases == 0 {
		key = "headline.nothing"
	}
	out = append(out, page.Entry{Title: v.Say(key), Tone: "unknown", Lines: []string{v.LineWithoutComparison(h)}})
	return out
}

func (v run) headlineEntry(h analysis.Headline, e analysis.HeadlineEntry) page.Entry {
	o := v.OutcomeOf(h, e, v.levelOf)
	out := page.Entry{Title: v.LoadOf(h, e) + o.Title + o.Second + ".", Tone: view.Tone(e.Verdict)}
	if e.Metric == verdict.Capacity {
		if found := v.Found(h, e.Load); found != "" {
			out.Title = v.LoadOf(h, e) + found + "."
			out.Lines = append(out.Lines, sentence(o.Title))
		}
	}
	evidence := sentence(o.Evidence)
	if evidence != "" && e.Indicated == nil && e.Said() != verdict.Better && e.Said() != verdict.Worse {
		evidence = v.Say("sub.observed", o.Evidence)
	}
	out.Lines = append(out.Lines, format.Join(" ", sentence(format.Capital(o.Why)), sentence(format.Capital(o.Decide))), evidence)
	for _, b := range o.Besides {
		out.Lines = append(out.Lines, sentence(b))
	}
	out.Lines = append(out.Lines, sentence(o.Unsustained))
	if len(o.Levels) > 0 {
		out.Lines = append(out.Lines, sentence(strings.Join(o.Levels, "; ")))
	}
	if e.Detectable != nil && e.Indicated == nil && e.FewestPairs >= v.Table.Rules.MinBlocks && e.Verdict != verdict.Better && e.Verdict != verdict.Worse && e.Reason != verdict.ImplementationFailures && e.Reason != verdict.SuspectCells {
		out.Lines = append(out.Lines, v.Say("sub.detectable", format.Percent(*e.Detectable), format.PlainPercent(v.Table.Rules.Power)))
	}
	out.Lines = nonEmpty(out.Lines...)
	return out
}

func nonEmpty(lines ...string) []string {
	return slices.DeleteFunc(lines, func(s string) bool { return s == "" })
}

func casesTone(c analysis.CaseOutcome) string {
	switch {
	case c.Better > 0 && c.Worse+c.Mixed == 0:
		return view.Tone(verdict.Better)
	case c.Worse > 0 && c.Better+c.Mixed == 0:
		return view.Tone(verdict.Worse)
	case c.Same == c.Cases:
		return view.Tone(verdict.NoDifference)
	}
	return view.Tone(verdict.Inconclusive)
}

func sentence(words string) string {
	if words == "" {
		return ""
	}
	return words + "."
}

func (v run) levelOf(l verdict.Winner) string { return v.PointName(l.Point) }

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

// cellsBadge counts each measured cell once.
func (v run) cellsBadge(key string, c analysis.CellCount) string {
	n := format.Integer[int]
	suspect := c.SuspectCells - c.SuspectLatencies
	words := v.Say(key, n(c.MeasuredCells-c.VoidCells-c.SuspectCells), n(c.PlannedCells))
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
