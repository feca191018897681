package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

// rowsOf are the values of all trials that are compared as they are. Those of a process that is void are void.
func rowsOf(data record.RunData, programs []validity.Program) []verdict.BlockRow {
	type process struct{ trial, implementation string }
	void := map[process]validity.Code{}
	for _, p := range programs {
		void[process{p.Trial, p.Implementation}] = p.VoidCode()
	}
	var out []verdict.BlockRow
	for _, t := range data.Trials {
		for _, r := range t.Rows {
			r.Void = cmp.Or(r.Void, string(void[process{t.Manifest.Name, t.Manifest.Servers[0]}]))
			out = append(out, verdict.BlockRow{Row: r, Implementation: t.Manifest.Servers[0], Block: t.Manifest.Block})
		}
	}
	return out
}

// misplaced refuses rows of a server that their trial does not have.
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

// contradict refuses rows of one metric and case that differ in their unit or in which way is better, and cannot be compared.
func contradict(rows []verdict.BlockRow) error {
	type key struct{ metric, name string }
	first := map[key]record.Row{}
	for _, r := range rows {
		k := key{r.Metric, r.Case}
		own, known := first[k]
		if !known {
			first[k] = r.Row
			continue
		}
		if own.Unit != r.Unit || own.Better != r.Better {
			return fmt.Errorf("reading the values of %s: %s of case %s is in %s (%s is better) and in %s (%s is better)",
				r.Implementation, r.Metric, r.Case, own.Unit, own.Better, r.Unit, r.Better)
		}
	}
	return nil
}

// celled are the trials of a run that were measured cell by cell: what any other trial has measured is one process.
func celled(data record.RunData) record.RunData {
	data.Trials = slices.DeleteFunc(slices.Clone(data.Trials), func(t record.TrialData) bool { return !t.Manifest.HasCells() })
	return data
}
