package phrase

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
)

// Cases describes a contender's cases, and the largest difference with a winner, if any. A single case with a winner is all in the title.
func (l Lexicon) Cases(o analysis.CaseOutcome) (title, largest string) {
	n := format.Integer[int]
	only := o.Cases == 1 && o.Largest != nil
	title = l.Say("headline.cases", o.Implementation, o.Baseline, l.Count("cases", o.Cases), n(o.Better), n(o.Worse), n(o.Same), n(o.Undecided))
	if r := o.Largest; only {
		title = l.Say("headline.case", o.Implementation, o.Baseline, r.Case, l.Say("verdict."+string(r.Verdict)), l.ChangeOf(*r.Result), string(r.Metric), l.ChangeLimits(*r.Result), l.Count("blocks", r.Blocks))
	}
	if r := o.Largest; only {
		title = format.Join(", ", title, l.CaseAgainst(*r))
	}
	if o.Mixed > 0 && !only {
		title += ", " + l.Say("headline.cases.mixed", n(o.Mixed))
	}
	if o.Differ > 0 && !only {
		title += ", " + l.Count("headline.cases.differ", o.Differ)
	}
	if o.VoidProcesses > 0 {
		title += ", " + l.Say("headline.cases.void", n(o.VoidProcesses), n(o.Processes))
	}
	if o.SuspectProcesses > 0 {
		title += ", " + l.Say("headline.cases.suspect", n(o.SuspectProcesses), n(o.Processes), codes(o.SuspectReasons))
	}
	if r := o.Largest; r != nil && !only {
		largest = l.Say("headline.cases.largest", r.Case, l.Say("cases.change", l.ChangeOf(*r.Result), string(r.Metric)), l.ChangeLimits(*r.Result))
		largest = format.Join(", ", largest, l.CaseAgainst(*r))
	}
	return title, largest
}

// CaseAgainst names the largest winner that a mixed case's deciding metric hides; empty if there is none.
func (l Lexicon) CaseAgainst(r verdict.RowComparison) string {
	if len(r.Against) == 0 {
		return ""
	}
	w := r.Against[0]
	return l.Say("cases.against", l.Say("verdict."+string(w.Verdict)), string(w.Metric), format.Change(*w.Ratio))
}

// CaseGap says which case an implementation lacks or failed.
func (l Lexicon) CaseGap(g analysis.CaseGap) string {
	if g.Failure != "" {
		return l.Say("values.failed", g.Case, g.Implementation, l.Count("processes", g.Processes), g.Failure)
	}
	if g.Unread {
		return l.Say("values.lacksRead", g.Case, g.Implementation, l.Count("processes", g.Processes))
	}
	return l.Say("values.lacks", g.Implementation, g.Case, l.Count("processes", g.Processes))
}

// CaseGaps gives the first gap of each implementation and the number of others.
func (l Lexicon) CaseGaps(gaps []analysis.CaseGap) []string {
	var out []string
	var names []string
	count := map[string]int{}
	for _, g := range gaps {
		if count[g.Implementation]++; count[g.Implementation] == 1 {
			names, out = append(names, g.Implementation), append(out, strings.TrimSuffix(l.CaseGap(g), "."))
		}
	}
	for i, name := range names {
		if n := count[name] - 1; n > 0 {
			out[i] += l.Say("line.gaps", l.Count("cases", n))
		}
	}
	return out
}

// UnreadOutput describes unreadable output.
func (l Lexicon) UnreadOutput(u analysis.UnreadOutput) string {
	why := u.Why
	if u.Text != "" && !strings.Contains(why, u.Text) {
		why = l.Say("values.begins", why, u.Text)
	}
	if u.Line > 0 {
		why = l.Say("values.line", u.Line, why)
	}
	return l.Say("values.unread", u.Implementation, l.Count("processes", u.Processes), l.Count("parts", u.Parts), u.Block, why)
}

// CaseName says which case a renamed one counts as, or that it was not printed.
func (l Lexicon) CaseName(n analysis.CaseName) string {
	if n.Cases == 0 {
		return l.Say("values.unprinted", n.Printed, n.Implementation)
	}
	return l.Say("values.taken", n.Printed, n.Implementation, n.Name, l.Count("cases", n.Cases))
}
