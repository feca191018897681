package phrase

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/report/format"
)

// maxLine is a status's room for a verdict.
const maxLine = 512

// Line prints a headline as one line of at most 512 ASCII bytes: objectives first, then winners.
func (l Lexicon) Line(h analysis.Headline) string {
	var parts []string
	if h.Gate != nil {
		title, worst := l.Gate(h.Gate)
		parts = append(parts, format.Join(": ", title, worst))
	}
	if h.Calibration != nil {
		parts = append(parts, l.Calibration(h))
	}
	for _, e := range h.Entries {
		parts = append(parts, l.Entry(h, e))
	}
	for _, c := range h.Cases {
		title, largest := l.Cases(c)
		parts = append(parts, format.Join("; ", title, largest))
	}
	if len(h.Entries)+len(h.Cases) == 0 {
		parts = append(parts, l.LineWithoutComparison(h))
	}
	return l.fit(append(parts, l.Gaps(h)...))
}

// Gaps lists requested parts that the run lacks: readable output, names, cases, profiles.
func (l Lexicon) Gaps(h analysis.Headline) []string {
	var out []string
	for _, u := range h.Unread {
		out = append(out, l.UnreadOutput(u))
	}
	for _, n := range h.Unprinted {
		out = append(out, strings.TrimSuffix(l.CaseName(n), "."))
	}
	out = append(out, l.CaseGaps(h.CaseGaps)...)
	for _, g := range h.Profiles {
		out = append(out, l.ProfileGap(g))
	}
	return out
}

func (l Lexicon) fit(parts []string) string {
	line := ""
	for i, part := range parts {
		next := format.ASCII(part)
		if i > 0 {
			next = "; " + next
		}
		rest := l.Say("line.more", len(parts)-i)
		if len(line)+len(next)+len(rest) <= maxLine || i == len(parts)-1 && len(line)+len(next) <= maxLine {
			line += next
			continue
		}
		if i == 0 {
			return util.Clip(next, maxLine)
		}
		return line + rest
	}
	return line
}

// LineWithoutComparison describes a run that compares nothing.
func (l Lexicon) LineWithoutComparison(h analysis.Headline) string {
	switch {
	case h.AloneCases > 0:
		return l.Count("line.cases", h.AloneCases)
	case len(h.Peaks) == 0:
		return l.Say("line.nothing", h.MeasuredTrials, h.PlannedTrials)
	}
	var peaks []string
	for _, p := range h.Peaks {
		rate := format.Rate(p.Throughput.Mean)
		if p.IsBound {
			rate = l.Say("amount.atleast", rate)
		}
		if p.Sustained {
			peaks = append(peaks, l.Say("line.sustained", p.Implementation, rate, p.Percentile, p.MaxMilliseconds, p.Throughput.N))
			continue
		}
		peaks = append(peaks, l.Say("line.peak", p.Implementation, rate, p.Connections, p.Throughput.N))
	}
	return l.Say("line.alone", strings.Join(peaks, ", "))
}

// Entry describes one comparison with its evidence, or why there is none.
func (l Lexicon) Entry(h analysis.Headline, e analysis.HeadlineEntry) string {
	o := l.OutcomeOf(h, e, func(v verdict.Winner) string { return v.Name() })
	words := l.LoadOf(h, e) + o.Title
	if e.Metric == verdict.Capacity && e.Ratio != nil {
		words = format.Join(", ", words, l.Found(h, e.Load))
	}
	if evidence := format.Join(": ", o.Evidence, format.Join("; ", o.Why, o.Decide)); evidence != "" {
		words += " (" + evidence + ")"
	}
	words += o.Second
	if e.Verdict == verdict.DependsOnLoad {
		words += ": " + strings.Join(o.Levels, ", ")
	}
	if o.Unsustained != "" {
		words += "; " + o.Unsustained
	}
	if len(o.Besides) > 0 {
		words += "; " + strings.Join(o.Besides, "; ")
	}
	return words
}

// ProfileGap says what went wrong in a profile.
func (l Lexicon) ProfileGap(g analysis.ProfileGap) string {
	why, launches := strings.TrimSuffix(g.Why, "."), l.Count("profiles.launches", g.Launches)
	switch {
	case why != "":
	case g.Starved > 0:
		why = l.Say("line.starved", format.Integer(g.Starved), launches)
	case g.Silent > 0:
		why = l.Say("profiles.mute", format.Integer(g.Silent), launches, g.Example)
	default:
		why = l.Count("profiles.unended", g.Unended)
	}
	return l.Say("line.profile", g.Profile, g.Implementation, why)
}
