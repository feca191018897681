package argo

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

func TestHowAWorkflowGetsOn(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	first := facts.Owed{Trial: "b"}
	second := func(since time.Duration) facts.Owed { return facts.Owed{Trial: "b", After: "a", Since: ago(since)} }
	pod := func(status corev1.PodStatus) []corev1.Pod {
		return []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "w-agent"}, Status: status}}
	}
	homeless := pod(corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}})
	imageless := pod(corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}}}})
	goes := pod(corev1.PodStatus{Phase: corev1.PodRunning})
	goes[0].DeletionTimestamp = &metav1.Time{Time: ago(Patience + 1)}
	went := pod(corev1.PodStatus{Phase: corev1.PodPending})
	went[0].DeletionTimestamp = &metav1.Time{Time: noon}
	late := second(Patience + 1)
	for name, tc := range map[string]struct {
		phase     string
		suspended any
		made      time.Time
		agents    []corev1.Pod
		owed      facts.Owed
		led       time.Time
		// why is the reason of the wait, says its message.
		why, says  string
		unanswered bool
	}{
		"it was just made":                       {made: ago(time.Second), owed: first},
		"nobody has told yet when it was made":   {owed: first},
		"it is not picked up":                    {made: ago(Patience), owed: first},
		"it is not picked up for long":           {made: ago(Patience + 1), owed: first, why: v1alpha1.ReasonWorkflowEngineDown, says: "argo.instanceID"},
		"its first trial is not released":        {phase: "Running", made: ago(Patience), owed: first},
		"its first trial is not, for long":       {phase: "Running", made: ago(Patience + 1), owed: first, why: v1alpha1.ReasonWorkflowEngineDown, says: "has not released the next trial b"},
		"a trial is under load":                  {phase: "Running", made: ago(time.Hour)},
		"a result waits":                         {phase: "Running", made: ago(time.Hour), owed: second(AnswerPatience)},
		"a result is lost":                       {phase: "Running", made: ago(time.Hour), owed: second(AnswerPatience + 1), says: "has not collected the result of trial a", unanswered: true},
		"it has taken the place of another":      {phase: "Running", made: ago(time.Second), owed: second(time.Hour)},
		"nobody collects a result":               {phase: "Running", made: ago(time.Hour), owed: second(Patience + 1), why: v1alpha1.ReasonWorkflowEngineDown, says: "has not released the next trial b", unanswered: true},
		"its agent pod finds no node":            {phase: "Running", made: ago(Patience + 1), agents: homeless, owed: first, why: v1alpha1.ReasonTrialWaiting, says: "agent pod w-agent of workflow w has not released the next trial b, and the run's timeout continues: the pod is not scheduled: 0/3 nodes"},
		"its agent pod's image does not come":    {phase: "Running", made: ago(time.Hour), agents: imageless, owed: late, why: v1alpha1.ReasonTrialWaiting, says: "container main is waiting: ImagePullBackOff: not found", unanswered: true},
		"its agent pod runs, and does nothing":   {phase: "Running", made: ago(Patience + 1), agents: pod(corev1.PodStatus{Phase: corev1.PodRunning}), owed: first, why: v1alpha1.ReasonWorkflowEngineDown, says: "check that its controller runs"},
		"its agent pod does not go":              {phase: "Running", made: ago(time.Hour), agents: goes, owed: late, why: v1alpha1.ReasonTrialWaiting, says: "the pod is being deleted", unanswered: true},
		"its agent pod goes":                     {phase: "Running", made: ago(time.Hour), agents: went, owed: late, why: v1alpha1.ReasonWorkflowEngineDown, says: "has not released the next trial b", unanswered: true},
		"its agent pod is starting":              {phase: "Running", made: ago(Patience), agents: homeless, owed: first},
		"a result waits, and nobody was there":   {phase: "Running", made: ago(time.Hour), owed: second(time.Hour), led: ago(AnswerPatience)},
		"nobody was there to see it picked up":   {made: ago(time.Hour), owed: first, led: ago(Patience)},
		"somebody has suspended it":              {phase: "Running", suspended: true, made: ago(time.Hour), owed: second(time.Hour), why: v1alpha1.ReasonSuspended, says: "argo resume"},
		"somebody has suspended it at once":      {suspended: true, made: ago(time.Hour), owed: first, why: v1alpha1.ReasonSuspended, says: "argo resume"},
		"somebody has resumed it":                {phase: "Running", suspended: false, made: ago(time.Hour), owed: second(0)},
		"it is suspended while a trial measures": {phase: "Running", suspended: true, made: ago(time.Hour), why: v1alpha1.ReasonSuspended, says: "argo resume"},
	} {
		t.Run(name, func(t *testing.T) {
			w := New()
			w.Object["spec"], w.Object["status"] = map[string]any{"suspend": tc.suspended}, map[string]any{"phase": tc.phase}
			w.SetName("w")
			w.SetCreationTimestamp(metav1.Time{Time: tc.made})
			got := Stands(w, tc.agents, tc.owed, tc.led, noon)
			if got.Why != tc.why || !strings.Contains(got.Waiting, tc.says) || (got.Waiting == "") != (tc.says == "") {
				t.Errorf("it waits for %q: %q", got.Why, got.Waiting)
			}
			if got.Unanswered != tc.unanswered || got.Suspended != (tc.suspended == true) {
				t.Errorf("it stands as %+v", got)
			}
		})
	}
}
