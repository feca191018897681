package analysis

import (
	"math"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
)

// caseOutcomes counts how the cases of each contender came out.
func (t Table) caseOutcomes() []CaseOutcome {
	var out []CaseOutcome
	for k := range t.Rows {
		r := &t.Rows[k]
		if !r.Decides {
			continue
		}
		own := util.First(out, func(o *CaseOutcome) bool { return o.Implementation == r.Implementation })
		if own == nil {
			out = append(out, CaseOutcome{Implementation: r.Implementation, Baseline: r.Baseline})
			own = &out[len(out)-1]
			own.countProcesses(t.Programs)
		}
		if len(t.OptimisedAway(*r)) > 0 {
			own.Cases, own.Undecided = own.Cases+1, own.Undecided+1
			continue
		}
		own.count(r)
	}
	return out
}

// aloneCases counts the cases that have a value, where nothing is compared.
func (t Table) aloneCases() int {
	if len(t.Rows) > 0 {
		return 0
	}
	names := map[string]bool{}
	for _, c := range t.Cases {
		if c.Summary != nil {
			names[c.Case] = true
		}
	}
	return len(names)
}

// OptimisedAway are the sides of a case whose work was probably not done: who is better there is open, whatever its verdict.
func (t Table) OptimisedAway(r verdict.RowComparison) []string {
	var out []string
	for _, c := range t.Cases {
		if c.OptimisedAway && c.Case == r.Case && c.Metric == string(r.Metric) && (c.Implementation == r.Implementation || c.Implementation == r.Baseline) {
			out = append(out, c.Implementation)
		}
	}
	return out
}

// count adds a case.
func (o *CaseOutcome) count(r *verdict.RowComparison) {
	o.Cases++
	switch r.Verdict {
	case verdict.Better:
		o.Better++
	case verdict.Worse:
		o.Worse++
	case verdict.NoDifference:
		o.Same++
		return
	case verdict.Inconclusive, verdict.DependsOnLoad:
		o.Undecided++
		return
	}
	if o.Largest == nil || math.Abs(math.Log(*r.Ratio)) > math.Abs(math.Log(*o.Largest.Ratio)) {
		o.Largest = r
	}
}

// countProcesses counts the processes of both sides, and those that count nowhere.
func (o *CaseOutcome) countProcesses(programs []validity.Program) {
	for _, p := range programs {
		if p.Implementation != o.Implementation && p.Implementation != o.Baseline {
			continue
		}
		o.Processes++
		o.VoidProcesses += asInt(p.Validity == validity.Void)
	}
}
