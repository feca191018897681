package controllers

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/render"
)

func (s *runScope) prefix() string {
	return artifact.RunPrefix(s.run.Spec.Artifacts.Prefix, runRecord(s.run))
}

func (r *BenchmarkRunReconciler) workflowOptions(run *v1alpha1.BenchmarkRun) render.WorkflowOptions {
	return render.WorkflowOptions{
		Namespace: r.Namespace, RunNamespace: run.Namespace, RunName: run.Name, RunUID: string(run.UID),
		Service: r.Service, ServiceAccount: r.WorkflowServiceAccount, InstanceID: r.InstanceID,
	}
}

// newTrial is one line of the plan as an object, held until its step of the workflow comes.
func newTrial(run *v1alpha1.BenchmarkRun, p *plan.Plan, line plan.Trial) *v1alpha1.Trial {
	yes := true
	t := &v1alpha1.Trial{
		ObjectMeta: metav1.ObjectMeta{
			Name: line.Name, Namespace: run.Namespace,
			Labels: map[string]string{v1alpha1.LabelRun: run.Name, v1alpha1.LabelRunUID: string(run.UID)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun", Name: run.Name, UID: run.UID,
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: v1alpha1.TrialSpec{
			RunName: run.Name, Index: &line.Index, Block: line.Block, Implementation: p.Implementation(line.Implementation),
			Generators: p.Generators, Cells: p.Cells, Placement: p.Placement, Start: v1alpha1.StartHeld,
		},
	}
	if line.Beside != "" {
		beside := p.Implementation(line.Beside)
		t.Spec.Beside = &beside
	}
	return t
}

// runStatus is the whole status that follows from what a pass has seen. It is the only place that writes conditions.
func runStatus(s *runScope) v1alpha1.BenchmarkRunStatus {
	st := *s.run.Status.DeepCopy()
	if s.ended() {
		return st
	}
	st.ObservedGeneration = &s.run.Generation
	if s.begins {
		st.StartTime = &metav1.Time{Time: s.now}
	}
	if s.scripts != nil {
		st.Scripts = s.scripts
	}
	if s.looked > 0 {
		st.LookedAfterBlock = s.looked
		if s.stopped {
			st.StoppedAfterBlock = s.looked
		}
	}
	if s.reviewed > 0 {
		st.ReviewedBlocks, st.SpoiledBlocks = s.reviewed, s.spoiled
	}
	if s.plan != nil {
		done, all := s.progress()
		st.PlanHash = s.plan.Hash()
		st.Progress = fmt.Sprintf("%d/%d", done, all)
		st.TimeLeft = s.left().String()
	}
	if s.reported != nil {
		st.Report = v1alpha1.ReportRef{URI: s.reported.uri, SHA256: s.reported.html.SHA256}
		st.Verdict = clip(s.reported.text, 512)
	}
	if s.reported != nil || s.end != nil {
		st.CompletionTime = &metav1.Time{Time: s.now}
		st.TimeLeft = ""
	}
	c := conditionSet{list: slices.Clone(st.Conditions), generation: s.run.Generation, now: metav1.Time{Time: s.now}}
	stepConditions(&c, s)
	summaryConditions(&c, s)
	st.Conditions = c.sorted()
	return st
}

// stepConditions states Planned, Executed, Reported and Conclusive.
func stepConditions(c *conditionSet, s *runScope) {
	steps := []struct {
		kind    string
		reached bool
		done    string
	}{
		{v1alpha1.ConditionPlanned, s.plan != nil, ""},
		{v1alpha1.ConditionExecuted, s.executed(), ""},
		{v1alpha1.ConditionReported, s.reported != nil, ""},
	}
	if s.plan != nil {
		steps[0].done = fmt.Sprintf("%d trials of %d cells", len(s.plan.Trials), len(s.plan.Cells))
	}
	pending := false
	for _, step := range steps {
		switch {
		case s.end != nil && s.end.condition == step.kind:
			c.set(step.kind, metav1.ConditionFalse, s.end.reason, s.end.message)
			pending = true
		case step.reached:
			c.set(step.kind, metav1.ConditionTrue, v1alpha1.ReasonDone, step.done)
		case pending:
			c.set(step.kind, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
		default:
			c.set(step.kind, metav1.ConditionUnknown, orElse(s.why, v1alpha1.ReasonInProgress), s.waiting)
			pending = true
		}
	}
	if s.executed() && len(s.failed()) > 0 {
		c.set(v1alpha1.ConditionExecuted, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, trialFailures(s))
	}
	switch {
	case s.reported == nil:
		c.set(v1alpha1.ConditionConclusive, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
	case s.reported.conclusive:
		c.set(v1alpha1.ConditionConclusive, metav1.ConditionTrue, v1alpha1.ReasonDone, s.reported.text)
	default:
		c.set(v1alpha1.ConditionConclusive, metav1.ConditionFalse, s.reported.reason, s.reported.text)
	}
}

// summaryConditions states Succeeded, and kstatus' Reconciling and Stalled, which follow from it.
func summaryConditions(c *conditionSet, s *runScope) {
	status, reason, message := metav1.ConditionUnknown, orElse(s.why, v1alpha1.ReasonInProgress), s.waiting
	switch {
	case s.end != nil:
		status, reason, message = metav1.ConditionFalse, s.end.reason, s.end.message
	case s.reported != nil && len(s.failed()) > 0:
		status, reason, message = metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, trialFailures(s)
	case s.reported != nil && s.reported.unmet != "":
		status, reason, message = metav1.ConditionFalse, s.reported.unmet, s.reported.objectives
	case s.reported != nil:
		status, reason, message = metav1.ConditionTrue, v1alpha1.ReasonDone, s.reported.text
	}
	c.set(v1alpha1.ConditionSucceeded, status, reason, message)
	going, stalled := metav1.ConditionFalse, metav1.ConditionFalse
	switch status {
	case metav1.ConditionUnknown:
		going = metav1.ConditionTrue
	case metav1.ConditionFalse:
		stalled = metav1.ConditionTrue
	case metav1.ConditionTrue: // The run has got where it should.
	}
	c.set(v1alpha1.ConditionReconciling, going, reason, message)
	c.set(v1alpha1.ConditionStalled, stalled, reason, message)
}

// trialFailures says how many trials failed and quotes the first of each implementation.
func trialFailures(s *runScope) string {
	failed := s.failed()
	text := fmt.Sprintf("%d of %d trials failed", len(failed), len(s.trials))
	seen := map[string]bool{}
	for i := range failed {
		t := &failed[i]
		if impl := t.Spec.Implementation.Name; !seen[impl] {
			seen[impl] = true
			_, message := trialOutcome(t)
			text += "; " + message
		}
	}
	return text
}

// trialOutcome is the reason and message of a trial's summary.
func trialOutcome(t *v1alpha1.Trial) (reason, message string) {
	if c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason, c.Message
	}
	return v1alpha1.ReasonPending, "not tried"
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
