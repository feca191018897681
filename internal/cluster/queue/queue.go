// Package queue orders an installation's runs, which take turns, for the operator and for clients that show places.
package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Order returns the runs that take turns, in order: the begun one, then by age. Runs that block no other are omitted.
func Order(runs []v1alpha1.BenchmarkRun) []v1alpha1.BenchmarkRun {
	open := slices.DeleteFunc(slices.Clone(runs), func(r v1alpha1.BenchmarkRun) bool { return !HoldsUp(&r) })
	slices.SortFunc(open, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(
			cmp.Compare(rank(&a), rank(&b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	return open
}

const takeTurns = "runs take turns, because concurrent runs would disturb each other"

// Ahead says why later runs wait for a run; empty if it blocks none.
func Ahead(r *v1alpha1.BenchmarkRun) string {
	if !HoldsUp(r) {
		return ""
	}
	does, why := "comes first", takeTurns
	if r.Status.StartTime != nil {
		does = "is measuring"
	}
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil && stuck(r) {
		does, why = does+", and waits", c.Message
	}
	return fmt.Sprintf("BenchmarkRun %s/%s %s: %s", r.Namespace, r.Name, does, why)
}

// Turn returns a run's place in the queue: the runs before it, their total estimated time, and how many have no estimate.
func Turn(order []v1alpha1.BenchmarkRun, r *v1alpha1.BenchmarkRun) (place int, before time.Duration, silent int) {
	for i := range order {
		if order[i].UID == r.UID {
			break
		}
		place++
		left, err := time.ParseDuration(order[i].Status.TimeLeft)
		if err != nil || left == 0 || stuck(&order[i]) {
			silent++ // The end of its wait is unknown.
			continue
		}
		before += left
	}
	return place, before, silent
}

// roundTurn rounds a turn's expected start: otherwise the estimate would change, and be written, at each look.
const roundTurn = 5 * time.Minute

// Wait is why a run waits before its turn.
type Wait struct {
	Reason, Message string
	// Again is the latest time to check again; 0 if a change of the run triggers it.
	Again time.Duration
}

// Await returns why a run waits for its turn among all runs of the installation; nil if its turn has come.
func Await(runs []v1alpha1.BenchmarkRun, run *v1alpha1.BenchmarkRun, led, now time.Time) *Wait {
	if Suspended(run) {
		return &Wait{Reason: v1alpha1.ReasonSuspended, Message: "suspended; other runs can proceed. To start it, set spec.suspend to false"}
	}
	first := First(runs, led, now)
	if first == nil || first.UID == run.UID {
		return nil
	}
	return &Wait{v1alpha1.ReasonQueued, Waits(runs, run, first, led, now), LookAgain(first, led, now)}
}

// Waits describes a queued run's wait: its place, its expected start if known, and what the first run does.
func Waits(runs []v1alpha1.BenchmarkRun, run, first *v1alpha1.BenchmarkRun, led, now time.Time) string {
	place, before, silent := Turn(Taking(runs, led, now), run)
	text := fmt.Sprintf("place %d in the queue", place)
	if before > 0 && silent == 0 {
		text += ", expected to start at about " + now.Add(before).UTC().Round(roundTurn).Format("2006-01-02 15:04 MST")
	}
	return text + ": " + Ahead(first)
}

// LookAgain returns when a queued run must check again: when the first may stop blocking, or for a new estimate.
func LookAgain(first *v1alpha1.BenchmarkRun, led, now time.Time) time.Duration {
	if left := TakeLeft(first, led, now); left > 0 {
		return left
	}
	return roundTurn
}

// Taking returns the runs that take turns, in order. It omits runs that an operator (leading since led, if not zero) could not add to the
// queue for a minute: they block no other.
func Taking(runs []v1alpha1.BenchmarkRun, led, now time.Time) []v1alpha1.BenchmarkRun {
	return slices.DeleteFunc(Order(runs), func(r v1alpha1.BenchmarkRun) bool { return !taken(&r) && TakeLeft(&r, led, now) == 0 })
}

// First returns the run whose turn it is, or nil.
func First(runs []v1alpha1.BenchmarkRun, led, now time.Time) *v1alpha1.BenchmarkRun {
	if open := Taking(runs, led, now); len(open) > 0 {
		return &open[0]
	}
	return nil
}

// takePatience bounds the time for adding a run's finalizer.
const takePatience = time.Minute

// TakeLeft returns how long a first run that is not in the queue yet may still block others; 0 if it is.
func TakeLeft(r *v1alpha1.BenchmarkRun, led, now time.Time) time.Duration {
	since := r.CreationTimestamp.Time
	if since.Before(led) {
		since = led
	}
	if taken(r) {
		return 0
	}
	return max(since.Add(takePatience).Sub(now), 0)
}

// taken reports whether a run has its finalizer, without which nothing begins. A cluster policy may refuse it.
func taken(r *v1alpha1.BenchmarkRun) bool {
	return r.Status.StartTime != nil || slices.Contains(r.Finalizers, v1alpha1.Finalizer)
}

// Suspended reports whether a run is kept from beginning. A begun run continues, whatever its spec says.
func Suspended(r *v1alpha1.BenchmarkRun) bool { return asked(r) && r.Status.StartTime == nil }

func asked(r *v1alpha1.BenchmarkRun) bool { return r.Spec.Suspend != nil && *r.Spec.Suspend }

// TooLate says that suspending a begun run has no effect; empty if not requested.
func TooLate(r *v1alpha1.BenchmarkRun) string {
	if !asked(r) || r.Status.StartTime == nil {
		return ""
	}
	return "spec.suspend has no effect on a started run: delete the run to end it, or set spec.suspend to false"
}

// stuck reports from its status whether a run waits for something other than its turn. A just resumed run's status is out of date.
func stuck(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	resumed := r.Status.StartTime == nil && c != nil && c.Reason == v1alpha1.ReasonSuspended
	return r.Status.WaitingSince != nil && !resumed
}

// HoldsUp reports whether a run blocks later ones. These do not: an ended or deleted run; a completely measured one, which waits for its
// store; a suspended one. One that waits for nodes does not block runs that fit without them.
func HoldsUp(r *v1alpha1.BenchmarkRun) bool {
	return r.Status.CompletionTime == nil && r.DeletionTimestamp.IsZero() && !measuredAll(r) && !awaitsNodes(r) && !Suspended(r)
}

func measuredAll(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionExecuted)
	return c != nil && c.Status != metav1.ConditionUnknown
}

func awaitsNodes(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionPlanned)
	lacks := []string{v1alpha1.ReasonNotEnoughCPUs, v1alpha1.ReasonNotEnoughMemory, v1alpha1.ReasonNotEnoughResources}
	return r.Status.StartTime == nil && c != nil && c.Status == metav1.ConditionUnknown && slices.Contains(lacks, c.Reason)
}

func rank(r *v1alpha1.BenchmarkRun) int {
	if r.Status.StartTime != nil {
		return 0
	}
	return 1
}
