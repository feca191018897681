package conduct

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// skipped begins the message of a trial given up because of another one.
const skipped = "skipped: "

// View is a run as seen by one of its trials.
type View struct {
	Name    string
	Deleted bool
	// Ended is the reason of the run's end; empty before.
	Ended  string
	Blocks int32
	// Baseline is the implementation that the others are compared with.
	Baseline string
	Interim  Interim
	// Trials are those that were begun.
	Trials Trials
}

// GiveUp ends a trial that its run no longer needs, or whose implementation was shown to be unmeasurable; nil
// otherwise.
func (v View) GiveUp(t Trial) *Failure {
	switch {
	case v.Deleted:
		return cancelled(v1alpha1.ReasonDeleted, "BenchmarkRun %s is being deleted", v.Name)
	case v.Interim.Stopped > 0 && t.Block > v.Interim.Stopped && t.Started.IsZero():
		return cancelled(v1alpha1.ReasonStoppedEarly, "BenchmarkRun %s stopped early, after block %d: its intervals are narrow enough", v.Name, v.Interim.Stopped)
	case v.Ended != "":
		return cancelled(v.Ended, "BenchmarkRun %s has ended", v.Name)
	}
	if f := v.Trials.shown(t); f != nil {
		return f
	}
	return v.alone(t)
}

// alone ends a trial of a block if nothing is left to compare its implementation with: the baseline, or every other implementation, was shown
// to be unmeasurable. Otherwise it returns nil.
func (v View) alone(t Trial) *Failure {
	if t.Follows() {
		return nil
	}
	asked, left := map[string]bool{}, map[string]bool{}
	for _, server := range t.Servers {
		left[server] = true
	}
	var why *Failure
	for i := range v.Trials {
		servers := v.Trials[i].Servers
		name := strings.Join(servers, " ")
		if v.Trials[i].Follows() || asked[name] {
			continue
		}
		asked[name] = true
		f := v.Trials.shown(Trial{PlannedTrial: record.PlannedTrial{Name: t.Name, Block: t.Block, Servers: servers}})
		if f != nil && (why == nil || slices.Contains(servers, v.Baseline)) {
			why = f
		}
		for _, server := range servers {
			left[server] = left[server] || f == nil
		}
	}
	maps.DeleteFunc(left, func(_ string, measurable bool) bool { return !measurable })
	if why == nil || len(left) > 1 && left[v.Baseline] {
		return nil
	}
	return cancelled(v1alpha1.ReasonStoppedEarly, "BenchmarkRun %s stopped early, because nothing is left to compare: %s", v.Name, strings.TrimPrefix(why.Message, skipped))
}

// Awaits says what a trial waits for before its preparation; empty if its turn has come. A begun trial continues,
// even if an earlier one was deleted and recreated.
func (v View) Awaits(t Trial) string {
	if first := v.Trials.before(t); first != nil && !t.Begun {
		return fmt.Sprintf("waiting for trial %s", first.Name)
	}
	if v.Interim.awaited(t.Block, v.Blocks) {
		return "waiting for the run's interim analysis (spec.stop)"
	}
	return ""
}

// hopeless reports whether the trial failed before it measured, and further ones would too.
func (t *Trial) hopeless() bool {
	underLoad := t.Reason == v1alpha1.ReasonServerExited && !t.Started.IsZero()
	switch v1alpha1.OriginOf(t.Reason) {
	case v1alpha1.OriginImplementation, v1alpha1.OriginSetup, v1alpha1.OriginLoad:
		return t.failed() && !underLoad
	default:
		return false
	}
}

func (l Trials) shown(t Trial) *Failure {
	sorted := l.inOrder()
	for i := range sorted {
		other := &sorted[i]
		// A profiler may fail where another, or none, succeeds.
		if other.Name == t.Name || !other.hopeless() || other.Follows() {
			continue
		}
		if t.Follows() && v1alpha1.OriginOf(other.Reason) == v1alpha1.OriginLoad {
			continue // A profile has its own load.
		}
		// The nodes of a bound run held its trials before, and may come back.
		if other.Reason == v1alpha1.ReasonUnschedulable && l.Binding() != nil {
			continue
		}
		// A program that succeeded before may succeed again.
		if (other.Reason == v1alpha1.ReasonProgramFailed || other.Reason == v1alpha1.ReasonProgramTimedOut) && sorted.stored(other) {
			continue
		}
		if !sameServers(other, &t) && !endsAll(other.Reason) {
			continue
		}
		return PermanentFailure(other.Reason, skipped+"trial %s has already failed this way: %s", other.Name, other.Message)
	}
	return nil
}

// endsAll reports whether a failure leaves nothing to measure for any implementation: an impossible load is
// impossible for all, and without its objects the run is another run.
func endsAll(why string) bool {
	return v1alpha1.OriginOf(why) == v1alpha1.OriginLoad || why == v1alpha1.ReasonObjectMissing || why == v1alpha1.ReasonObjectChanged
}

func (l Trials) stored(t *Trial) bool {
	return slices.ContainsFunc(l, func(other Trial) bool { return other.Stored != nil && sameServers(&other, t) })
}

func sameServers(a, b *Trial) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.Servers)), slices.Sorted(slices.Values(b.Servers)))
}

// Absence is the time without an operator or workflow engine to lead a started run. It does not count against the
// run's time.
type Absence struct {
	// Sum is in whole seconds; Until is the end of the last absence.
	Sum   time.Duration
	Until time.Time
}

// With adds an absence, without the part that was added before. So repeated calls are safe.
func (a Absence) With(from, to time.Time) Absence {
	if from.Before(a.Until) {
		from = a.Until
	}
	if away := to.Sub(from).Truncate(time.Second); away > 0 {
		return Absence{Sum: a.Sum + away, Until: to}
	}
	return a
}
