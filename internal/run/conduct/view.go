package conduct

import (
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// skipped begins the message of a trial that is given up for what another one has shown.
const skipped = "skipped: "

// View is a run as one of its trials sees it.
type View struct {
	// Name is the run's.
	Name string
	// Deleted is true if the run is gone or about to go.
	Deleted bool
	// Ended is the reason with which the run has ended; empty while it goes on.
	Ended string
	// Blocks is how many its plan has.
	Blocks int32
	// Interim is what the run knows of its interim analyses.
	Interim Interim
	// Trials are those that were begun.
	Trials Trials
}

// GiveUp ends a trial whose run does not need it any more, or whose implementation has already shown that it cannot be measured; nil if it
// goes on.
func (v View) GiveUp(t Trial) *Failure {
	switch {
	case v.Deleted:
		return cancelled(v1alpha1.ReasonDeleted, "BenchmarkRun %s is being deleted", v.Name)
	case v.Interim.Stopped > 0 && t.Block > v.Interim.Stopped && t.Started.IsZero():
		return cancelled(v1alpha1.ReasonStoppedEarly, "BenchmarkRun %s stopped early, after block %d: its intervals are narrow enough", v.Name, v.Interim.Stopped)
	case v.Ended != "":
		return cancelled(v.Ended, "BenchmarkRun %s has ended", v.Name)
	}
	return v.Trials.shown(t)
}

// Awaits returns what a trial waits for before it is prepared, in words; empty if its turn has come. One that has begun goes on, also if an earlier
// one was deleted meanwhile and made again.
func (v View) Awaits(t Trial) string {
	if first := v.Trials.before(t); first != nil && !t.Begun {
		return fmt.Sprintf("waiting for trial %s", first.Name)
	}
	if v.Interim.awaited(t.Block, v.Blocks) {
		return "waiting for the run's interim analysis (spec.stop)"
	}
	return ""
}

// hopeless reports whether the trial failed before anything was measured, and every further one would fail likewise.
func (t *Trial) hopeless() bool {
	underLoad := t.Reason == v1alpha1.ReasonServerExited && !t.Started.IsZero()
	switch v1alpha1.OriginOf(t.Reason) {
	case v1alpha1.OriginImplementation, v1alpha1.OriginSetup, v1alpha1.OriginLoad:
		return t.failed() && !underLoad
	default:
		return false
	}
}

// shown is the hopeless failure that another trial of the same implementation has shown; nil if there is none.
func (l Trials) shown(t Trial) *Failure {
	sorted := l.inOrder()
	for i := range sorted {
		other := &sorted[i]
		// A profiler may fail at what runs well without it, or with another.
		if other.Name == t.Name || !other.hopeless() || other.Follows() {
			continue
		}
		if t.Follows() && v1alpha1.OriginOf(other.Reason) == v1alpha1.OriginLoad {
			continue // A profile has a load of its own.
		}
		// The nodes of a bound run have held its trials before: a node that is away may come back.
		if other.Reason == v1alpha1.ReasonUnschedulable && l.Binding() != nil {
			continue
		}
		// A program that has ended well before may do so again.
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

// endsAll reports whether a failure leaves nothing to measure for any implementation of the run: a load that cannot be made can be made for none, and
// what one of them was to be given is not what the run is about.
func endsAll(why string) bool {
	return v1alpha1.OriginOf(why) == v1alpha1.OriginLoad || why == v1alpha1.ReasonObjectMissing || why == v1alpha1.ReasonObjectChanged
}

// stored reports whether another trial of the same implementation is stored.
func (l Trials) stored(t *Trial) bool {
	return slices.ContainsFunc(l, func(other Trial) bool { return other.Stored != nil && sameServers(&other, t) })
}

// sameServers reports whether two trials of a run measure the same implementations, in whatever order.
func sameServers(a, b *Trial) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.Servers)), slices.Sorted(slices.Values(b.Servers)))
}

// Absence is the time in which nobody could lead a run whose turn had come, because no operator or no workflow engine was there. It takes nothing from
// the run's own.
type Absence struct {
	// Sum is how long that was in whole seconds, and Until when the last of it ended.
	Sum   time.Duration
	Until time.Time
}

// With adds a time in which nobody led. What of it was added before is left out, so that it may be added again by somebody who does not know.
func (a Absence) With(from, to time.Time) Absence {
	if from.Before(a.Until) {
		from = a.Until
	}
	if away := to.Sub(from).Truncate(time.Second); away > 0 {
		return Absence{Sum: a.Sum + away, Until: to}
	}
	return a
}
