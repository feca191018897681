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

// Quickly is how long a trial may wait before the reason is worth a write: pods start and end meanwhile.
const Quickly = 3 * time.Second

// Progress formats ended cells of all.
func Progress(done, all int) string { return fmt.Sprintf("%d/%d", done, all) }

func told(progress string) (done int) {
	_, _ = fmt.Sscanf(progress, "%d/", &done) // An empty one counts none.
	return done
}

// WrittenRun returns the status to write: the new one, or the old one if no difference is worth a write. Passing time is not, and ended cells
// only occasionally.
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

// WrittenTrial is the same for a trial. Not worth a write: waiting or readiness in an attempt's first seconds and right after the previous trial, and
// the load's end while files are being stored.
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

// expected reports whether the change of an unknown condition is no news: it is met, or is still unknown for the same reason.
func expected(c, old *metav1.Condition) bool {
	return c.Status == metav1.ConditionTrue || c.Status == old.Status && c.Reason == old.Reason
}
