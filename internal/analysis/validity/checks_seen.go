package validity

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// evidence is something that checks look at: applies says whether the cell should have it, missing whether it could
// not be read.
type evidence struct {
	name    string
	applies func(*facts) bool
	missing func(*facts) bool
}

// allEvidence is in the order of listing. CPU lists are not part of it, since an unread list is NotPinned. Neither
// are latencies, since each tool explains their absence.
var allEvidence = []evidence{
	{
		name:    "the answer before the load",
		applies: func(f *facts) bool { return !f.Level.Scripted },
		missing: func(f *facts) bool {
			return slices.Contains(f.Responses(), nil)
		},
	},
	{
		name: "answers during the warm-up",
		applies: func(f *facts) bool {
			return !f.Level.Scripted && !f.Duet() && f.Level.Step == 0 && f.Level.WarmupSeconds > 0
		},
		missing: func(f *facts) bool {
			return !slices.ContainsFunc(f.Runs, func(r *record.CellRun) bool { return r.Audit != nil && r.Audit.Requests > 0 })
		},
	},
	{
		name:    "the server's connections",
		applies: func(f *facts) bool { return f.KeepsOpen() },
		missing: func(f *facts) bool { return f.Seen.Sockets == nil },
	},
	{
		name:    "the server's traffic",
		missing: func(f *facts) bool { return !f.ServerNetwork() },
	},
	{
		name:    "the generator's traffic",
		applies: func(f *facts) bool { return !f.Duet() },
		missing: func(f *facts) bool {
			return slices.ContainsFunc(f.Runs, func(r *record.CellRun) bool { return r.Network.SegmentsOut <= 0 })
		},
	},
	{
		name:    "the course of the cell",
		applies: func(f *facts) bool { return !f.Duet() && f.LoadSeconds >= seriesSeconds },
		missing: func(f *facts) bool { return !f.HasCourse() },
	},
	{
		name: "other use of the server's CPUs",
		missing: func(f *facts) bool {
			// If CPU time is uncounted, the rest of the CPUs' time may be the server's or that of others.
			unread := f.Seen.CoreNanos <= 0 || f.Seen.BusyNanos <= 0
			return unread || len(f.Seen.CPUUncounted) > 0 && f.UncountedShare() > neighboursSuspect
		},
	},
	{
		name: "the generator's CPU time",
		missing: func(f *facts) bool {
			return slices.ContainsFunc(f.Runs, func(r *record.CellRun) bool { return r.CPUNanos <= 0 })
		},
	},
}

// seriesSeconds is the least length with enough intervals of 0.1 s: 11, and some to spare for late samples.
const seriesSeconds = 2

// checkSeen marks a cell that some check could not examine: an unchecked cell is not known to be good. What such a cell
// never has (answers of a script, the course of a duet, a warm-up that was not planned) is not missing.
func checkSeen(f *facts) []Reason {
	if !f.Complete() || f.Requests <= 0 || f.Seen == nil || f.Seen.Error != "" {
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
