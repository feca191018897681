package facts

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// Absence is the time in which nobody could lead a run whose turn has come: what its status says, and a time in which no operator was there. If Argo
// was away when that began, it was away meanwhile. Of a run in the queue only the end of that counts.
func Absence(run *v1alpha1.BenchmarkRun, from, to time.Time) conduct.Absence {
	status := run.Status.Absence
	a := conduct.Absence{Sum: time.Duration(status.Seconds) * time.Second}
	if status.Until != nil {
		a.Until = status.Until.Time
	}
	switch start := run.Status.StartTime; {
	case from.IsZero():
		return a
	case start == nil:
		return conduct.Absence{Until: to}
	case from.Before(start.Time):
		from = start.Time
	}
	if down := engineDownSince(run); !down.IsZero() && down.Before(from) {
		from = down
	}
	return a.With(from, to)
}

// WithoutEngine adds to an absence the time in which a run has waited for Argo since then.
func WithoutEngine(a conduct.Absence, run *v1alpha1.BenchmarkRun, now time.Time) conduct.Absence {
	if since := engineDownSince(run); !since.IsZero() {
		return a.With(since, now)
	}
	return a
}

// engineDownSince is since when a run waits for Argo; zero if it does not.
func engineDownSince(run *v1alpha1.BenchmarkRun) time.Time {
	if run.Status.WaitingSince == nil || reasonOf(run) != v1alpha1.ReasonWorkflowEngineDown {
		return time.Time{}
	}
	return run.Status.WaitingSince.Time
}

// AbsenceStatus is what the status of a run says of an absence, where why is the reason for which the run waits now. While that is Argo's absence, it
// counts nothing of it: time that passes by itself is not worth a write.
func AbsenceStatus(run *v1alpha1.BenchmarkRun, a conduct.Absence, why string, now time.Time) v1alpha1.AbsenceStatus {
	if why != v1alpha1.ReasonWorkflowEngineDown {
		a = WithoutEngine(a, run, now)
	}
	if a.Sum == 0 {
		return v1alpha1.AbsenceStatus{}
	}
	return v1alpha1.AbsenceStatus{Seconds: int32(a.Sum / time.Second), Until: &metav1.Time{Time: a.Until}}
}
