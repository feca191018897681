package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

// Program is one process that measures itself, and how far its output can be trusted.
type Program struct {
	Implementation string `json:"implementation"`
	Output         string `json:"output,omitempty"`
	// Seconds is how long it ran.
	Seconds float64 `json:"seconds"`
	Cell
}

var programChecks = []func(*facts) []Reason{checkObserver, checkCPUTimes, checkPinning, checkNeighbours, checkSteal, checkThrottled, checkMachine, checkImage}

// unobservedChecks are for kinds of work without observations.
var unobservedChecks = []func(*facts) []Reason{checkUnobserved, checkMachine, checkImage}

func checkUnobserved(*facts) []Reason {
	return []Reason{{Code: NotChecked, Weight: Suspect, Scope: ScopeCell, Detail: "the program's CPUs, and their use by others"}}
}

func checkCPUTimes(f *facts) []Reason {
	if f.Seen == nil || f.Seen.CoreNanos > 0 && f.Seen.BusyNanos > 0 {
		return nil
	}
	return []Reason{{Code: NotChecked, Weight: Suspect, Scope: ScopeCell, Detail: "other use of the program's CPUs"}}
}

// Programs judges every process of a run.
func Programs(data record.RunData, p planned.Run) ([]Program, error) {
	data.Trials = slices.DeleteFunc(slices.Clone(data.Trials), func(t record.TrialData) bool { return t.Manifest.HasCells() })
	trials, err := index(data, p)
	if err != nil {
		return nil, err
	}
	rules := newRules(data)
	var out []Program
	for _, i := range p.Implementations {
		for _, t := range trials[i.Name] {
			f := &facts{Facts: measured.OfProgram(i, t), rules: rules}
			m, checks := t.Manifest, programChecks
			own, observed := t.Server(0)
			if !observed {
				checks = unobservedChecks
			}
			one := Program{
				Implementation: i.Name, Output: outputKey(m, own.Program), Seconds: f.LoadSeconds,
				Cell: Cell{Trial: m.Name, Block: m.Block, Attempt: m.Attempt, Validity: Valid, Values: f.Values},
			}
			for _, check := range checks {
				for _, r := range check(f) {
					one.mark(r)
				}
			}
			out = append(out, one)
		}
	}
	return out, nil
}

func outputKey(m record.TrialManifest, p *record.ProgramRun) string {
	i := slices.IndexFunc(m.Artifacts, func(a record.Artifact) bool { return p != nil && a.Name == p.Output })
	if i < 0 {
		return ""
	}
	return m.Artifacts[i].Key
}

// VoidCode returns the first void reason.
func (p Program) VoidCode() Code {
	i := slices.IndexFunc(p.Reasons, func(r Reason) bool { return r.Weight == Void })
	if i < 0 {
		return ""
	}
	return p.Reasons[i].Code
}

// ProgramFindings returns the findings on an implementation's programs, with their blocks in order.
func ProgramFindings(programs []Program, implementation string) []Finding {
	var cells []Cell
	for _, p := range programs {
		if p.Implementation == implementation {
			cells = append(cells, p.Cell)
		}
	}
	slices.SortFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Block, b.Block) })
	return Findings(cells)
}

// Doubts returns the codes that make the process suspect.
func (p Program) Doubts() []Code {
	var out []Code
	for _, r := range p.Reasons {
		if r.Weight == Suspect {
			out = append(out, r.Code)
		}
	}
	return out
}
