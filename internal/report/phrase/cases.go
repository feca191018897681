package phrase

import (
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report/format"
)

// Cases returns how the cases of a contender came out, and the largest difference that has a winner, if there is one.
func (l Lexicon) Cases(o analysis.CaseOutcome) (title, largest string) {
	n := format.Integer[int]
	title = l.Say("headline.cases", o.Implementation, o.Baseline, l.Count("cases", o.Cases), n(o.Better), n(o.Worse), n(o.Same), n(o.Undecided))
	if o.VoidProcesses > 0 {
		title += ", " + l.Say("headline.cases.void", n(o.VoidProcesses), n(o.Processes))
	}
	if r := o.Largest; r != nil {
		largest = l.Say("headline.cases.largest", r.Case, l.Say("cases.change", l.ChangeOf(*r.Result), string(r.Metric)), l.ChangeLimits(*r.Result))
	}
	return title, largest
}
