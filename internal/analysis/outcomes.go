package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

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

// OptimisedAway returns the sides whose work was probably not done; the case stays open.
func (t Table) OptimisedAway(r verdict.RowComparison) []string {
	var out []string
	for _, c := range t.Cases {
		if c.OptimisedAway && c.Case == r.Case && c.Metric == string(r.Metric) && (c.Implementation == r.Implementation || c.Implementation == r.Baseline) {
			out = append(out, c.Implementation)
		}
	}
	return out
}

func (o *CaseOutcome) count(r *verdict.RowComparison) {
	o.Cases++
	switch r.Verdict {
	case verdict.Better:
		o.Better++
	case verdict.Worse:
		o.Worse++
	case verdict.Differs:
		o.Differ++
	case verdict.NoDifference:
		o.Same++
		return
	case verdict.Mixed:
		o.Mixed++
	case verdict.Inconclusive, verdict.DependsOnLoad:
		o.Undecided++
		return
	}
	if o.Largest == nil || math.Abs(math.Log(*r.Ratio)) > math.Abs(math.Log(*o.Largest.Ratio)) {
		o.Largest = r
	}
}

func (o *CaseOutcome) countProcesses(programs []validity.Program) {
	for _, p := range programs {
		if p.Implementation != o.Implementation && p.Implementation != o.Baseline {
			continue
		}
		o.Processes++
		o.VoidProcesses += asInt(p.Validity == validity.Void)
		if p.Validity == validity.Suspect {
			o.SuspectProcesses++
			o.SuspectReasons = util.Distinct(append(o.SuspectReasons, p.Doubts()...))
		}
	}
}

// rowsOf voids the values of a void process. NotChecked is no doubt here, since some kinds of work have no observations
// at all; the headline counts it.
func rowsOf(data record.RunData, programs []validity.Program) []verdict.BlockRow {
	type process struct{ trial, implementation string }
	void, doubts := map[process]validity.Code{}, map[process][]validity.Code{}
	for _, p := range programs {
		at := process{p.Trial, p.Implementation}
		void[at] = p.VoidCode()
		doubts[at] = slices.DeleteFunc(p.Doubts(), func(c validity.Code) bool { return c == validity.NotChecked })
	}
	var out []verdict.BlockRow
	for _, t := range data.Trials {
		for _, r := range t.Rows {
			of := process{t.Manifest.Name, t.Manifest.Servers[0]}
			r.Void = cmp.Or(r.Void, string(void[of]))
			out = append(out, verdict.BlockRow{Row: r, Implementation: t.Manifest.Servers[0], Block: t.Manifest.Block, Doubts: doubts[of]})
		}
	}
	return out
}

// misplaced refuses rows of unknown servers.
func misplaced(trials []record.TrialData) error {
	for _, t := range trials {
		for _, r := range t.Rows {
			if n := len(t.Manifest.Servers); r.Server < 0 || r.Server >= n {
				return fmt.Errorf("reading the values of %s: %s of case %s is of server %d, and the trial has %d", t.Manifest.Name, r.Metric, r.Case, r.Server, n)
			}
		}
	}
	return nil
}

func celled(data record.RunData) record.RunData {
	data.Trials = slices.DeleteFunc(slices.Clone(data.Trials), func(t record.TrialData) bool { return !t.Manifest.HasCells() })
	return data
}

// Followed holds the rows of a trial after the blocks, without comparison. Profiles are separate.
type Followed struct {
	Type           record.WorkType `json:"type"`
	Item           string          `json:"item"`
	Implementation string          `json:"implementation"`
	Trial          string          `json:"trial"`
	Rows           []record.Row    `json:"rows"`
}

func followed(data record.RunData) []Followed {
	var out []Followed
	for _, line := range data.Manifest.Plan.Following {
		i := slices.IndexFunc(data.Following, func(t record.TrialData) bool { return t.Manifest.Name == line.Name })
		if i < 0 || len(data.Following[i].Rows) == 0 || len(line.Servers) != 1 {
			continue
		}
		out = append(out, Followed{Type: line.Type, Item: line.Item, Implementation: line.Servers[0], Trial: line.Name, Rows: data.Following[i].Rows})
	}
	return out
}
