package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
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
	return halt, r.deletePods(ctx, s.ownPods())
}

// follow ends a trial whose run is over, or whose implementation has already shown that it cannot be measured.
func (r *TrialReconciler) follow(_ context.Context, s *trialScope) (step, error) {
	switch {
	case s.run == nil || !s.run.DeletionTimestamp.IsZero():
		s.fault = ownFault(v1alpha1.ReasonDeleted, "the BenchmarkRun %s is being deleted", s.trial.Spec.RunName)
	case s.run.Status.CompletionTime != nil:
		s.fault = ownFault(v1alpha1.ReasonTimedOut, "the BenchmarkRun %s has ended", s.trial.Spec.RunName)
	default:
		s.fault = s.sameFault()
	}
	if s.fault != nil {
		return halt, nil
	}
	return goOn, nil
}

// awaitTurn lets the trials of a run be prepared one after the other.
func (r *TrialReconciler) awaitTurn(_ context.Context, s *trialScope) (step, error) {
	if t := s.before(); t != nil {
		s.waiting = fmt.Sprintf("trial %s comes first", t.Name)
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
	var stale []*corev1.Pod
	for _, p := range s.ownPods() {
		if p != s.server && p != s.generator {
			stale = append(stale, p)
		}
	}
	return halt, r.deletePods(ctx, stale)
}

// ensurePods creates the attempt's pods, both at once. A pod that is missing once load was to start was taken from us.
func (r *TrialReconciler) ensurePods(ctx context.Context, s *trialScope) (step, error) {
	opts := render.PodOptions{AgentImage: r.AgentImage, Key: r.publicKey(), RunUID: string(s.run.UID), Attempt: s.attempt, Nodes: s.nodes}
	for _, p := range []struct {
		have **corev1.Pod
		make func(*v1alpha1.Trial, render.PodOptions) *corev1.Pod
	}{{&s.server, render.ServerPod}, {&s.generator, render.GeneratorPod}} {
		if *p.have != nil {
			continue
		}
		pod := p.make(s.trial, opts)
		if s.trial.Status.StartTime != nil {
			s.fault = outsideFault(v1alpha1.ReasonPodLost, "pod %s was deleted while the trial was measured", pod.Name)
			return halt, nil
		}
		if err := r.Create(ctx, pod); err != nil {
			return r.refused(s, pod, err)
		}
		*p.have = pod
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

// examinePods turns what has become of the pods into a fault, or waits until both run.
func (r *TrialReconciler) examinePods(_ context.Context, s *trialScope) (step, error) {
	if s.fault = podFault(s); s.fault != nil {
		return halt, nil
	}
	if running(s.server) && running(s.generator) {
		return goOn, nil
	}
	left := s.begun().Add(prepareDeadline).Sub(s.now)
	if left <= 0 {
		s.fault = outsideFault(v1alpha1.ReasonPodLost, "the pods of the trial did not run within %s: kubectl describe pod %s %s", prepareDeadline, s.server.Name, s.generator.Name)
		return halt, nil
	}
	s.waiting = "pods are starting"
	// Pod events wake us; the deadlines of pulls and of scheduling need a look of our own.
	return again(min(left, 5*time.Second)), nil
}

// askAgents learns how far the agents are. While load runs nobody is asked: an answer would cost the generator's CPU.
func (r *TrialReconciler) askAgents(ctx context.Context, s *trialScope) (step, error) {
	if end := s.end(); !end.IsZero() && s.now.Before(end) && s.now.After(s.trial.Status.StartTime.Time) {
		s.prepared = true
		return again(s.nextEnd()), nil
	}
	for _, a := range []struct {
		pod  *corev1.Pod
		into **protocol.State
	}{{s.server, &s.observerState}, {s.generator, &s.generatorState}} {
		st, err := r.Agents.State(ctx, a.pod.Status.PodIP)
		if err != nil {
			return r.silent(s, a.pod, err)
		}
		if st.Phase == protocol.Failed {
			s.fault = outsideFault(v1alpha1.ReasonAgentFailed, "the agent in pod %s: %s", a.pod.Name, st.Message)
			return halt, nil
		}
		*a.into = &st
	}
	return goOn, nil
}

func (r *TrialReconciler) silent(s *trialScope, pod *corev1.Pod, err error) (step, error) {
	deadline := s.begun().Add(prepareDeadline)
	if end := s.end(); !end.IsZero() {
		deadline = end.Add(agentGrace)
	}
	if s.now.After(deadline) {
		s.fault = outsideFault(v1alpha1.ReasonAgentLost, "the agent in pod %s does not answer: %s", pod.Name, err)
		return halt, nil
	}
	s.waiting = fmt.Sprintf("the agent in pod %s does not answer yet", pod.Name)
	return again(pollEvery), nil
}

// awaitListening waits for the server's port, as its observer sees it.
func (r *TrialReconciler) awaitListening(_ context.Context, s *trialScope) (step, error) {
	if s.observerState.Listening || s.trial.Status.StartTime != nil {
		return goOn, nil
	}
	impl := s.trial.Spec.Implementation
	if since := containerStart(s.server, render.ServerContainer); s.now.Sub(since) > listenDeadline {
		s.fault = ownFault(v1alpha1.ReasonServerNotListening, "implementations[%s] did not listen on port %d within %s of its start: check port and command", impl.Name, impl.Port, listenDeadline)
		return halt, nil
	}
	s.waiting = fmt.Sprintf("the server does not listen on port %d yet", impl.Port)
	return again(pollEvery), nil
}

// check sends one request of each kind before anything is measured.
func (r *TrialReconciler) check(ctx context.Context, s *trialScope) (step, error) {
	if s.trial.Status.StartTime != nil {
		s.prepared = true
		return goOn, nil
	}
	if s.generatorState.Checked == "" {
		o := s.order(protocol.RoleGenerator)
		o.Check = &protocol.Check{Target: target(s)}
		for _, c := range s.trial.Spec.Cells {
			o.Check.Request = appendNew(o.Check.Request, c.Request)
		}
		st, err := r.Agents.Order(ctx, s.generator.Status.PodIP, o)
		if err != nil {
			return r.silent(s, s.generator, err)
		}
		s.generatorState = &st
	}
	if s.generatorState.Checked != protocol.CheckedOK {
		s.fault = ownFault(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s: correct the server, or request and expect of the load", s.trial.Spec.Implementation.Name, s.generatorState.Checked)
		return halt, nil
	}
	s.prepared = true
	return goOn, nil
}

// awaitRelease holds a prepared trial until its step of the workflow has come.
func (r *TrialReconciler) awaitRelease(_ context.Context, s *trialScope) (step, error) {
	if s.trial.Spec.Start == v1alpha1.StartReleased {
		return goOn, nil
	}
	s.waiting = "ready; its step of the workflow has not come yet"
	return halt, nil
}

// start gives all agents the timetable and one instant. The instant is written down first, so that an operator that dies in
// between is followed by one that knows it.
func (r *TrialReconciler) start(ctx context.Context, s *trialScope) (step, error) {
	if s.trial.Status.StartTime == nil {
		at := s.now.Add(startLead)
		s.startTime = &at
		return halt, nil
	}
	begin := s.trial.Status.StartTime.Time
	for _, a := range []struct {
		pod   *corev1.Pod
		state *protocol.State
		role  string
	}{{s.generator, s.generatorState, protocol.RoleGenerator}, {s.server, s.observerState, protocol.RoleObserver}} {
		if a.state.Phase != protocol.Idle {
			continue
		}
		offset, _, err := r.Agents.Clock(ctx, a.pod.Status.PodIP)
		if err != nil {
			return r.silent(s, a.pod, err)
		}
		if r.Now().After(begin) {
			s.fault = outsideFault(v1alpha1.ReasonAgentLost, "the agent in pod %s could not be told to start in time", a.pod.Name)
			return halt, nil
		}
		o := s.order(a.role)
		o.Start = &protocol.Start{At: begin.Add(offset), Target: target(s), Slots: s.slots()}
		if _, err := r.Agents.Order(ctx, a.pod.Status.PodIP, o); err != nil {
			return r.silent(s, a.pod, err)
		}
	}
	return goOn, nil
}

// awaitEnd waits for the last cell, waking at the end of each for the sake of the progress that people see.
func (r *TrialReconciler) awaitEnd(_ context.Context, s *trialScope) (step, error) {
	if left := s.end().Sub(s.now); left > 0 {
		return again(s.nextEnd()), nil
	}
	for _, st := range []*protocol.State{s.observerState, s.generatorState} {
		switch {
		case st.Phase == protocol.Idle:
			s.fault = outsideFault(v1alpha1.ReasonAgentLost, "the agent (%s) was never told to start", st.Role)
			return halt, nil
		case st.Phase == protocol.Running && s.now.After(s.end().Add(agentGrace)):
			s.fault = outsideFault(v1alpha1.ReasonAgentLost, "the agent (%s) was still busy %s after the last cell", st.Role, agentGrace)
			return halt, nil
		case st.Phase == protocol.Running:
			return again(pollEvery), nil
		}
	}
	s.measured = true
	return goOn, nil
}

// store gives each agent signed addresses for its files, and waits until all are written.
func (r *TrialReconciler) store(ctx context.Context, s *trialScope) (step, error) {
	done := true
	for _, a := range []struct {
		pod   *corev1.Pod
		state *protocol.State
		role  string
	}{{s.generator, s.generatorState, protocol.RoleGenerator}, {s.server, s.observerState, protocol.RoleObserver}} {
		if a.state.Phase == protocol.Stored {
			continue
		}
		done = false
		if s.now.After(s.end().Add(storeDeadline)) {
			s.fault = outsideFault(v1alpha1.ReasonUploadFailed, "artifacts of %s could not be stored within %s: %s", a.role, storeDeadline, a.state.StoreError)
			return halt, nil
		}
		if a.state.Uploading {
			continue
		}
		if err := r.orderStore(ctx, s, a.pod, a.state, a.role); err != nil {
			return r.storeTrouble(s, err)
		}
	}
	if !done {
		s.waiting = "artifacts are being stored"
		return again(pollEvery / 2), nil
	}
	return goOn, nil
}

func (r *TrialReconciler) orderStore(ctx context.Context, s *trialScope, pod *corev1.Pod, st *protocol.State, role string) error {
	o := s.order(role)
	o.Store = &protocol.Store{}
	for _, f := range st.Files {
		url, headers, err := r.Store.Destination(ctx, s.key(role, f.Name), f.SHA256, addressLife)
		if err != nil {
			return err
		}
		o.Store.Files = append(o.Store.Files, protocol.Destination{Name: f.Name, URL: url, Headers: headers})
	}
	if _, err := r.Agents.Order(ctx, pod.Status.PodIP, o); err != nil {
		return fmt.Errorf("ordering %s to store: %w", pod.Name, err)
	}
	return nil
}

// storeTrouble waits for a store that may come back, until the deadline.
func (r *TrialReconciler) storeTrouble(s *trialScope, err error) (step, error) {
	if s.now.After(s.end().Add(storeDeadline)) {
		s.fault = outsideFault(v1alpha1.ReasonUploadFailed, "%s", err)
		return halt, nil
	}
	s.waiting = clip(err.Error(), maxMessage)
	return again(time.Second), nil
}

// writeManifest verifies every object and writes the manifest, last: with it the trial has happened.
func (r *TrialReconciler) writeManifest(ctx context.Context, s *trialScope) (step, error) {
	m := s.newManifest(r.Version)
	for _, a := range []struct {
		pod   *corev1.Pod
		state *protocol.State
		role  string
	}{{s.server, s.observerState, protocol.RoleObserver}, {s.generator, s.generatorState, protocol.RoleGenerator}} {
		for _, f := range a.state.Files {
			file := record.Artifact{Role: a.role, Name: f.Name, Key: s.key(a.role, f.Name), Bytes: f.Bytes, SHA256: f.SHA256}
			if err := r.Store.Verify(ctx, file); err != nil {
				return r.storeTrouble(s, err)
			}
			m.Artifacts = append(m.Artifacts, file)
		}
		offset, rt, err := r.Agents.Clock(ctx, a.pod.Status.PodIP)
		if err != nil {
			return r.silent(s, a.pod, err)
		}
		m.Clocks = append(m.Clocks, record.AgentClock{Role: a.role, OffsetNanos: offset.Nanoseconds(), RoundTripNanos: rt.Nanoseconds()})
	}
	stored, err := r.Store.PutJSON(ctx, s.manifestKey(), m)
	if errors.Is(err, artifact.ErrExists) {
		// An operator that ended before it could say so has written the attempt's manifest: it holds.
		stored, err = r.Store.Find(ctx, s.manifestKey())
	}
	if err != nil {
		return r.storeTrouble(s, err)
	}
	s.manifest = &stored
	return halt, nil
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
