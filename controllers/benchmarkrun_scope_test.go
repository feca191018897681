package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestWhoseTurnItIs(t *testing.T) {
	run := func(name string, created time.Duration, deltas ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
		r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name, CreationTimestamp: metav1.Time{Time: noon.Add(created)}}}
		for _, d := range deltas {
			d(&r)
		}
		return r
	}
	at := &metav1.Time{Time: noon}
	begun := func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime = at }
	over := func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime, r.Status.CompletionTime = at, at }
	deleted := func(r *v1alpha1.BenchmarkRun) { r.DeletionTimestamp = at }
	unreported := func(r *v1alpha1.BenchmarkRun) {
		r.Status.StartTime, r.Status.Conditions = at, []metav1.Condition{{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionTrue}}
	}
	noRoom := func(r *v1alpha1.BenchmarkRun) {
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionPlanned, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotEnoughCPUs}}
	}
	tests := map[string]struct {
		runs []v1alpha1.BenchmarkRun
		want string
	}{
		"not that of one that waits for nodes":      {[]v1alpha1.BenchmarkRun{run("a", 1, noRoom), run("b", 2)}, "b"},
		"not that of one that waits for its report": {[]v1alpha1.BenchmarkRun{run("a", 1, unreported), run("b", 2)}, "b"},
		"nobody's":                               {},
		"the only one's":                         {[]v1alpha1.BenchmarkRun{run("a", 0)}, "a"},
		"the oldest one's":                       {[]v1alpha1.BenchmarkRun{run("a", 2), run("b", 1), run("c", 3)}, "b"},
		"that of the one that has begun":         {[]v1alpha1.BenchmarkRun{run("a", 1), run("b", 2, begun)}, "b"},
		"not that of one that has ended":         {[]v1alpha1.BenchmarkRun{run("a", 1, over), run("b", 2)}, "b"},
		"not that of one that is deleted":        {[]v1alpha1.BenchmarkRun{run("a", 1, begun, deleted), run("b", 2)}, "b"},
		"nobody's when all have ended":           {[]v1alpha1.BenchmarkRun{run("a", 1, over), run("b", 2, deleted)}, ""},
		"of two of one second the first by name": {[]v1alpha1.BenchmarkRun{run("b", 1), run("a", 1)}, "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if first := firstOf(tc.runs); first != nil {
				got = first.Name
			}
			if got != tc.want {
				t.Errorf("it is %q's turn, want %q", got, tc.want)
			}
		})
	}
}

// trialAt is the trial of an index; ended ago before noon, or not ended if that is 0.
func trialAt(index int32, start v1alpha1.Start, ended time.Duration) v1alpha1.Trial {
	t := v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + index))}}
	t.Spec.Index, t.Spec.Start = &index, start
	if ended != 0 {
		at := metav1.NewMicroTime(noon.Add(-ended))
		t.Status.CompletionTime = &at
	}
	return t
}

func TestATrialIsStuckWhenArgoDoesNotTakeItsAnswer(t *testing.T) {
	const held, released = v1alpha1.StartHeld, v1alpha1.StartReleased
	tests := map[string]struct {
		trials []v1alpha1.Trial
		want   string
	}{
		"nothing was measured yet":       {trials: []v1alpha1.Trial{trialAt(0, held, 0), trialAt(1, held, 0)}},
		"the first is measured":          {trials: []v1alpha1.Trial{trialAt(0, released, 0), trialAt(1, held, 0)}},
		"the first has just ended":       {trials: []v1alpha1.Trial{trialAt(0, released, answerPatience), trialAt(1, held, 0)}},
		"the first ended some time ago":  {trials: []v1alpha1.Trial{trialAt(0, released, answerPatience+1), trialAt(1, held, 0)}, want: "a"},
		"the second was released":        {trials: []v1alpha1.Trial{trialAt(0, released, time.Hour), trialAt(1, released, 0)}},
		"the second ended some time ago": {trials: []v1alpha1.Trial{trialAt(0, released, time.Hour), trialAt(1, released, time.Minute), trialAt(2, held, 0)}, want: "b"},
		"all have ended":                 {trials: []v1alpha1.Trial{trialAt(0, released, time.Hour), trialAt(1, released, time.Hour)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if s := (&runScope{trials: tc.trials, now: noon}).stuck(answerPatience); s != nil {
				got = s.Name
			}
			if got != tc.want {
				t.Errorf("%q is stuck, want %q", got, tc.want)
			}
		})
	}
}
