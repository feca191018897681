package validity

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// evidence is something that checks look at. It applies where the cell is of a kind that has it, and is missing where it could not be read.
type evidence struct {
	name    string
	applies func(*facts) bool
	missing func(*facts) bool
}

// allEvidence is in the order in which it is listed. CPU lists are not among it, since a list that was not read is NotPinned, and neither are
// latencies, whose absence each tool explains.
var allEvidence = []evidence{
	{
		name:    "the answer before the load",
		applies: func(f *facts) bool { return !f.level.Scripted },
		missing: func(f *facts) bool {
			return !slices.ContainsFunc(Responses(f.trial), func(r record.Response) bool { return r.Path == f.level.Path })
		},
	},
	{
		name: "answers during the warm-up",
		applies: func(f *facts) bool {
			return !f.level.Scripted && !f.duet() && f.level.Step == 0 && f.level.WarmupSeconds > 0
		},
		missing: func(f *facts) bool {
			return !slices.ContainsFunc(f.runs, func(r *record.CellRun) bool { return r.Audit != nil && r.Audit.Requests > 0 })
		},
	},
	{
		name:    "the server's connections",
		applies: (*facts).keepsOpen,
		missing: func(f *facts) bool { return f.seen.Sockets == nil },
	},
	{
		name:    "the server's traffic",
		missing: func(f *facts) bool { return !f.serverNetwork() },
	},
	{
		name:    "the generator's traffic",
		applies: func(f *facts) bool { return !f.duet() },
		missing: func(f *facts) bool {
			return slices.ContainsFunc(f.runs, func(r *record.CellRun) bool { return r.Network.SegmentsOut <= 0 })
		},
	},
	{
		name:    "the course of the cell",
		applies: func(f *facts) bool { return !f.duet() && f.cell.LoadSeconds >= seriesSeconds },
		missing: func(f *facts) bool { return f.cell.series == nil },
	},
	{
		name:    "who else used the server's CPUs",
		missing: func(f *facts) bool { return f.seen.CoreNanos <= 0 || f.seen.BusyNanos <= 0 },
	},
	{
		name: "the generator's CPU time",
		missing: func(f *facts) bool {
			return slices.ContainsFunc(f.runs, func(r *record.CellRun) bool { return r.CPUNanos <= 0 })
		},
	},
}

// seriesSeconds is from which length on a cell has enough intervals to be looked at over time: 11 of a tenth of a second, and some to
// spare for samples that were taken late.
const seriesSeconds = 2

// duet says whether the cell is half of a duet, whose generator is frozen half of the time.
func (f *facts) duet() bool { return len(f.trial.Manifest.Servers) > 1 }

// checkSeen marks a cell at which some check could not look: what nobody has looked at is not known to be good. What a cell of its kind does
// not have, such as the answers of a script, the course of a duet or the warm-up of a load without one, is not missing. A cell without a
// measurement or an observation says so already.
func checkSeen(f *facts) []Reason {
	if !f.complete() || f.cell.Requests <= 0 || f.seen == nil || f.seen.Error != "" {
		return nil
	}
	var missing []string
	for _, e := range allEvidence {
		if (e.applies == nil || e.applies(f)) && e.missing(f) {
			missing = append(missing, e.name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []Reason{{Code: NotChecked, Weight: Suspect, Scope: ScopeCell, Detail: strings.Join(missing, ", ")}}
}
