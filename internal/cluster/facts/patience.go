package facts

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

const defaultPatience = 10 * time.Minute

// Patience returns how long a run waits for something that may come back: an image, a node or the store's credentials.
func Patience(run *v1alpha1.BenchmarkRun) time.Duration {
	if run == nil || run.Spec.PatienceSeconds == 0 {
		return defaultPatience
	}
	return time.Duration(run.Spec.PatienceSeconds) * time.Second
}

const defaultTTL = 24 * time.Hour

// TTL returns how long a run's trials and workflows stay after its end.
func TTL(run *v1alpha1.BenchmarkRun) time.Duration {
	if own := run.Spec.TTLSecondsAfterFinished; own != nil {
		return time.Duration(*own) * time.Second
	}
	return defaultTTL
}

// WaitingSince returns since when a run has waited for something unavailable (why is the reason); nil if it waits for nothing, or only for its
// turn.
func WaitingSince(run *v1alpha1.BenchmarkRun, why string, now time.Time) *metav1.Time {
	switch {
	case why == "" || why == v1alpha1.ReasonQueued:
		return nil
	case run.Status.WaitingSince != nil && reasonOf(run) == why:
		return run.Status.WaitingSince
	}
	return &metav1.Time{Time: now}
}

// StoreAwaited returns since when a run has continuously waited for its store with an operator present, whether it is unavailable or refuses;
// zero if it does not. An absence restarts it.
func StoreAwaited(run *v1alpha1.BenchmarkRun, absence conduct.Absence) time.Time {
	if why := reasonOf(run); run.Status.WaitingSince == nil || why != v1alpha1.ReasonStoreUnavailable && why != v1alpha1.ReasonStoreRefused {
		return time.Time{}
	}
	return since(run, absence)
}

// since returns when a run's wait began, or restarted after an absence.
func since(run *v1alpha1.BenchmarkRun, absence conduct.Absence) time.Time {
	if at := run.Status.WaitingSince.Time; at.After(absence.Until) {
		return at
	}
	return absence.Until
}

func reasonOf(run *v1alpha1.BenchmarkRun) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason
	}
	return ""
}

// Impatient reports whether a run has waited as long as its spec allows, not counting absences.
func Impatient(run *v1alpha1.BenchmarkRun, absence conduct.Absence, why string, now time.Time) bool {
	return run.Status.WaitingSince != nil && reasonOf(run) == why && now.Sub(since(run, absence)) >= Patience(run)
}
