package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/measured"
	"loadstone.dev/loadstone/internal/validity"
	"loadstone.dev/loadstone/internal/verdict"
)

// headline is the outcome in a sentence or two: of the objectives, and of each contender.
type headline struct {
	Entries []headlineEntry
}

type headlineEntry struct {
	Title, Tone string
	Lines       []string
}

// headline begins with what decides whether a run has succeeded: its objectives. An A/A run begins with what it has found of its machine.
func (v *view) headline() headline {
	h := v.t.Headline()
	var out headline
	if h.Gate != nil {
		title, worst := v.gate(h.Gate)
		tone := "faster"
		switch {
		case h.Gate.Missed > 0:
			tone = "slower"
		case h.Gate.Undecided > 0:
			tone = "unknown"
		}
		out.Entries = append(out.Entries, headlineEntry{Title: title + ".", Tone: tone, Lines: []string{sentence(capital(worst))}})
	}
	if h.Calibration != nil {
		out.Entries = append(out.Entries, headlineEntry{Title: v.calibration(h) + ".", Tone: "same", Lines: []string{v.say("sub.calibration")}})
	}
	for _, e := range h.Entries {
		out.Entries = append(out.Entries, v.headlineEntry(h, e))
	}
	if len(h.Entries) > 0 {
		return out
	}
	key := "headline.alone"
	if len(h.Peaks) == 0 {
		key = "headline.nothing"
	}
	out.Entries = append(out.Entries, headlineEntry{Title: v.say(key), Tone: "unknown", Lines: []string{lineWithoutComparison(h)}})
	return out
}

func (v *view) headlineEntry(h analysis.Headline, e analysis.HeadlineEntry) headlineEntry {
	o := v.outcomeOf(h, e, v.levelOf)
	out := headlineEntry{Title: v.loadOf(h, e) + o.title + ".", Tone: tones[e.Verdict]}
	if e.Metric == verdict.Capacity {
		if found := v.found(h, e.Load); found != "" {
			out.Title = v.loadOf(h, e) + found + "."
			out.Lines = append(out.Lines, sentence(o.title))
		}
	}
	evidence := sentence(o.evidence)
	if evidence != "" && e.Verdict != verdict.Better && e.Verdict != verdict.Worse {
		evidence = v.say("sub.observed", o.evidence)
	}
	out.Lines = append(out.Lines, join(" ", sentence(capital(o.why)), sentence(capital(o.decide))), evidence)
	for _, b := range o.besides {
		out.Lines = append(out.Lines, sentence(b))
	}
	out.Lines = append(out.Lines, sentence(o.unkept))
	if len(o.levels) > 0 {
		out.Lines = append(out.Lines, sentence(strings.Join(o.levels, "; ")))
	}
	if e.Detectable != nil && e.FewestPairs >= v.t.Rules.MinBlocks && e.Verdict != verdict.Better && e.Verdict != verdict.Worse && e.Reason != verdict.OwnFaults {
		out.Lines = append(out.Lines, v.say("sub.detectable", percent(*e.Detectable), plainPercent(v.t.Rules.Power)))
	}
	out.Lines = slices.DeleteFunc(out.Lines, func(s string) bool { return s == "" })
	return out
}

// loadOf names the load of an entry where the run has more than one.
func (l language) loadOf(h analysis.Headline, e analysis.HeadlineEntry) string {
	switch {
	case len(e.Loads) > 0:
		return l.say("headline.allLoads")
	case slices.ContainsFunc(h.Entries, func(o analysis.HeadlineEntry) bool { return o.Load != e.Load }):
		return l.say("headline.load", e.Load)
	}
	return ""
}

// sentence ends words with a full stop; no words stay none.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	return words + "."
}

// levelOf names a level within its load.
func (v *view) levelOf(l analysis.LevelVerdict) string { return v.pointName(l.Point) }

// finding puts what is wrong with cells into a sentence.
func (v *view) finding(f validity.Finding) string {
	subject := v.say("finding.server")
	switch {
	case f.Subject == measured.SubjectServer:
	case v.manyGenerators() && f.Subject != "" && f.Subject != measured.SubjectGenerator:
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
func (v *view) hits(f validity.Finding, cells int) string {
	if len(f.Blocks) == cells && cells > 1 {
		return v.say("hit.all")
	}
	var blocks []string
	for _, b := range f.Blocks {
		blocks = append(blocks, integer(int64(b)))
	}
	return v.count("hit.some", len(f.Blocks), strings.Join(blocks, ", "))
}
