package measured

import (
	"math"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

// tick is the resolution of /proc/stat. The first and the last tick of a window may be cut.
const tick = 0.01

// OfProgram returns the facts of a process that measures itself. It has no load, and at most one observation.
func OfProgram(i planned.Implementation, t *record.TrialData) *Facts {
	f := &Facts{Implementation: i, Trial: t}
	f.Observations = map[ObservationName]float64{}
	own, _ := t.Server(0)
	if len(own.Cells) == 0 {
		return f
	}
	f.Seen = &own.Cells[0]
	f.LoadSeconds = f.Seen.Ended.Sub(f.Seen.Started).Seconds()
	f.ServerPeakMemory = positive(float64(f.Seen.PeakMemoryBytes))
	if p := own.Program; p != nil {
		f.LoadSeconds = p.Ended.Sub(p.Started).Seconds()
	}
	f.Pinning = f.pinning()
	f.observeServer()
	if share, ok := f.Observed(NeighbourShare); ok {
		f.note(NeighbourShare, math.Max(share-2*tick*1e9/float64(f.Seen.CoreNanos), 0))
	}
	return f
}
