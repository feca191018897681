package controllers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/kind/kinds"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/pods"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/steps"
)

// runFacts are what the objects of a run say to whom leads it. Before its spec is compiled only its blocks are known of the plan.
func runFacts(s *runScope) conduct.Run {
	r := conduct.Run{
		Name: s.run.Name, Plan: plan.Plan{Plan: record.Plan{Blocks: plan.BlocksOf(s.run.Spec)}}, Interim: interimFacts(s.run),
		Scan:   conduct.Scan{Blocks: s.run.Status.Repeats.ScannedBlocks, Disturbed: s.run.Status.Repeats.DisturbedBlocks},
		Trials: trialsFacts(s.trials), Now: s.now,
	}
	if s.plan != nil {
		r.Plan = *s.plan
	}
	if s.active() {
		r.Started = s.run.Status.StartTime.Time
	}
	return r
}

func interimFacts(run *v1alpha1.BenchmarkRun) conduct.Interim {
	status := run.Status.Interim
	return conduct.Interim{After: status.AnalysedBlocks, Stopped: status.StoppedAfterBlock, MaxWidth: run.Spec.Stop.MaxWidth}
}

func trialsFacts(list []v1alpha1.Trial) conduct.Trials {
	trials := make(conduct.Trials, len(list))
	for i := range list {
		trials[i] = trialFacts(&list[i])
	}
	return trials
}

func trialFacts(t *v1alpha1.Trial) conduct.Trial {
	f := conduct.Trial{
		PlannedTrial: record.PlannedTrial{Name: t.Name, Index: *t.Spec.Index, Block: t.Spec.Block, Type: record.WorkType(t.Spec.Type), Profile: t.Spec.Profile.Name},
		Work:         workOf(t),
	}
	for _, i := range t.Spec.Servers {
		f.Servers = append(f.Servers, i.Name)
	}
	if t.Status.StartTime != nil {
		f.Started = t.Status.StartTime.Time
	}
	if t.Status.CompletionTime != nil {
		f.Ended = t.Status.CompletionTime.Time
	}
	if t.Status.ManifestKey != "" {
		f.Stored = &record.Artifact{Name: "manifest.json", Key: t.Status.ManifestKey, SHA256: t.Status.ManifestSHA256}
	}
	f.Reason, f.Message = steps.Outcome(t)
	for _, n := range t.Status.Nodes {
		f.Nodes = append(f.Nodes, record.BoundNode{Member: n.Member, Node: n.Node})
	}
	return f
}

// workOf is what a trial does. The phase follow ends a trial that cannot be read, with the error that is left out here.
func workOf(t *v1alpha1.Trial) kind.Work {
	w, _ := kinds.Of(t.Spec)
	return w
}

// viewFacts are what a trial has to know of its run.
func viewFacts(s *trialScope) conduct.View {
	v := conduct.View{Name: s.trial.Spec.RunName, Deleted: s.run == nil || !s.run.DeletionTimestamp.IsZero(), Trials: s.siblings}
	if s.run == nil {
		return v
	}
	v.Blocks, v.Interim = plan.BlocksOf(s.run.Spec), interimFacts(s.run)
	if s.run.Status.CompletionTime != nil {
		v.Ended = endReason(s.run)
	}
	return v
}

// attemptFacts are what is known of the current try at a trial.
func attemptFacts(s *trialScope) conduct.Attempt {
	a := conduct.Attempt{Number: s.attempt, Work: s.work(), Follows: trialFacts(s.trial).Follows(), Begun: s.now, Now: s.now}
	if at := s.trial.Status.AttemptTime; at != nil {
		a.Begun = at.Time
	}
	// What kept pods from being made, or from their nodes, takes nothing from the time in which they have to start.
	if at := pods.Settled(s.pods()); at.After(a.Begun) {
		a.Begun = at
	}
	if at := s.trial.Status.StartTime; at != nil {
		a.Started = at.Time
	}
	if c := meta.FindStatusCondition(s.trial.Status.Conditions, v1alpha1.ConditionMeasured); a.Work.EndsItself() && c != nil && c.Status == metav1.ConditionTrue {
		a.Ended = c.LastTransitionTime.Time
	}
	return a
}

// podFacts are what the pods of the current try at a trial say.
func podFacts(s *trialScope) pods.Attempt {
	return pods.Attempt{Pods: s.pods(), Work: s.work(), Trials: s.siblings, Follows: trialFacts(s.trial).Follows(), Now: s.now}
}
