package plan

import (
	"cmp"
	"fmt"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind/sweep"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// orderOf is the order of a spec.
func orderOf(spec v1alpha1.BenchmarkRunSpec) record.Order {
	return cmp.Or(record.Order(spec.Order), record.OrderBlocks)
}

func isDuet(spec v1alpha1.BenchmarkRunSpec) bool { return orderOf(spec) == record.OrderSlicedDuet }

// checkDuet refuses what a duet cannot measure.
func checkDuet(spec v1alpha1.BenchmarkRunSpec) *Violation {
	if !isDuet(spec) {
		return nil
	}
	if len(spec.Implementations) != 2 {
		return invalid("spec.order is SlicedDuet, which compares two implementations, but spec.implementations has %d: create a run for each pair", len(spec.Implementations))
	}
	for i, impl := range spec.Implementations {
		if max(impl.CPUs, DefaultCPUs) != 1 {
			return invalid("spec.implementations[%d].cpus is %d, but the servers of spec.order SlicedDuet share one CPU: make it 1, or choose spec.order Blocks", i, impl.CPUs)
		}
		if impl.Role == v1alpha1.RoleReference {
			return invalid("spec.implementations[%d].role is %s, which takes no part in verdicts, but spec.order SlicedDuet serves to reach one: make it %s, or choose spec.order Blocks", i, v1alpha1.RoleReference, v1alpha1.RoleContender)
		}
	}
	for i, l := range spec.Loads {
		if field, value, only := unfitForDuet(l); field != "" {
			return invalid("spec.loads[%d].%s is %s, but spec.order SlicedDuet takes %s: change it, or choose spec.order Blocks", i, field, value, only)
		}
	}
	return nil
}

// unfitForDuet names the first field of a load that a duet has no use for, its value, and what a duet takes; empty if there is none.
func unfitForDuet(l v1alpha1.Load) (field, value, only string) {
	switch {
	case !tools.Traits(record.Tool(l.Tool)).Freezable:
		return "tool", string(l.Tool), "wrk only, which tolerates being paused"
	case l.Connection == v1alpha1.PerRequest:
		return "connection", string(l.Connection), "KeepAlive only"
	case l.Generators.Pods > 1:
		return "generators.pods", fmt.Sprint(l.Generators.Pods), "one generator pod, which loads both servers"
	case !l.Script.IsZero():
		return "script", "set", "none: its requests may differ from slice to slice"
	case !l.Search.IsZero():
		return "search", "set", "none: it has no latencies"
	}
	for i, level := range l.Levels {
		if level.RequestsPerSecond > 0 {
			return fmt.Sprintf("levels[%d].requestsPerSecond", i), fmt.Sprint(level.RequestsPerSecond), "none: a paused generator cannot sustain a rate"
		}
	}
	return "", "", ""
}

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
	p.note("spec.order is SlicedDuet: each trial runs both servers on one CPU, and one load alternates between them every %d ms, in random order within each pair of slices", timetable.DuetSlice/time.Millisecond)
	p.note("spec.order is SlicedDuet: each level takes twice its warmupSeconds and durationSeconds, and has no latencies, because pausing the generator distorts them")
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
