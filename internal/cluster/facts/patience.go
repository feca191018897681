package facts

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// defaultPatience is how long a run waits for what may come back.
const defaultPatience = 10 * time.Minute

// Patience is how long a run waits for what may come back, such as an image, a node or the key of the store.
func Patience(run *v1alpha1.BenchmarkRun) time.Duration {
	if run == nil || run.Spec.PatienceSeconds == 0 {
		return defaultPatience
	}
	return time.Duration(run.Spec.PatienceSeconds) * time.Second
}

// defaultTTL is how long the trials and workflows of a run stay after its end.
const defaultTTL = 24 * time.Hour

// TTL is how long the trials and workflows of a run stay after its end.
func TTL(run *v1alpha1.BenchmarkRun) time.Duration {
	if own := run.Spec.TTLSecondsAfterFinished; own != nil {
		return time.Duration(*own) * time.Second
	}
	return defaultTTL
}

// WaitingSince is since when a run waits for something of the cluster that is away, where why is the reason for which it waits now; nil if it
// waits for nothing, or for its turn alone.
func WaitingSince(run *v1alpha1.BenchmarkRun, why string, now time.Time) *metav1.Time {
	switch {
	case why == "" || why == v1alpha1.ReasonQueued:
		return nil
	case run.Status.WaitingSince != nil && reasonOf(run) == why:
		return run.Status.WaitingSince
	}
	return &metav1.Time{Time: now}
}

// StoreAwaited is since when a run has waited for its store without a break, whether the store is away or refuses, and somebody led it; zero if it does
// not. Nobody led it before an absence was over.
func StoreAwaited(run *v1alpha1.BenchmarkRun, absence conduct.Absence) time.Time {
	if why := reasonOf(run); run.Status.WaitingSince == nil || why != v1alpha1.ReasonStoreUnavailable && why != v1alpha1.ReasonStoreRefused {
		return time.Time{}
	}
	return since(run, absence)
}

// since is when the wait of a run began, or began anew because nobody had led the run for a while.
func since(run *v1alpha1.BenchmarkRun, absence conduct.Absence) time.Time {
	if at := run.Status.WaitingSince.Time; at.After(absence.Until) {
		return at
	}
	return absence.Until
}

// reasonOf is the reason that a run's summary has had since its last pass.
func reasonOf(run *v1alpha1.BenchmarkRun) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason
	}
	return ""
}

// Impatient reports whether a run has waited for a reason for as long as its spec allows, while somebody led it.
func Impatient(run *v1alpha1.BenchmarkRun, absence conduct.Absence, why string, now time.Time) bool {
	return run.Status.WaitingSince != nil && reasonOf(run) == why && now.Sub(since(run, absence)) >= Patience(run)
}
