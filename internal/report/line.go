package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/stats"
)

// maxLine is the room that a status has for a verdict.
const maxLine = 512

// Line puts a headline into one line of ASCII of at most 512 bytes.
func Line(h stats.Headline) string {
	if len(h.Entries) == 0 {
		return lineWithoutComparison(h)
	}
	line := ""
	for i, e := range h.Entries {
		next := lineEntry(h, e)
		if i > 0 {
			next = "; " + next
		}
		rest := english.say("line.more", len(h.Entries)-i)
		if len(line)+len(next)+len(rest) > maxLine {
			return line + rest
		}
		line += next
	}
	return line
}

func lineWithoutComparison(h stats.Headline) string {
	if len(h.Peaks) == 0 {
		return english.say("line.nothing", h.MeasuredTrials, h.PlannedTrials)
	}
	var peaks []string
	for _, p := range h.Peaks {
		bound := ""
		if p.IsBound {
			bound = english.say("line.atleast")
		}
		if p.Kept {
			peaks = append(peaks, english.say("line.kept", p.Implementation, bound, rate(p.Throughput.Mean), p.Throughput.N))
			continue
		}
		peaks = append(peaks, english.say("line.peak", p.Implementation, bound, rate(p.Throughput.Mean), p.Connections, p.Throughput.N))
	}
	return clip(english.say("line.alone", strings.Join(peaks, ", ")))
}

func clip(s string) string {
	if len(s) > maxLine {
		return s[:maxLine-3] + "..."
	}
	return s
}

func lineEntry(h stats.Headline, e stats.HeadlineEntry) string {
	if e.Ratio == nil {
		return english.say("line.nopair", e.Implementation, e.Baseline) + void(e)
	}
	if e.Metric == stats.CapacityRate {
		return lineCapacity(h, e)
	}
	evidence := english.say("line.evidence", interval(h, e), english.say("line.metric."+string(e.Metric)), levels(e.Levels), e.Blocks)
	observed := english.say("line.observed", e.Implementation, e.Baseline, ratio(*e.Ratio))
	switch e.Verdict {
	case stats.Faster, stats.Slower:
		return english.say("line."+string(e.Verdict), e.Implementation, ratio(*e.Factor), e.Baseline, evidence)
	case stats.NoDifference:
		return english.say("line.NoDifference", e.Implementation, e.Baseline, plainPercent(h.Rules.EquivalenceMargin), observed, evidence)
	case stats.Inconclusive:
	}
	return lineOpen(h, e, observed, evidence, english.say("line.reason."+string(e.Reason)))
}

// lineOpen says what would decide an open comparison, or else why it is open.
func lineOpen(h stats.Headline, e stats.HeadlineEntry, observed, evidence, why string) string {
	switch {
	case e.Reason == stats.TooFewBlocks:
		return english.say("line.TooFewBlocks", e.Blocks, h.Rules.MinBlocks, observed, english.say("line.metric."+string(e.Metric)))
	case e.Reason == stats.NoiseTooHigh && e.BlocksNeeded > 0:
		return english.say("line.NoiseTooHigh", observed, evidence, e.BlocksNeeded)
	}
	return english.say("line.other", observed, evidence, why)
}

// lineCapacity compares what searches found. The ratio is not turned: it says what part of the baseline's rate is kept.
func lineCapacity(h stats.Headline, e stats.HeadlineEntry) string {
	within := english.say("line.nointerval")
	if e.Low != nil && e.High != nil {
		within = english.say("line.interval", plainPercent(h.Rules.Confidence), ratio(*e.Low), ratio(*e.High))
	}
	evidence := english.say("line.capacity.evidence", within, e.Blocks)
	observed := english.say("line.observed", e.Implementation, e.Baseline, ratio(*e.Ratio))
	words := ""
	switch e.Verdict {
	case stats.Faster, stats.Slower:
		bound := ""
		switch {
		case e.AtLeast && e.Verdict == stats.Faster:
			bound = english.say("line.atleast")
		case e.AtLeast:
			bound = english.say("line.capacity.most")
		}
		words = english.say("line.capacity", e.Implementation, bound, ratio(*e.Ratio), e.Baseline, evidence)
	case stats.NoDifference:
		words = english.say("line.capacity.NoDiff", e.Implementation, e.Baseline, plainPercent(h.Rules.EquivalenceMargin), observed, evidence)
	case stats.Inconclusive:
		why := english.say("line.capacity.bounds")
		if e.Reason != stats.BoundsOnly {
			why = english.say("line.reason." + string(e.Reason))
		}
		words = lineOpen(h, e, observed, evidence+", "+english.say("line.metric.Capacity"), why)
	}
	if slices.ContainsFunc(h.Entries, func(o stats.HeadlineEntry) bool { return o.Load != e.Load }) {
		return english.say("line.capacity.of", e.Load, words)
	}
	return words
}

// void says how many cells count nowhere and by which reasons, as the report explains them.
func void(e stats.HeadlineEntry) string {
	if e.VoidCells == 0 {
		return ""
	}
	var reasons []string
	for _, r := range e.VoidReasons {
		reasons = append(reasons, string(r))
	}
	return english.say("line.void", e.VoidCells, e.Cells, strings.Join(reasons, ", "))
}

// interval prints an interval as in "99 % interval 1.17-1.25".
func interval(h stats.Headline, e stats.HeadlineEntry) string {
	if e.FactorLow == nil || e.FactorHigh == nil {
		return english.say("line.nointerval")
	}
	return english.say("line.interval", plainPercent(h.Rules.Confidence), ratio(*e.FactorLow), ratio(*e.FactorHigh))
}

func levels(n int) string {
	if n == 1 {
		return english.say("line.level")
	}
	return english.say("line.levels", n)
}
