package facts

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestTimeInWhichNobodyCouldLeadARun(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	at := func(hour int) *metav1.Time { return &metav1.Time{Time: noon.Add(time.Duration(hour) * time.Hour)} }
	down := func(since int) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			r.Status.WaitingSince = at(since)
			r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Reason: v1alpha1.ReasonWorkflowEngineDown}}
		}
	}
	started := func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime = at(0) }
	counted := func(hours, until int) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			r.Status.Absence = v1alpha1.AbsenceStatus{Seconds: int32(3600 * hours), Until: at(until)}
		}
	}
	for name, tc := range map[string]struct {
		run []func(*v1alpha1.BenchmarkRun)
		// from and to bound the absence of an operator; equal means no absence.
		from, to int
		// why is the reason for waiting at six o'clock; absent is the excluded hours, told those in the status.
		why          string
		absent, told int
	}{
		"an operator was always there":                  {[]func(*v1alpha1.BenchmarkRun){started}, 0, 0, "", 0, 0},
		"none was for two hours":                        {[]func(*v1alpha1.BenchmarkRun){started}, 1, 3, "", 2, 2},
		"and the status knows":                          {[]func(*v1alpha1.BenchmarkRun){started, counted(2, 3)}, 1, 3, "", 2, 2},
		"and then another was not":                      {[]func(*v1alpha1.BenchmarkRun){started, counted(1, 2)}, 3, 4, "", 2, 2},
		"none was there before the run's turn either":   {[]func(*v1alpha1.BenchmarkRun){started}, -2, 1, "", 1, 1},
		"the run's turn has come after that":            {[]func(*v1alpha1.BenchmarkRun){started}, -2, -1, "", 0, 0},
		"the run's turn has not come":                   {nil, 1, 3, "", 0, 0},
		"Argo is away":                                  {[]func(*v1alpha1.BenchmarkRun){started, down(2)}, 0, 0, v1alpha1.ReasonWorkflowEngineDown, 4, 0},
		"Argo is back":                                  {[]func(*v1alpha1.BenchmarkRun){started, down(2)}, 0, 0, "", 4, 4},
		"Argo is away again":                            {[]func(*v1alpha1.BenchmarkRun){started, counted(1, 2), down(5)}, 0, 0, v1alpha1.ReasonWorkflowEngineDown, 2, 1},
		"Argo was away before no operator was there":    {[]func(*v1alpha1.BenchmarkRun){started, down(1)}, 2, 4, "", 5, 5},
		"Argo is away from before that until now":       {[]func(*v1alpha1.BenchmarkRun){started, down(1)}, 2, 4, v1alpha1.ReasonWorkflowEngineDown, 5, 3},
		"Argo has been away since an operator is there": {[]func(*v1alpha1.BenchmarkRun){started, down(5)}, 1, 3, "", 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			run, now := &v1alpha1.BenchmarkRun{}, at(6).Time
			for _, d := range tc.run {
				d(run)
			}
			var from, to time.Time
			if tc.from != tc.to {
				from, to = at(tc.from).Time, at(tc.to).Time
			}
			a := Absence(run, from, to)
			if got := WithoutEngine(a, run, now).Sum; got != time.Duration(tc.absent)*time.Hour {
				t.Errorf("%s do not count, want %d hours", got, tc.absent)
			}
			if got := AbsenceStatus(run, a, tc.why, now); got.Seconds != int32(3600*tc.told) || (got.Until == nil) != (tc.told == 0) {
				t.Errorf("the status tells %+v, want %d hours", got, tc.told)
			}
		})
	}
}
