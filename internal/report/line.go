package report

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/verdict"
)

// maxLine is the room that a status has for a verdict.
const maxLine = 512

// Line puts a headline into one line of ASCII of at most 512 bytes: the objectives first, then who is better.
func Line(h analysis.Headline) string {
	var parts []string
	if h.Gate != nil {
		title, worst := english.gate(h.Gate)
		parts = append(parts, join(": ", title, worst))
	}
	if h.Calibration != nil {
		parts = append(parts, english.calibration(h))
	}
	for _, e := range h.Entries {
		parts = append(parts, lineEntry(h, e))
	}
	if len(h.Entries) == 0 {
		parts = append(parts, lineWithoutComparison(h))
	}
	return fit(parts)
}

// fit joins as many parts as there is room for, and says how many there are beyond.
func fit(parts []string) string {
	line := ""
	for i, part := range parts {
		next := ascii(part)
		if i > 0 {
			next = "; " + next
		}
		rest := english.say("line.more", len(parts)-i)
		if len(line)+len(next)+len(rest) <= maxLine || i == len(parts)-1 && len(line)+len(next) <= maxLine {
			line += next
			continue
		}
		if i == 0 {
			return clip(next)
		}
		return line + rest
	}
	return line
}

func lineWithoutComparison(h analysis.Headline) string {
	if len(h.Peaks) == 0 {
		return english.say("line.nothing", h.MeasuredTrials, h.PlannedTrials)
	}
	var peaks []string
	for _, p := range h.Peaks {
		bound := ""
		if p.IsBound {
			bound = english.say("amount.atleast", "")
		}
		if p.Kept {
			peaks = append(peaks, english.say("line.kept", p.Implementation, bound+rate(p.Throughput.Mean), p.Percentile, p.MaxMilliseconds, p.Throughput.N))
			continue
		}
		peaks = append(peaks, english.say("line.peak", p.Implementation, bound+rate(p.Throughput.Mean), p.Connections, p.Throughput.N))
	}
	return english.say("line.alone", strings.Join(peaks, ", "))
}

func clip(s string) string {
	if len(s) > maxLine {
		return s[:maxLine-3] + "..."
	}
	return s
}

// lineEntry says the outcome of one comparison: with its evidence, or why there is none.
func lineEntry(h analysis.Headline, e analysis.HeadlineEntry) string {
	o := english.outcomeOf(h, e, func(v analysis.LevelVerdict) string { return v.Name() })
	words := english.loadOf(h, e) + o.title
	if e.Metric == verdict.Capacity && e.Ratio != nil {
		words = join(", ", words, english.found(h, e.Load))
	}
	if evidence := join(": ", o.evidence, join("; ", o.why, o.decide)); evidence != "" {
		words += " (" + evidence + ")"
	}
	if e.Verdict == verdict.DependsOnLoad {
		words += ": " + strings.Join(o.levels, ", ")
	}
	if o.unkept != "" {
		words += "; " + o.unkept
	}
	if len(o.besides) > 0 {
		words += "; " + strings.Join(o.besides, "; ")
	}
	return words
}
