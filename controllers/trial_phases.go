package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// pollEvery is how often agents are asked while pods start and files are stored, because no event reports that.
	pollEvery = 40 * time.Millisecond
	// retryPods is how often pods are checked where no event reports a change.
	retryPods = 5 * time.Second
	// addressLife is the validity of presigned URLs: a store command takes at most two minutes.
	addressLife = 5 * time.Minute
)

func (r *TrialReconciler) phases() []reconciler.Phase[*trialScope] {
	return []reconciler.Phase[*trialScope]{
		r.follow, r.awaitTurn, r.awaitRoom, r.awaitStore, r.ensurePods, r.examinePods,
		r.askAgents, r.prepare, r.awaitRelease, r.start, r.awaitEnd, r.store, r.writeManifest,
	}
}

// follow ends a trial if its run ended, its implementation already failed, or it is not in the plan (for example after an upgrade). While the
// plan cannot be read, the end of the run is the deadline.
func (r *TrialReconciler) follow(_ context.Context, s *trialScope) (reconciler.Step, error) {
	if s.fault = viewFacts(s).GiveUp(s.planned()); s.fault != nil {
		return reconciler.Halt, nil
	}
	if s.awaitsPlan() {
		s.await(fmt.Sprintf("the plan of BenchmarkRun %s cannot be read: %s", s.run.Name, s.unplanned))
		return reconciler.Again(retryStore), nil
	}
	if _, err := facts.Line(s.trial, s.plan); err != nil {
		s.fault = conduct.NotPlanned(cmp.Or(s.unplanned, err))
		return reconciler.Halt, nil
	}
	return reconciler.GoOn, nil
}

// awaitTurn prepares the trials of a run one after the other.
func (r *TrialReconciler) awaitTurn(_ context.Context, s *trialScope) (reconciler.Step, error) {
	if s.waiting = viewFacts(s).Awaits(s.planned()); s.waiting != "" {
		return reconciler.Halt, nil
	}
	return reconciler.GoOn, nil
}

// awaitRoom waits until no other measured pod exists: two would disturb each other, and CPUs are free only after the pod object is gone.
func (r *TrialReconciler) awaitRoom(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	if len(s.others) == 0 {
		s.turn = true
		return reconciler.GoOn, nil
	}
	s.waiting = fmt.Sprintf("waiting for the pods of trial %s/%s to release their CPUs", s.others[0].Namespace, s.others[0].Labels[v1alpha1.LabelTrial])
	return reconciler.Again(retryPods), deletePods(ctx, r.Client, s.stalePods())
}

// awaitStore waits for an unavailable or unwritable store before the trial starts. It writes a small object, because a full or read-only store
// still answers reads.
func (r *TrialReconciler) awaitStore(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	if len(s.pods()) > 0 || s.trial.Status.StartTime != nil {
		return reconciler.GoOn, nil
	}
	m, stored, err := publish.TrialIn(ctx, r.Store, s.runPrefix(), s.trial.Name, s.attempt, plan.Attempts)
	if err == nil {
		// It was measured, then deleted and created again by its run. If the store cannot tell, it is measured again.
		s.manifest, s.startTime, s.measuredOn = &stored, &m.Start, facts.MeasuredOn(m)
		return reconciler.Halt, nil
	}
	if !artifact.Unreadable(err) && !errors.Is(err, artifact.ErrDenied) {
		s.await(err.Error())
		return reconciler.Again(retryStore), nil
	}
	text := fmt.Appendf(nil, "attempt %d of trial %s starts\n", s.attempt, s.trial.Name)
	if _, err := r.Store.Put(ctx, artifact.BegunKey(s.prefix()), "text/plain", text); err != nil {
		s.await(err.Error())
		return reconciler.Again(retryStore), nil
	}
	return reconciler.GoOn, nil
}

// ensurePods creates all pods of the attempt at once.
func (r *TrialReconciler) ensurePods(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	if len(s.pods()) == len(s.members) {
		return reconciler.GoOn, nil
	}
	if step, err := r.lost(ctx, s); step.Stop || err != nil {
		return step, err
	}
	if err := r.readBodies(ctx, s); err != nil {
		return inputsAway(s, err)
	}
	var err error
	if s.fault, err = inputs.Changed(ctx, r.Live, s.run, s.plan.Implementations, s.work().Servers()); s.fault != nil || err != nil {
		return reconciler.Halt, err
	}
	settings := render.Settings(r.Pods, s.run.Spec.Placement.Pods)
	opts := render.PodOptions{
		AgentImage: r.AgentImage, ToolboxImage: r.ToolboxImage, PullSecrets: r.PullSecrets, Key: r.publicKey(), RunUID: string(s.run.UID), Attempt: s.attempt, Nodes: plan.Select(s.nodes, settings.NodeSelector),
		Bound: s.siblings.Bound(s.planned().Follows()), LargestServer: plan.LargestServer(s.plan), Patience: facts.Patience(s.run), Pods: settings,
	}
	for _, m := range s.members {
		if m.pod != nil {
			continue
		}
		pod := render.Pod(s.trial, m.Member, timetable.End(s.work().Slots()), opts)
		if err := r.Create(ctx, pod); err != nil {
			return r.refused(ctx, s, pod, err)
		}
		m.pod = pod
	}
	return reconciler.GoOn, nil
}

// lost ends an attempt after the deletion of a pod that agents used: after the start, while a failure is suspected, or after a generator's
// check. The implementation must not be blamed for the consequences, and a new pod would hide the cause.
func (r *TrialReconciler) lost(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	used := s.trial.Status.StartTime != nil || s.trial.Status.SuspectSince != nil
	for _, g := range s.generators() {
		if used || g.pod == nil || !pods.Running(g.pod, s.work().EndsItself()) {
			continue
		}
		state, err := r.askAgent(ctx, s, g.pod)
		if err != nil {
			return silent(s, g.pod, err)
		}
		used = state.Checked != nil
	}
	if !used {
		return reconciler.GoOn, nil
	}
	gone := s.members[slices.IndexFunc(s.members, func(m *member) bool { return m.pod == nil })]
	s.fault = conduct.TransientFailure(v1alpha1.ReasonPodLost, "another client deleted pod %s", render.PodName(s.trial.Name, s.attempt, gone.Name))
	return reconciler.Halt, nil
}

func (r *TrialReconciler) refused(ctx context.Context, s *trialScope, pod *corev1.Pod, err error) (reconciler.Step, error) {
	switch {
	case apierrors.IsAlreadyExists(err):
		// Either the cache lacks our pod, whose event will come, or it is another object, such as a pod of an earlier trial that is not deleted.
		s.waiting = fmt.Sprintf("a pod named %s exists already", pod.Name)
		taken, err := takenName(ctx, r.Live, pod)
		s.fault = attemptFacts(s).NameTaken("pod "+pod.Name, taken)
		return reconciler.Again(retryPods), err
	case reconciler.OverQuota(err):
		s.await(fmt.Sprintf("the API server refuses pod %s until a quota has room: %s", pod.Name, err))
		return reconciler.Again(retryPods), nil
	case reconciler.Terminating(err):
		s.fault = conduct.PermanentFailure(v1alpha1.ReasonPodRejected, "namespace %s is being deleted: create the run in another namespace", pod.Namespace)
		return reconciler.Halt, nil
	case (reconciler.Denied(err) || reconciler.Forbidden(err)) && s.now.Before(attemptFacts(s).Begun.Add(facts.Patience(s.run))):
		s.await(fmt.Sprintf("pod %s is denied admission, for up to %s (spec.patienceSeconds): %s", pod.Name, facts.Patience(s.run), err))
		return reconciler.Again(retryPods), nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		s.fault = conduct.PermanentFailure(v1alpha1.ReasonPodRejected, "the API server rejected pod %s: %s", pod.Name, err)
		return reconciler.Halt, nil
	}
	return reconciler.Halt, fmt.Errorf("creating pod %s: %w", pod.Name, err)
}

// renew gives up the pods of an attempt that waited too long for its step. New pods are created when the step comes, which may take days.
func (s *trialScope) renew(p *corev1.Pod) (reconciler.Step, error) {
	if s.trial.Spec.Start == v1alpha1.StartReleased {
		s.fault = conduct.Outwaited("pod " + p.Name)
		return reconciler.Halt, nil
	}
	s.waiting = "waiting for the workflow to reach this trial: its pods are recreated then"
	return reconciler.Halt, nil
}

// examinePods turns pod states into a fault, or waits until all pods run: either all generators start, or none.
func (r *TrialReconciler) examinePods(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	var err error
	if s.unmounted, err = failedMounts(ctx, r.Live, podFacts(s).AwaitFiles()); err != nil {
		return reconciler.Halt, err
	}
	seen := podFacts(s)
	if p := seen.Expired(attemptFacts(s).Needs()); p != nil && s.trial.Status.StartTime == nil {
		return s.renew(p)
	}
	if s.fault = seen.Fault(); s.fault != nil {
		return reconciler.Halt, nil
	}
	if !slices.ContainsFunc(seen.Pods, func(p *corev1.Pod) bool { return !pods.Running(p, s.work().EndsItself()) }) {
		return reconciler.GoOn, nil
	}
	left, awaited := attemptFacts(s).PrepareLeft(), cmp.Or(seen.AwaitedNode(), seen.Awaited())
	if left <= 0 && awaited == "" {
		s.fault = conduct.TransientFailure(v1alpha1.ReasonPodLost, "the trial's pods were not running within %s: see kubectl describe pods -l %s=%s", attemptFacts(s).PrepareLimit(), v1alpha1.LabelTrial, s.trial.Name)
		return reconciler.Halt, nil
	}
	if s.waiting = cmp.Or(awaited, seen.Starting()); seen.Awaited() != "" {
		s.await(s.waiting)
	}
	if left <= 0 {
		left = retryPods
	}
	return reconciler.Again(min(left, retryPods)), nil
}

func (s *trialScope) planned() conduct.Trial { return facts.Trial(s.trial, s.plan) }

func (s *trialScope) work() kind.Work { return s.planned().Work }

// servers are the measured members: one, or two in a duet.
func (s *trialScope) servers() []*member {
	return slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return !record.IsServer(m.Name) })
}

func (s *trialScope) targets() []string {
	var targets []string
	for i, m := range s.servers() {
		targets = append(targets, net.JoinHostPort(m.pod.Status.PodIP, strconv.Itoa(int(s.work().Servers()[i].Port))))
	}
	return targets
}

// serverCPU is the CPU that both servers of a duet share; nil outside a duet or if they share none.
func (s *trialScope) serverCPU() *int32 {
	servers := s.servers()
	if len(servers) < 2 {
		return nil
	}
	var neighbours []string
	for _, g := range s.generators() {
		if g.pod.Spec.NodeName == servers[0].pod.Spec.NodeName {
			neighbours = append(neighbours, g.state.CPUsAllowed)
		}
	}
	return conduct.SharedCPU(servers[0].state.CPUsAllowed, servers[1].state.CPUsAllowed, neighbours)
}

// noSharedCPU fails a duet whose servers share no CPU. A retry would not help.
func noSharedCPU(s *trialScope) *conduct.Failure {
	servers := s.servers()
	return conduct.PermanentFailure(v1alpha1.ReasonUnschedulable, "the servers of a duet must share a CPU, but pods %s and %s have CPUs %q of %s and %q of %s: use one shared CPU pool, or spec.order Blocks",
		servers[0].pod.Name, servers[1].pod.Name, servers[0].state.CPUsAllowed, servers[0].pod.Spec.NodeName, servers[1].state.CPUsAllowed, servers[1].pod.Spec.NodeName)
}
