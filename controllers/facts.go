package controllers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

// runFacts converts the objects of a run for package conduct. Before the spec is compiled, only the blocks of the plan are known.
func runFacts(s *runScope) conduct.Run {
	r := conduct.Run{
		Name: s.run.Name, Plan: plan.Plan{Plan: record.Plan{Blocks: plan.BlocksOf(s.run.Spec)}}, Interim: facts.Interim(s.run),
		Scan: conduct.Scan{Blocks: s.run.Status.Repeats.ScannedBlocks, Disturbed: s.run.Status.Repeats.DisturbedBlocks},
		Kept: facts.TTL(s.run), Now: s.now,
		Waiting: facts.StoreAwaited(s.run, s.absence), Absence: facts.WithoutEngine(s.absence, s.run, s.now),
	}
	if s.plan != nil {
		r.Plan = *s.plan
	}
	if s.scan != nil {
		r.Scan = *s.scan
	}
	r.Trials = facts.Trials(s.trials, r.Plan)
	if s.active() {
		r.Started = s.run.Status.StartTime.Time
	}
	return r
}

func viewFacts(s *trialScope) conduct.View {
	v := conduct.View{Name: s.trial.Spec.RunName, Deleted: s.run == nil || !s.run.DeletionTimestamp.IsZero(), Trials: s.siblings}
	if s.run == nil {
		return v
	}
	v.Blocks, v.Interim = plan.BlocksOf(s.run.Spec), facts.Interim(s.run)
	v.Baseline = plan.BaselineOf(s.run.Spec)
	v.Ended = facts.EndReason(s.run)
	return v
}

func attemptFacts(s *trialScope) conduct.Attempt {
	a := s.planned().Attempt(s.attempt, s.now)
	a.Patience, a.Renewed = facts.Patience(s.run), s.attempt-1-int32(len(s.trial.Status.Failures))
	if at := s.trial.Status.AttemptTime; at != nil {
		a.Begun = at.Time
	}
	// Delays in creating or scheduling pods do not count against their time to start.
	if at := pods.Settled(s.pods()); at.After(a.Begun) {
		a.Begun = at
	}
	if c := meta.FindStatusCondition(s.trial.Status.Conditions, v1alpha1.ConditionMeasured); a.Work.EndsItself() && c != nil && c.Status == metav1.ConditionTrue {
		a.Ended = c.LastTransitionTime.Time
	}
	return a
}

func podFacts(s *trialScope) pods.Attempt {
	return pods.Attempt{Pods: s.pods(), Work: s.work(), Trials: s.siblings, Follows: s.planned().Follows(), Patience: facts.Patience(s.run), Unmounted: s.unmounted, Now: s.now}
}
