package analysis

import (
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/verdict"
)

// rowsOf are the values of all trials that are compared as they are.
func rowsOf(data record.RunData) []verdict.BlockRow {
	var out []verdict.BlockRow
	for _, t := range data.Trials {
		for _, r := range t.Rows {
			out = append(out, verdict.BlockRow{Row: r, Implementation: t.Manifest.Servers[0], Block: t.Manifest.Block})
		}
	}
	return out
}

// sweeps are the trials of a run that put load on servers: only they have cells.
func sweeps(data record.RunData) record.RunData {
	data.Trials = slices.DeleteFunc(slices.Clone(data.Trials), func(t record.TrialData) bool { return t.Manifest.Type != record.Sweep })
	data.Manifest.Trials = slices.DeleteFunc(slices.Clone(data.Manifest.Trials), func(e record.TrialEntry) bool { return e.Type != record.Sweep })
	return data
}
