package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

// runScope is what one pass over a run knows. The gatherer fills the first group; phases fill the second.
type runScope struct {
	run    *v1alpha1.BenchmarkRun
	trials []v1alpha1.Trial
	// workflow is nil when there is none.
	workflow *unstructured.Unstructured
	// absence is the time in which nobody led the run, without that in which it has waited for Argo since its last pass.
	absence conduct.Absence
	now     time.Time

	// plan is nil until the spec has been compiled.
	plan *plan.Plan
	// begins is true in the pass in which the run's turn has come.
	begins bool
	// waiting says in a sentence what the run waits for, and why is its reason.
	waiting, why string
	// frozen is set when the users' scripts and bodies have been stored, and ConfigMaps looked at: it says what the status says of them.
	frozen *v1alpha1.BenchmarkRunStatus
	// interim is set when this pass has made an interim analysis.
	interim *conduct.Interim
	// scan is set when this pass has scanned for disturbed cells.
	scan *conduct.Scan
	// reported is set when the report is stored.
	reported *reported
	// end is set when the run is over before it was measured and reported as planned, and over while such an end waits for its report.
	end, over *conduct.Ending
}

// reported is a stored report and what it says.
type reported struct {
	html, manifest record.Artifact
	uri            string
	conduct.Verdict
}

// unreported ends the run without a report. Why it ended before keeps the first word.
func (s *runScope) unreported(end *conduct.Ending) {
	if s.end != nil {
		s.end.Message += "; what was measured could not be reported: " + end.Message
		return
	}
	s.end = end
}

// verdict is what the stored report says; nil if there is none.
func (s *runScope) verdict() *conduct.Verdict {
	if s.reported == nil {
		return nil
	}
	return &s.reported.Verdict
}

// Hindered implements pass.Scope. An operator that fails at a run before its turn would do so for ever, and let no other run come first; after
// that, the run's time is over one day.
func (s *runScope) Hindered(err error) {
	s.waiting = err.Error()
	if errors.Is(err, util.ErrPanic) && !s.ended() && (s.plan == nil || !s.active()) {
		s.end = conduct.NotLed(err)
	}
}

// States implements pass.Scope.
func (s *runScope) States() (before, after *v1alpha1.BenchmarkRun) {
	after = s.run.DeepCopy()
	after.Status = runStatus(s)
	return s.run, after
}

// refuse ends a run that cannot be planned, and passes on what is no violation.
func (s *runScope) refuse(err error) (reconciler.Step, error) {
	var v *plan.Violation
	if !errors.As(err, &v) {
		return reconciler.Halt, fmt.Errorf("reading what the spec asks for: %w", err)
	}
	s.end = conduct.Refused(v)
	return reconciler.Halt, nil
}

// noRoom waits for nodes that are away and may come back. A run for which there would be no room with them either is refused after its patience: nodes
// may be gone for as long as they are replaced.
func (s *runScope) noRoom(v *plan.Violation, awaited string) (reconciler.Step, error) {
	patience := facts.Patience(s.run)
	switch {
	case awaited != "":
	case facts.Impatient(s.run, s.absence, v.Reason, s.now):
		return s.refuse(v)
	default:
		awaited = fmt.Sprintf("waiting for up to %s (spec.patienceSeconds) for nodes with room", patience)
	}
	s.why, s.waiting = v.Reason, awaited+": "+v.Message
	return reconciler.Again(min(retryNodes, patience)), nil
}

func (s *runScope) ended() bool { return s.run.Status.CompletionTime != nil }

// active reports whether the run's turn has come.
func (s *runScope) active() bool { return s.run.Status.StartTime != nil }

// executed reports whether every trial that is needed has ended.
func (s *runScope) executed() bool { return s.plan != nil && runFacts(s).Executed() }

// record is what the run's manifest says beside how the run was led.
func (s *runScope) record(version string) conduct.RunRecord {
	return conduct.RunRecord{
		Run: facts.Run(s.run), Spec: s.run.Spec, Scripts: inputs.Record(s.run.Status.Scripts, s.prefix()), ConfigMaps: inputs.RecordDigests(s.run.Status.ConfigMaps),
		Bodies: inputs.RecordBodies(s.run.Status.Bodies, s.prefix()), Ending: s.end, Operator: version,
	}
}

// runFacts are what the objects of a run say to whom leads it. Before its spec is compiled only its blocks are known of the plan.
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

// viewFacts are what a trial has to know of its run.
func viewFacts(s *trialScope) conduct.View {
	v := conduct.View{Name: s.trial.Spec.RunName, Deleted: s.run == nil || !s.run.DeletionTimestamp.IsZero(), Trials: s.siblings}
	if s.run == nil {
		return v
	}
	v.Blocks, v.Interim = plan.BlocksOf(s.run.Spec), facts.Interim(s.run)
	v.Ended = facts.EndReason(s.run)
	return v
}

// attemptFacts are what is known of the current try at a trial.
func attemptFacts(s *trialScope) conduct.Attempt {
	a := s.planned().Attempt(s.attempt, s.now)
	a.Patience, a.Renewed = facts.Patience(s.run), s.attempt-1-int32(len(s.trial.Status.Failures))
	if at := s.trial.Status.AttemptTime; at != nil {
		a.Begun = at.Time
	}
	// What kept pods from being made, or from their nodes, takes nothing from the time in which they have to start.
	if at := pods.Settled(s.pods()); at.After(a.Begun) {
		a.Begun = at
	}
	if c := meta.FindStatusCondition(s.trial.Status.Conditions, v1alpha1.ConditionMeasured); a.Work.EndsItself() && c != nil && c.Status == metav1.ConditionTrue {
		a.Ended = c.LastTransitionTime.Time
	}
	return a
}

// podFacts are what the pods of the current try at a trial say.
func podFacts(s *trialScope) pods.Attempt {
	return pods.Attempt{Pods: s.pods(), Work: s.work(), Trials: s.siblings, Follows: s.planned().Follows(), Patience: facts.Patience(s.run), Unmounted: s.unmounted, Now: s.now}
}

// confineRun keeps the pods of a run to themselves, and whom the rules name. No rules confine nobody.
func confineRun(ctx context.Context, c client.Writer, run *v1alpha1.BenchmarkRun, rules *networkingv1.NetworkPolicySpec) error {
	if rules == nil {
		return nil
	}
	policy := render.NetworkPolicy(run, *rules)
	if err := c.Create(ctx, policy); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating NetworkPolicy %s: %w", policy.Name, err)
	}
	return nil
}

// releaseRun removes what confineRun has made for a run.
func releaseRun(ctx context.Context, c client.Writer, run *v1alpha1.BenchmarkRun, rules *networkingv1.NetworkPolicySpec) error {
	if rules == nil {
		return nil // Where no policies are made, the operator may not remove any.
	}
	remove := func() error {
		return c.DeleteAllOf(ctx, &networkingv1.NetworkPolicy{}, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)})
	}
	if err := reconciler.Insist(remove); err != nil {
		return fmt.Errorf("deleting NetworkPolicy: %w", err)
	}
	return nil
}
