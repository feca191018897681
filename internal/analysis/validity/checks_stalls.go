package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/stats/inference"
)

const (
	// stoodStill is the smallest difference that the verdicts tell apart: a pause of half a second in ten.
	stoodStill = inference.EquivalenceMargin
	// stoodOnce: a single pause is no habit, and a machine that was busy with something else made one of 0.2 s in two of sixteen short
	// cells. One of a fifth of the load is worth a word whatever caused it.
	stoodOnce = 0.2
	// otherCauses: a standstill of which half may be somebody else's doing is not the server's.
	otherCauses = 0.5
)

// checkStalls marks the latencies of a closed load whose server stood still again and again, for a collection or a compaction say: a
// connection that waits sends nothing, so that each of them adds one long latency where a user would have met many. Throughput and CPU
// time are what they are. Latencies from an intended start contain it, and then it is an observation only. Nobody is accused of what the
// hypervisor, a quota, others on the CPUs or lost segments can have done.
func checkStalls(f *facts) []Reason {
	share, ok := f.Observed(measured.StillShare)
	if !ok || share < stoodStill || f.Stills < 2 && share < stoodOnce || f.Level.RequestsPerSecond > 0 || f.Level.Step > 0 || f.HeldUp() >= otherCauses*share {
		return nil
	}
	return []Reason{{Code: StoodStill, Weight: Suspect, Scope: ScopeLatency, Subject: measured.SubjectServer, Value: share, Limit: stoodStill}}
}
