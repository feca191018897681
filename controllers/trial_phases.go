package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/render"
)

// Deadlines of a trial. Each is reckoned from an instant that the cluster or the status holds.
const (
	// pollEvery is how often agents are asked while pods start and files are stored; nothing tells us of their progress.
	pollEvery = 40 * time.Millisecond
	// startLead is the time between writing down the start and the first request: enough to tell all agents.
	startLead = 250 * time.Millisecond
	// prepareDeadline bounds the time from an attempt's begin until its pods run and its agents answer.
	prepareDeadline = 3 * time.Minute
	// listenDeadline bounds the time from the start of the server's container until its port accepts connections.
	listenDeadline = 30 * time.Second
	// pullDeadline is how long an image pull may fail before it counts as impossible.
	pullDeadline = 20 * time.Second
	// scheduleDeadline is how long a pod may find no node.
	scheduleDeadline = 45 * time.Second
	// agentGrace is how long after the last cell an agent may still be busy or silent.
	agentGrace = 30 * time.Second
	// storeDeadline bounds the time from the last cell until everything is stored.
	storeDeadline = 10 * time.Minute
	// addressLife is how long a signed address is good for: a store order takes at most two minutes.
	addressLife = 5 * time.Minute
)

// step is how a phase ends: stop ends the pass, after asks for another one (0: when something changes).
type step struct {
	stop  bool
	after time.Duration
}

var (
	goOn = step{}
	halt = step{stop: true}
)

func again(after time.Duration) step { return step{stop: true, after: max(after, time.Millisecond)} }

// phases are the steps of a trial in their order. Each looks at the world anew, so that a pass can begin anywhere.
func (r *TrialReconciler) phases() []func(context.Context, *trialScope) (step, error) {
	return []func(context.Context, *trialScope) (step, error){
		r.cleanUp, r.follow, r.awaitTurn, r.awaitRoom, r.ensurePods, r.examinePods,
		r.askAgents, r.awaitListening, r.check, r.awaitRelease, r.start, r.awaitEnd, r.store, r.writeManifest,
	}
}

// cleanUp removes the pods of a trial that has ended.
func (r *TrialReconciler) cleanUp(ctx context.Context, s *trialScope) (step, error) {
	if !s.ended() {
		return goOn, nil
	}
	return halt, r.deletePods(ctx, append(s.pods(), s.stalePods()...))
}

// follow ends a trial whose run is over, or whose implementation has already shown that it cannot be measured.
func (r *TrialReconciler) follow(_ context.Context, s *trialScope) (step, error) {
	switch {
	case s.run == nil || !s.run.DeletionTimestamp.IsZero():
		s.fault = ownFault(v1alpha1.ReasonDeleted, "the BenchmarkRun %s is being deleted", s.trial.Spec.RunName)
	case s.run.Status.StoppedAfterBlock > 0 && s.trial.Spec.Block > s.run.Status.StoppedAfterBlock && s.trial.Status.StartTime == nil:
		s.fault = ownFault(v1alpha1.ReasonEnoughMeasured, "the BenchmarkRun %s ended after block %d: its intervals are narrow enough", s.trial.Spec.RunName, s.run.Status.StoppedAfterBlock)
	case s.run.Status.CompletionTime != nil:
		s.fault = ownFault(endReason(s.run), "the BenchmarkRun %s has ended", s.trial.Spec.RunName)
	default:
		s.fault = s.sameFault()
	}
	if s.fault != nil {
		return halt, nil
	}
	return goOn, nil
}

// endReason is why a run has ended.
func endReason(run *v1alpha1.BenchmarkRun) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason
	}
	return v1alpha1.ReasonDone
}

// awaitTurn lets the trials of a run be prepared one after the other.
func (r *TrialReconciler) awaitTurn(_ context.Context, s *trialScope) (step, error) {
	if t := s.before(); t != nil {
		s.waiting = fmt.Sprintf("trial %s comes first", t.Name)
		return halt, nil
	}
	if awaitsLook(s.run, s.trial.Spec.Block) {
		s.waiting = "the run looks whether enough is measured"
		return halt, nil
	}
	return goOn, nil
}

// awaitRoom waits until no other measured pod exists: two would disturb each other, and a predecessor's CPUs are free only
// when its object is gone.
func (r *TrialReconciler) awaitRoom(ctx context.Context, s *trialScope) (step, error) {
	if len(s.others) == 0 {
		s.turn = true
		return goOn, nil
	}
	s.waiting = fmt.Sprintf("pod %s still holds its CPUs", client.ObjectKeyFromObject(&s.others[0]))
	return halt, r.deletePods(ctx, s.stalePods())
}

// ensurePods creates the attempt's pods, all at once. A pod that is missing once load was to start was taken from us.
func (r *TrialReconciler) ensurePods(ctx context.Context, s *trialScope) (step, error) {
	opts := render.PodOptions{
		AgentImage: r.AgentImage, Key: r.publicKey(), RunUID: string(s.run.UID), Attempt: s.attempt, Nodes: s.nodes,
		Bound: s.bound(), LargestServer: largestServer(s.run.Spec),
	}
	for _, m := range s.members {
		if m.pod != nil {
			continue
		}
		pod := render.Pod(s.trial, m.role, opts)
		if s.trial.Status.StartTime != nil {
			s.fault = outsideFault(v1alpha1.ReasonPodLost, "pod %s was deleted while the trial was measured", pod.Name)
			return halt, nil
		}
		if err := r.Create(ctx, pod); err != nil {
			return r.refused(s, pod, err)
		}
		m.pod = pod
	}
	return goOn, nil
}

func (r *TrialReconciler) refused(s *trialScope, pod *corev1.Pod, err error) (step, error) {
	switch {
	case apierrors.IsAlreadyExists(err):
		// The cache has not seen it yet, or a stranger has the name; either way the next event, or the deadline, tells.
		s.waiting = fmt.Sprintf("a pod named %s exists already", pod.Name)
		if s.now.Sub(s.begun()) > prepareDeadline {
			s.fault = ownFault(v1alpha1.ReasonPodRejected, "a pod named %s exists and is not of this trial: delete it", pod.Name)
			return halt, nil
		}
		return again(pollEvery), nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		s.fault = ownFault(v1alpha1.ReasonPodRejected, "the API server refuses pod %s: %s", pod.Name, err)
		return halt, nil
	}
	return halt, fmt.Errorf("creating pod %s: %w", pod.Name, err)
}

// examinePods turns what has become of the pods into a fault, or waits until all run: all generators start, or none.
func (r *TrialReconciler) examinePods(_ context.Context, s *trialScope) (step, error) {
	if s.fault = podFault(s); s.fault != nil {
		return halt, nil
	}
	if !slices.ContainsFunc(s.pods(), func(p *corev1.Pod) bool { return !running(p) }) {
		return goOn, nil
	}
	left := s.begun().Add(prepareDeadline).Sub(s.now)
	if left <= 0 {
		s.fault = outsideFault(v1alpha1.ReasonPodLost, "the pods of the trial did not run within %s: kubectl describe pods -l %s=%s", prepareDeadline, v1alpha1.LabelTrial, s.trial.Name)
		return halt, nil
	}
	s.waiting = cmp.Or(awaitedNode(s), "pods are starting")
	// Pod events wake us; the deadlines of pulls and of scheduling need a look of our own.
	return again(min(left, 5*time.Second)), nil
}

func (r *TrialReconciler) deletePods(ctx context.Context, pods []*corev1.Pod) error {
	for _, p := range pods {
		if !p.DeletionTimestamp.IsZero() {
			continue
		}
		// The UID keeps us from deleting a successor of the same name; the grace period is the pod's own, never zero.
		if err := r.Delete(ctx, p, client.Preconditions{UID: &p.UID}); err != nil && !benign(err) {
			return fmt.Errorf("deleting pod %s: %w", p.Name, err)
		}
	}
	return nil
}
