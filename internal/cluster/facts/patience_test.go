package facts

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestARunWaitsFromTheFirstWordOfTroubleToTheEndOfItsPatience(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	run := &v1alpha1.BenchmarkRun{}
	if Impatient(run, conduct.Absence{}, v1alpha1.ReasonStoreRefused, noon) {
		t.Error("a run that waits for nothing is impatient")
	}
	for _, why := range []string{"", v1alpha1.ReasonQueued} {
		if since := WaitingSince(run, why, noon); since != nil {
			t.Errorf("a run with the reason %q waits since %s", why, since)
		}
	}
	run.Status.WaitingSince = WaitingSince(run, v1alpha1.ReasonStoreRefused, noon)
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Reason: v1alpha1.ReasonStoreRefused}}
	if other := WaitingSince(run, v1alpha1.ReasonNotEnoughCPUs, noon.Add(time.Hour)); !other.Equal(&metav1.Time{Time: noon.Add(time.Hour)}) {
		t.Errorf("another wait began at %s", other)
	}
	if later := WaitingSince(run, v1alpha1.ReasonStoreRefused, noon.Add(time.Hour)); !later.Equal(&metav1.Time{Time: noon}) {
		t.Errorf("a run that waits since noon waits since %s", later)
	}
	for after, want := range map[time.Duration]bool{10*time.Minute - time.Second: false, 10 * time.Minute: true} {
		if got := Impatient(run, conduct.Absence{}, v1alpha1.ReasonStoreRefused, noon.Add(after)); got != want {
			t.Errorf("after %s, a run without a patience of its own is impatient: %v", after, got)
		}
	}
	if Impatient(run, conduct.Absence{Until: noon.Add(time.Hour)}, v1alpha1.ReasonStoreRefused, noon.Add(time.Hour+time.Minute)) {
		t.Error("a run has waited while nobody led it")
	}
	if Impatient(run, conduct.Absence{}, v1alpha1.ReasonStoreUnavailable, noon.Add(time.Hour)) {
		t.Error("one wait takes from the patience for another")
	}
	run.Spec.PatienceSeconds = 5
	if !Impatient(run, conduct.Absence{}, v1alpha1.ReasonStoreRefused, noon.Add(5*time.Second)) {
		t.Error("a run waits beyond its own patience")
	}
}
