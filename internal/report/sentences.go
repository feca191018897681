package report

import (
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats"
)

// headline is the outcome in a sentence or two, for each contender.
type headline struct {
	Entries []headlineEntry
}

type headlineEntry struct {
	Title, Tone string
	Lines       []string
}

func (v *view) headline() headline {
	h := v.t.Headline()
	var out headline
	for _, e := range h.Entries {
		out.Entries = append(out.Entries, v.headlineEntry(e))
	}
	if len(h.Entries) > 0 {
		return out
	}
	key := "headline.alone"
	if len(h.Peaks) == 0 {
		key = "headline.nothing"
	}
	out.Entries = []headlineEntry{{Title: v.say(key), Tone: "unknown", Lines: []string{Line(h)}}}
	return out
}

func (v *view) headlineEntry(e stats.HeadlineEntry) headlineEntry {
	if e.Metric == stats.CapacityRate {
		return v.capacityEntry(e)
	}
	out := headlineEntry{Tone: tones[e.Verdict]}
	switch e.Verdict {
	case stats.Faster, stats.Slower:
		out.Title = v.say("headline."+string(e.Verdict), e.Implementation, times(*e.Factor), e.Baseline)
	case stats.NoDifference:
		out.Title = v.say("headline.NoDifference", e.Implementation, e.Baseline, plainPercent(v.t.Rules.EquivalenceMargin))
	case stats.Inconclusive:
		out.Title = v.say("headline.Inconclusive", e.Implementation, e.Baseline)
	}
	out.Lines = append(out.Lines, join(" ", v.why(e), v.wouldDecide(e)), v.evidence(e), v.agreement(e))
	if e.Detectable != nil && e.Blocks >= v.t.Rules.MinBlocks {
		out.Lines = append(out.Lines, v.say("sub.detectable", percent(*e.Detectable)))
	}
	return out
}

// why says why there is no verdict.
func (v *view) why(e stats.HeadlineEntry) string {
	switch {
	case e.Verdict != stats.Inconclusive:
		return ""
	case e.Blocks == 0:
		return v.say("sub.nopair")
	case e.Reason == stats.TooFewBlocks:
		return v.say("sub.TooFewBlocks", integer(int64(v.t.Rules.MinBlocks)), integer(int64(e.Blocks)))
	}
	return v.say("sub." + string(e.Reason))
}

// wouldDecide says what would decide an open comparison.
func (v *view) wouldDecide(e stats.HeadlineEntry) string {
	switch {
	case e.Verdict != stats.Inconclusive || e.Blocks == 0:
		return ""
	case e.BlocksNeeded > 0:
		return v.say("sub.needed", integer(int64(e.BlocksNeeded)))
	case e.Reason == stats.NoiseTooHigh:
		return v.say("sub.hopeless")
	}
	return ""
}

func (v *view) evidence(e stats.HeadlineEntry) string {
	if e.Ratio == nil {
		return ""
	}
	metric, levels, blocks := v.say("metric."+string(e.Metric)), v.count("levels", e.Levels), v.count("blocks", e.Blocks)
	if e.Low == nil || e.Blocks < v.t.Rules.MinBlocks {
		return v.say("sub.observed.few", times(*e.Ratio), metric, e.Baseline, levels, blocks)
	}
	if e.Verdict == stats.Inconclusive {
		return v.say("sub.observed", times(*e.Ratio), metric, e.Baseline, v.confidence(), times(*e.Low), times(*e.High), levels, blocks)
	}
	return v.say("sub.evidence", metric, times(*e.Ratio), metric, e.Baseline, v.confidence(), times(*e.Low), times(*e.High), levels, blocks)
}

// agreement says how the levels relate to the whole.
func (v *view) agreement(e stats.HeadlineEntry) string {
	var words []string
	for _, c := range v.t.Comparisons {
		if c.Implementation != e.Implementation {
			continue
		}
		all := len(c.Levels)
		switch {
		case c.Crossing:
			words = append(words, v.say("sub.crossing"))
		case e.Verdict == stats.Inconclusive || all < 2:
		case e.Agreeing == all:
			words = append(words, v.say("sub.same", integer(int64(all))))
		default:
			words = append(words, v.say("sub.some", integer(int64(e.Agreeing)), integer(int64(all))))
		}
		if e.Least != nil && e.Most != nil {
			words = append(words, v.say("sub.from", times(e.Least.Factor), v.at(*e.Least), times(e.Most.Factor), v.at(*e.Most)))
		}
		if c.Disagrees {
			words = append(words, v.say("sub.disagrees"))
		}
	}
	return strings.Join(words, " ")
}

// at names a level, with its load only where there are several.
func (v *view) at(l stats.LevelFactor) string {
	if v.manyLoads() {
		return v.levelName(l.Point)
	}
	return v.pointName(l.Point)
}

// finding puts what is wrong with cells into a sentence.
func (v *view) finding(f stats.Finding) string {
	subject := v.say("finding.server")
	switch {
	case f.Subject == record.RoleServer:
	case v.manyGenerators() && f.Subject != "" && f.Subject != record.RoleGenerator:
		subject = f.Subject
	default:
		subject = v.say("finding.generator")
	}
	details := ""
	if len(f.Details) > 0 {
		details = ": " + strings.Join(f.Details, "; ")
	}
	extent := func(print func(float64) string) string {
		if f.Least == f.Most {
			return print(f.Most)
		}
		return v.say("range", print(f.Least), print(f.Most))
	}
	return strings.NewReplacer(
		"{subject}", subject, "{details}", details, "{share}", extent(percent), "{value}", extent(digits),
		"{limit}", plainPercent(f.Limit), "{bound}", plainNumber(f.Limit), "{count}", integer(int64(f.Most)),
	).Replace(v.say("finding." + string(f.Code)))
}

// hits says which blocks a finding hit.
func (v *view) hits(f stats.Finding, cells int) string {
	if len(f.Blocks) == cells && cells > 1 {
		return v.say("hit.all")
	}
	var blocks []string
	for _, b := range f.Blocks {
		blocks = append(blocks, integer(int64(b)))
	}
	return v.count("hit.some", len(f.Blocks), strings.Join(blocks, ", "))
}
