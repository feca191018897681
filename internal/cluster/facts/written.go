package facts

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// Quickly is how long a trial may wait before it is worth a write for what: pods end and start meanwhile, and nobody reads that fast.
const Quickly = 3 * time.Second

// Progress says how many cells have ended, of how many.
func Progress(done, all int) string { return fmt.Sprintf("%d/%d", done, all) }

// told is how many cells a progress counts; none before there is one.
func told(progress string) (done int) {
	_, _ = fmt.Sscanf(progress, "%d/", &done) // An empty one counts none.
	return done
}

// WrittenRun is the status that a run is to have: the new one, or the old one where they differ in nothing that is worth a write. Time that
// passes by itself is not, and cells that end only now and then.
func WrittenRun(before, after v1alpha1.BenchmarkRunStatus, r conduct.Run) v1alpha1.BenchmarkRunStatus {
	if before.TimeLeft == "" || after.TimeLeft == "" || r.Tells(told(before.Progress)) {
		return after
	}
	passed := after
	passed.Progress, passed.TimeLeft = before.Progress, before.TimeLeft
	if equality.Semantic.DeepEqual(passed, before) {
		return before
	}
	return after
}

// WrittenTrial is the same of a trial. In its first seconds an attempt, and in the seconds after the trial before it has ended, what it waits for is no
// news, nor that it is ready; nor is that its load has ended, while its files are being stored.
func WrittenTrial(before, after v1alpha1.TrialStatus, a conduct.Attempt, siblings conduct.Trials) v1alpha1.TrialStatus {
	passed := *after.DeepCopy()
	if !a.Tells(told(before.Progress)) {
		passed.Progress = before.Progress
	}
	since := siblings.LastEnd()
	if before.AttemptTime != nil {
		since = before.AttemptTime.Time
	}
	ended := !a.Started.IsZero() && !a.Work.EndsItself() && !a.Now.Before(a.End())
	if ended {
		since = a.End()
	}
	if a.Now.Sub(since) < Quickly {
		passed.ObservedGeneration = before.ObservedGeneration
		for i := range passed.Conditions {
			c := &passed.Conditions[i]
			if old := meta.FindStatusCondition(before.Conditions, c.Type); old != nil && old.Status == metav1.ConditionUnknown && expected(c, old) {
				*c = *old
			}
		}
		if ended {
			passed.Progress = before.Progress
		}
	}
	if equality.Semantic.DeepEqual(passed, before) {
		return before
	}
	return after
}

// expected reports whether a condition that was unknown has taken no turn that somebody should know of at once: it waits for something else, or is met.
func expected(c, old *metav1.Condition) bool {
	return c.Status == metav1.ConditionTrue || c.Status == old.Status && c.Reason == old.Reason
}
