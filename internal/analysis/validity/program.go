package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

// Program is one process of a program that measures itself, and how far what it printed can be believed.
type Program struct {
	Implementation string `json:"implementation"`
	// Output is the key of what it printed; empty if there is none.
	Output string `json:"output,omitempty"`
	// Seconds is how long it ran.
	Seconds float64 `json:"seconds"`
	Cell
}

// programChecks are those of all checks that need no load.
var programChecks = []func(*facts) []Reason{checkObserver, checkCPUTimes, checkPinning, checkNeighbours, checkSteal, checkThrottled, checkMachine, checkImage}

// unobservedChecks are those of a process of which its kind of work leaves no observation: its pod and its image are known all the same.
var unobservedChecks = []func(*facts) []Reason{checkUnobserved, checkMachine, checkImage}

// checkUnobserved marks a process of which nobody knows more than what it measured.
func checkUnobserved(*facts) []Reason {
	return []Reason{{Code: NotChecked, Weight: Suspect, Scope: ScopeCell, Detail: "on which CPUs the program ran, and who else used them"}}
}

// checkCPUTimes marks a process of whose CPUs nobody knows who else used them.
func checkCPUTimes(f *facts) []Reason {
	if f.Seen == nil || f.Seen.CoreNanos > 0 && f.Seen.BusyNanos > 0 {
		return nil
	}
	return []Reason{{Code: NotChecked, Weight: Suspect, Scope: ScopeCell, Detail: "who else used the program's CPUs"}}
}

// Programs judges every process of a run of programs that measure themselves, in the order of its implementations and blocks.
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

// VoidCode is the first reason for which nothing that the process printed counts; empty if there is none.
func (p Program) VoidCode() Code {
	i := slices.IndexFunc(p.Reasons, func(r Reason) bool { return r.Weight == Void })
	if i < 0 {
		return ""
	}
	return p.Reasons[i].Code
}

// ProgramFindings gathers what is wrong with the processes of one implementation.
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
