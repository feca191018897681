package plan

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind/sweep"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
)

// duet is a block of a duet: one trial of both implementations. The first one drawn is started first.
func duet(run string, block int32, order []record.Implementation) []record.PlannedTrial {
	return []record.PlannedTrial{{
		Name: fmt.Sprintf("%s-%03d-duet", run, block-1), Index: block - 1, Block: block, Type: record.Sweep, Servers: []string{order[0].Name, order[1].Name},
	}}
}

func (p *Plan) duetNotes() {
	if p.Order != record.OrderSlicedDuet {
		return
	}
	p.Note("spec.order is SlicedDuet: each trial runs both servers on one CPU, and one load alternates between them every %d ms, in random order within each pair of slices", timetable.DuetSlice/time.Millisecond)
	p.Note("spec.order is SlicedDuet: each level takes twice its warmupSeconds and durationSeconds, and has no latencies, because pausing the generator distorts them")
}

// fitsDuet says whether some node has room for both servers of a duet.
func fitsDuet(nodes []Node) *Violation {
	const need = 2 * (sweep.DuetMilliCPU + sweep.ObserverMilliCPU)
	best, ok := fit(nodes, v1alpha1.RoleServer, need)
	switch {
	case ok:
		return nil
	case best.Name == "":
		return tooFew("spec.order is SlicedDuet", need, v1alpha1.RoleServer, best)
	}
	return &Violation{Reason: v1alpha1.ReasonNotEnoughCPUs, Message: fmt.Sprintf(
		"spec.order is SlicedDuet: its two servers need %dm CPU on one node, and the largest node for a server, %s, has %dm allocatable: add a larger node labelled %s=%s, or choose spec.order Blocks",
		need, best.Name, best.MilliCPU, v1alpha1.LabelRole, v1alpha1.RoleServer)}
}
