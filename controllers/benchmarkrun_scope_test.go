package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

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
