package sweep

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Groups implements kind.Grouper: one trial of a duet measures both implementations. The first one drawn starts
// first.
func (Kind) Groups(p record.Plan, drawn []string) []kind.Group {
	if p.Order != record.OrderSlicedDuet {
		return kind.Alone(drawn)
	}
	return []kind.Group{{Name: "duet", Servers: drawn}}
}

func noteDuet(p *record.Plan) {
	if p.Order != record.OrderSlicedDuet {
		return
	}
	p.Note("spec.order is SlicedDuet: each trial runs both servers on one CPU, and one load alternates between them every %d ms, in random order within each pair of slices", timetable.DuetSlice/time.Millisecond)
	p.Note("spec.order is SlicedDuet: each level takes twice its warmupSeconds and durationSeconds, and has no latencies, because pausing the generator distorts them")
}

func isDuet(spec v1alpha1.BenchmarkRunSpec) bool { return spec.Order == v1alpha1.OrderSlicedDuet }

func checkDuet(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	if !isDuet(spec) {
		return nil
	}
	if len(spec.Implementations) != 2 {
		return kind.Invalid("spec.order is SlicedDuet, which compares two implementations, but spec.implementations has %d: create a run for each pair", len(spec.Implementations))
	}
	for i, impl := range spec.Implementations {
		if impl.CPUs > 1 {
			return kind.Invalid("spec.implementations[%d].cpus is %d, but the servers of spec.order SlicedDuet share one CPU: make it 1, or choose spec.order Blocks", i, impl.CPUs)
		}
		if impl.Role == v1alpha1.RoleReference {
			return kind.Invalid("spec.implementations[%d].role is %s, which takes no part in verdicts, but spec.order SlicedDuet serves to reach one: make it %s, or choose spec.order Blocks", i, v1alpha1.RoleReference, v1alpha1.RoleContender)
		}
	}
	for i, l := range spec.Loads {
		if field, value, only := unfitForDuet(l); field != "" {
			return kind.Invalid("spec.loads[%d].%s is %s, but spec.order SlicedDuet takes %s: change it, or choose spec.order Blocks", i, field, value, only)
		}
	}
	return nil
}

// unfitForDuet returns the first field of a load that a duet cannot have, its value, and what is allowed; empty if
// none.
func unfitForDuet(l v1alpha1.Load) (field, value, only string) {
	switch {
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
