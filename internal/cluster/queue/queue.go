// Package queue orders the runs of an installation, which take turns: the operator asks whose turn it is, and whoever follows a run asks for its
// place.
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

// Order returns the runs that take turns, in the order in which their turns come: the one that has begun, then the oldest. A run that holds up
// nobody is left out.
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

// takeTurns is why a run waits for another.
const takeTurns = "runs take turns, because two at a time would disturb each other"

// Ahead says of a run what those behind it wait for; empty if it holds up nobody.
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

// Turn is the place of a run in the queue: how many runs come before it, about how long these will take together, and of how many nobody knows.
func Turn(order []v1alpha1.BenchmarkRun, r *v1alpha1.BenchmarkRun) (place int, before time.Duration, silent int) {
	for i := range order {
		if order[i].UID == r.UID {
			break
		}
		place++
		left, err := time.ParseDuration(order[i].Status.TimeLeft)
		if err != nil || left == 0 || stuck(&order[i]) {
			silent++ // One that waits ends when what it waits for is there, which nobody knows.
			continue
		}
		before += left
	}
	return place, before, silent
}

// roundTurn is to what instants are rounded at which a turn is likely to come: an estimate that changed with each look would be written at each.
const roundTurn = 5 * time.Minute

// Wait is for what a run waits before its turn.
type Wait struct {
	// Reason is that of the run's conditions, and Message says it in a sentence.
	Reason, Message string
	// Again is after how long the run looks again at the latest; 0 if a change of its own wakes it.
	Again time.Duration
}

// Await says for what a run waits before its turn, which is one among all runs of the installation; nil if its turn has come.
func Await(runs []v1alpha1.BenchmarkRun, run *v1alpha1.BenchmarkRun, led, now time.Time) *Wait {
	if Suspended(run) {
		return &Wait{Reason: v1alpha1.ReasonSuspended, Message: "the run does not begin while spec.suspend is true, and holds up no other: set it to false"}
	}
	first := First(runs, led, now)
	if first == nil || first.UID == run.UID {
		return nil
	}
	return &Wait{v1alpha1.ReasonQueued, Waits(runs, run, first, led, now), LookAgain(first, led, now)}
}

// Waits says of a run that is behind the first of some what it waits for: its place, about when its turn comes if those before it say how long they take, and
// what the first one does.
func Waits(runs []v1alpha1.BenchmarkRun, run, first *v1alpha1.BenchmarkRun, led, now time.Time) string {
	place, before, silent := Turn(Taking(runs, led, now), run)
	text := fmt.Sprintf("place %d in the queue", place)
	if before > 0 && silent == 0 {
		text += ", its turn is likely at about " + now.Add(before).UTC().Round(roundTurn).Format("2006-01-02 15:04 MST")
	}
	return text + ": " + Ahead(first)
}

// LookAgain is when a run that is behind the first one looks again at the latest: when that one may hold up others no longer, or its own turn is to be
// reckoned anew.
func LookAgain(first *v1alpha1.BenchmarkRun, led, now time.Time) time.Duration {
	if left := TakeLeft(first, led, now); left > 0 {
		return left
	}
	return roundTurn
}

// Taking are the runs that take turns, in their order, without those that could not be taken into the queue for a minute in which an operator led, since led
// if that is not zero: nobody waits for these.
func Taking(runs []v1alpha1.BenchmarkRun, led, now time.Time) []v1alpha1.BenchmarkRun {
	return slices.DeleteFunc(Order(runs), func(r v1alpha1.BenchmarkRun) bool { return !taken(&r) && TakeLeft(&r, led, now) == 0 })
}

// First is the run whose turn it is; nil if no run waits for one.
func First(runs []v1alpha1.BenchmarkRun, led, now time.Time) *v1alpha1.BenchmarkRun {
	if open := Taking(runs, led, now); len(open) > 0 {
		return &open[0]
	}
	return nil
}

// takePatience is how long a run may take to get its finalizer.
const takePatience = time.Minute

// TakeLeft is how long a run that comes first and could not be taken into the queue may still hold up others; 0 of one that was taken.
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

// taken reports whether an operator has put its finalizer on a run, without which nothing is begun. A policy of the cluster may refuse that.
func taken(r *v1alpha1.BenchmarkRun) bool {
	return r.Status.StartTime != nil || slices.Contains(r.Finalizers, v1alpha1.Finalizer)
}

// Suspended reports whether somebody keeps a run from beginning. What has begun goes on, whatever its spec says.
func Suspended(r *v1alpha1.BenchmarkRun) bool { return asked(r) && r.Status.StartTime == nil }

// asked reports whether the spec of a run asks for its suspension.
func asked(r *v1alpha1.BenchmarkRun) bool { return r.Spec.Suspend != nil && *r.Spec.Suspend }

// TooLate says of a run that has begun that nothing suspends it any more; empty if nobody asks for that.
func TooLate(r *v1alpha1.BenchmarkRun) string {
	if !asked(r) || r.Status.StartTime == nil {
		return ""
	}
	return "spec.suspend has no effect, since the run has begun: delete the run to end it, or set spec.suspend to false"
}

// stuck reports whether a run that takes turns waits for something else than its turn, as its status says. That of one that was just resumed is out of date.
func stuck(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	resumed := r.Status.StartTime == nil && c != nil && c.Reason == v1alpha1.ReasonSuspended
	return r.Status.WaitingSince != nil && !resumed
}

// HoldsUp reports whether a run keeps later ones from their turns. One that has ended or is deleted does not; one of which everything is measured
// waits for its store, and for no turn; nor does one that waits for nodes hold up those that fit without them, or one that is suspended anybody.
func HoldsUp(r *v1alpha1.BenchmarkRun) bool {
	return r.Status.CompletionTime == nil && r.DeletionTimestamp.IsZero() && !measuredAll(r) && !awaitsNodes(r) && !Suspended(r)
}

// measuredAll reports whether every trial of a run had ended when its status was written.
func measuredAll(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionExecuted)
	return c != nil && c.Status != metav1.ConditionUnknown
}

// awaitsNodes reports whether a run whose turn has not come waits for nodes that are away.
func awaitsNodes(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionPlanned)
	lacks := []string{v1alpha1.ReasonNotEnoughCPUs, v1alpha1.ReasonNotEnoughMemory, v1alpha1.ReasonNotEnoughResources}
	return r.Status.StartTime == nil && c != nil && c.Status == metav1.ConditionUnknown && slices.Contains(lacks, c.Reason)
}

// rank puts a run that measures before those that wait.
func rank(r *v1alpha1.BenchmarkRun) int {
	if r.Status.StartTime != nil {
		return 0
	}
	return 1
}
