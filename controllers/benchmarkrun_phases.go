package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// Deadlines that only a cluster has; package conduct has the others.
const (
	retryStore = 2 * time.Second
	// retryReport is long, because a report's I/O would disturb a measuring run.
	retryReport = 10 * time.Second
	// retryTurn is how often a run looks whether the analysis of another has ended.
	retryTurn = 5 * time.Second
	// passDeadline bounds a pass over a run: passes of other runs wait for it. A slow store counts as unavailable.
	passDeadline = 30 * time.Second
	retryNodes   = 15 * time.Second
)

// phases run in order, and each may end the pass: first the cluster's own steps up to the run's turn, then what package conduct decides.
func (r *BenchmarkRunReconciler) phases() []reconciler.Phase[*runScope] {
	return []reconciler.Phase[*runScope]{reconciler.Within(passDeadline, r.hold, r.stop, r.compile, r.finish, r.awaitTurn, r.lead)}
}

// lead does the next step of a run in its turn. conduct.Run.Next decides the order, here and on one machine.
func (r *BenchmarkRunReconciler) lead(ctx context.Context, s *runScope) (reconciler.Step, error) {
	switch next := runFacts(s).Next(); next.Act {
	case conduct.ActBegin:
		return r.begin(ctx, s, next.Trials)
	case conduct.ActMeasure:
		return r.followWorkflow(ctx, s)
	case conduct.ActAnalyse:
		return r.analyse(ctx, s, next.Block)
	case conduct.ActScan:
		return r.scan(ctx, s)
	case conduct.ActReport:
		return r.report(ctx, s)
	case conduct.ActEnd:
		s.end = next.Ending
		s.end.Message += ", or find the slow trials with kubectl get trials.loadstone.dev"
		return r.conclude(ctx, s)
	default:
		return reconciler.Halt, fmt.Errorf("unknown step %d from package conduct", next.Act)
	}
}

// hold adds the finalizer before anything is created that would outlive the run.
func (r *BenchmarkRunReconciler) hold(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if s.ended() || controllerutil.ContainsFinalizer(s.run, v1alpha1.Finalizer) {
		return reconciler.GoOn, nil
	}
	before := s.run.DeepCopy()
	controllerutil.AddFinalizer(s.run, v1alpha1.Finalizer)
	status := s.run.Status
	if err := r.Patch(ctx, s.run, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconciler.Halt, fmt.Errorf("adding finalizer: %w", err)
	}
	s.run.Status = status
	return reconciler.GoOn, nil
}

// compile compiles the spec into a plan and, before the run starts, checks that nodes and operator have enough resources.
func (r *BenchmarkRunReconciler) compile(ctx context.Context, s *runScope) (reconciler.Step, error) {
	p, err := r.plans.of(ctx, r.Store, s.run)
	v := (*plan.Violation)(nil)
	switch refused := errors.As(err, &v); {
	case refused && len(s.trials) > 0:
		return r.outgrown(ctx, s, v)
	case refused:
		return s.refuse(err)
	case err != nil:
		return s.awaitPlan(err)
	}
	if !s.active() && !queue.Suspended(s.run) {
		nodes, err := readNodes(ctx, r.Client)
		if err != nil {
			return reconciler.Halt, err
		}
		nodes = plan.Select(nodes, render.Settings(r.Pods, s.run.Spec.Placement.Pods).NodeSelector)
		if v := plan.Fits(p, nodes); v != nil {
			return s.noRoom(v, plan.Awaits(p, nodes))
		}
		if v := plan.Reportable(p, nil, r.Memory); v != nil {
			return s.refuse(v)
		}
	}
	s.plan = &p
	return reconciler.GoOn, nil
}

// outgrown ends a run whose spec this operator version refuses, with the stored plan.
func (r *BenchmarkRunReconciler) outgrown(ctx context.Context, s *runScope, v *plan.Violation) (reconciler.Step, error) {
	over := cmp.Or(facts.Over(s.run), conduct.Outgrown(v))
	p, err := publish.Plan(ctx, r.Store, s.prefix(), s.run.Status.PlanHash)
	if err != nil {
		return s.withoutPlan(over, err)
	}
	s.plan, s.end = &p, over
	return r.conclude(ctx, s)
}

// awaitPlan waits for the stored plan of another version, and ends the run if that plan is damaged. Meanwhile the timeout of this version's
// plan applies: at its end the trials end and the next run can start.
func (s *runScope) awaitPlan(err error) (reconciler.Step, error) {
	compiled, refused := facts.Plan(s.run)
	if refused != nil {
		return reconciler.Halt, refused
	}
	run := runFacts(s)
	run.Plan.TimeoutSeconds = compiled.TimeoutSeconds
	over := facts.Over(s.run)
	switch measured := !queue.HoldsUp(s.run); {
	case over != nil || measured:
	case artifact.Unreadable(err):
		over = conduct.PlanDamaged()
	default:
		over = run.Overran()
	}
	return s.withoutPlan(over, err)
}

// withoutPlan waits for the stored plan, or ends the run without a report. over is why the run measures nothing more; nil if it may.
func (s *runScope) withoutPlan(over *conduct.Ending, err error) (reconciler.Step, error) {
	end := runFacts(s).NotReported(err, artifact.Unreadable(err))
	if end == nil {
		s.over = over
		return s.awaitStore(err)
	}
	s.end = over
	s.unreported(end)
	return reconciler.Halt, nil
}

// awaitTurn lets one run of the installation measure at a time. It reads from the API server, because the cache may not show that another run
// started.
func (r *BenchmarkRunReconciler) awaitTurn(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if s.active() {
		return reconciler.GoOn, nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := r.Live.List(ctx, &runs); err != nil {
		return reconciler.Halt, fmt.Errorf("listing BenchmarkRuns: %w", err)
	}
	if wait := queue.Await(runs.Items, s.run, s.absence.Until, s.now); wait != nil {
		s.why, s.waiting = wait.Reason, wait.Message
		return reconciler.Step{Stop: true, After: wait.Again}, nil
	}
	if err := publish.PutPlan(ctx, r.Store, s.prefix(), *s.plan); err != nil && !s.forGood(err) {
		return s.awaitStore(err) // The time of a run does not begin while there is no store.
	}
	earlier, err := publish.EarlierSizes(ctx, r.Store, s.run.Namespace, *s.plan)
	switch v := plan.Reportable(*s.plan, earlier, r.Memory); {
	case err != nil && !s.forGood(err):
		return s.awaitStore(err)
	case v != nil:
		return s.refuse(v)
	}
	s.begins = true
	return reconciler.Halt, nil
}

// begin creates the needed trials. Before the first one it stores the plan and the users' inputs.
func (r *BenchmarkRunReconciler) begin(ctx context.Context, s *runScope, lines []record.PlannedTrial) (reconciler.Step, error) {
	for _, prepare := range []reconciler.Phase[*runScope]{r.storePlan, r.freeze} {
		if step, err := prepare(ctx, s); step.Stop || err != nil {
			return step, err
		}
	}
	return r.createTrials(ctx, s, lines)
}

// storePlan writes the plan, which also checks that the store is writable before anything starts. A plan stored by another version stays: this
// version may encode the same plan differently.
func (r *BenchmarkRunReconciler) storePlan(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if len(s.trials) > 0 {
		return reconciler.GoOn, nil
	}
	err := publish.PutPlan(ctx, r.Store, s.prefix(), *s.plan)
	if err != nil && (!errors.Is(err, artifact.ErrExists) || !begunByAnother(s.run, *s.plan)) {
		return r.storeAway(s, err)
	}
	return reconciler.GoOn, nil
}

// storeAway waits for an unavailable store until the run's timeout, but not for one that refuses.
func (r *BenchmarkRunReconciler) storeAway(s *runScope, err error) (reconciler.Step, error) {
	if artifact.Terminal(err) {
		s.end = conduct.NotStored(err)
		return reconciler.Halt, nil
	}
	return s.awaitStore(err)
}

// freeze stores the users' scripts and bodies at the start of the run; generators get the stored copies. It records the digests of the
// implementations' ConfigMaps, unless an earlier version started the run without them.
func (r *BenchmarkRunReconciler) freeze(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if inputs.Frozen(s.run) && (inputs.Noted(s.run.Status.ConfigMaps, s.plan.Implementations) || len(s.trials) > 0) {
		return reconciler.GoOn, nil
	}
	digests, err := inputs.Digests(ctx, r.Live, s.run.Namespace, s.plan.Implementations)
	var texts inputs.Texts
	if err == nil {
		texts, err = inputs.Read(ctx, r.Live, s.run)
	}
	if s.waiting = inputs.Awaited(err, s.now.Sub(s.run.Status.StartTime.Time)); s.waiting != "" {
		s.why = v1alpha1.ReasonObjectMissing
		return reconciler.Again(time.Second), nil
	} else if err != nil {
		return s.refuse(err)
	}
	frozen := v1alpha1.BenchmarkRunStatus{ConfigMaps: digests}
	if frozen.Scripts, frozen.Bodies, err = texts.Freeze(ctx, r.Store, s.prefix()); err != nil {
		return r.storeAway(s, err)
	}
	s.frozen = &frozen
	return reconciler.Halt, nil
}

// createTrials creates the needed trials, held, after the run's NetworkPolicy. The first one is prepared while the workflow starts.
func (r *BenchmarkRunReconciler) createTrials(ctx context.Context, s *runScope, lines []record.PlannedTrial) (reconciler.Step, error) {
	if err := confineRun(ctx, r.Client, s.run, r.Network); err != nil {
		return reconciler.Halt, err
	}
	for i, line := range lines {
		t := render.Trial(s.run, line)
		if err := r.Create(ctx, t); err != nil && !apierrors.IsAlreadyExists(err) {
			return reconciler.Halt, fmt.Errorf("creating Trial %s: %w", line.Name, err)
		}
		if i == 0 {
			// The workflow's agent pod starts while the remaining trials are written.
			if err := r.makeWorkflow(ctx, s, s.plan.PartOf(line)); err != nil {
				return reconciler.Halt, err
			}
		}
	}
	return reconciler.Again(argo.AnswerPatience), nil
}

func (r *BenchmarkRunReconciler) makeWorkflow(ctx context.Context, s *runScope, part plan.Part) (err error) {
	s.workflow, err = r.engine().Make(ctx, s.run, *s.plan, part)
	return err
}

// followWorkflow keeps a working workflow. A deleted one is created again: its steps for finished trials are answered at once.
func (r *BenchmarkRunReconciler) followWorkflow(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if s.workflow == nil {
		if err := r.makeWorkflow(ctx, s, runFacts(s).Part()); err != nil {
			return reconciler.Halt, err
		}
	}
	phase, message := argo.Phase(s.workflow)
	switch {
	case argo.Ended(s.workflow) && argo.Stopped(s.workflow):
		s.end = conduct.ShutDown(fmt.Sprintf("workflow %s was shut down (%s) before its trials had ended: %s", s.workflow.GetName(), phase, message))
		return r.conclude(ctx, s)
	case argo.Ended(s.workflow):
		return r.replaceWorkflow(ctx, s, fmt.Sprintf("it ended (%s) before its trials did: %s", phase, message))
	}
	owed := facts.Release(s.trials, *s.plan)
	if owed.Remade.After(s.workflow.GetCreationTimestamp().Time) {
		return r.replaceWorkflow(ctx, s, "trial "+owed.Trial+" was deleted, and created again after its step")
	}
	stands, err := r.engine().Follow(ctx, s.workflow, owed, s.absence.Until, s.now)
	if err != nil {
		return reconciler.Halt, err
	}
	if s.why, s.waiting = stands.Why, stands.Waiting; s.waiting == "" {
		s.why, s.waiting = facts.HeldUp(s.trials, s.run.Status.StartTime.Time, s.now)
	}
	if s.why == v1alpha1.ReasonUnschedulable && facts.Impatient(s.run, s.absence, s.why, s.now) {
		if s.end, err = giveWay(ctx, r.Client, r.Live, s.run, runFacts(s).Trials, r.Pods); err != nil {
			return reconciler.Halt, err
		} else if s.end != nil {
			return r.conclude(ctx, s)
		}
	}
	return reconciler.Again(min(runFacts(s).Deadline().Sub(s.now)+time.Second, argo.AnswerPatience)), nil
}

// replaceWorkflow replaces a workflow that releases no more trials, for example after its retries were used up during an outage. A workflow
// only orders trials, so no trial is lost.
func (r *BenchmarkRunReconciler) replaceWorkflow(ctx context.Context, s *runScope, because string) (reconciler.Step, error) {
	s.why = v1alpha1.ReasonWorkflowFailed
	s.waiting = fmt.Sprintf("another workflow replaces %s: %s", s.workflow.GetName(), because)
	if left := argo.AnswerPatience - s.now.Sub(s.workflow.GetCreationTimestamp().Time); left > 0 {
		return reconciler.Again(left), nil // One that fails at once is not made again at once.
	}
	if err := r.engine().Remove(ctx, s.workflow); err != nil {
		return reconciler.Halt, err
	}
	return reconciler.Again(time.Second), nil
}

// report writes the run's manifest, reads everything back, and creates the report only from that.
func (r *BenchmarkRunReconciler) report(ctx context.Context, s *runScope) (reconciler.Step, error) {
	made, err := r.makeReport(ctx, s)
	if err == nil {
		s.reported = made
		return reconciler.Halt, nil
	}
	// Wait for users to correct a refusal, as in an outage: everything is measured, and no other run waits.
	forGood := artifact.Terminal(err) && !artifact.Mendable(err) || errors.Is(err, publish.ErrReport) || errors.Is(err, ErrTooMany)
	step := s.analyzing(err)
	if end := runFacts(s).NotReported(err, forGood); end != nil && !step.Stop {
		s.unreported(end)
		return reconciler.Halt, nil
	}
	s.over, s.end = s.end, nil // It measures no more, and ends when the artifacts are stored.
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return reconciler.Halt, err // The API server is in trouble, and not the store.
	}
	if step.Stop {
		return step, nil
	}
	s.waitForStore(err)
	return reconciler.Again(retryReport), nil
}

// finish continues an early end that an earlier pass recorded.
func (r *BenchmarkRunReconciler) finish(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if s.end = facts.Over(s.run); s.end == nil {
		return reconciler.GoOn, nil
	}
	return r.conclude(ctx, s)
}

// conclude ends a run early, with a report of its measurements.
func (r *BenchmarkRunReconciler) conclude(ctx context.Context, s *runScope) (reconciler.Step, error) {
	if !runFacts(s).Partial() {
		return reconciler.Halt, nil
	}
	return r.report(ctx, s)
}

func (r *BenchmarkRunReconciler) makeReport(ctx context.Context, s *runScope) (*reported, error) {
	manifest, err := publish.Once(ctx, r.Store, artifact.ManifestKey(s.prefix()), runFacts(s).Manifest(s.record(r.Version)))
	if err != nil {
		return nil, err
	}
	made, err := r.analysis(ctx, s, publish.Task{Act: publish.ActReport, Prefix: s.prefix(), SHA256: manifest.SHA256})
	if err != nil {
		return nil, err
	}
	return &reported{html: made.Page, manifest: manifest, uri: r.Store.URI(made.Page.Key), Verdict: made.Verdict}, nil
}
