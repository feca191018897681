package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// askAgents reads the agents' states. It does not ask during load, because an answer costs generator CPU. During the first warm-up it asks, to detect
// a start command that a dead operator never sent.
func (r *TrialReconciler) askAgents(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	if try := attemptFacts(s); try.Quiet() {
		s.prepared = true
		return reconciler.Again(try.NextEnd()), nil
	}
	for _, a := range s.members {
		st, err := r.askAgent(ctx, s, a.pod)
		if err != nil {
			return silent(s, a.pod, err)
		}
		if s.fault = conduct.AgentFailed(s.planned(), agentIn(a.pod), st); s.fault != nil {
			return reconciler.Halt, nil
		}
		a.state = &st
	}
	return reconciler.GoOn, nil
}

func (r *TrialReconciler) command(ctx context.Context, pod *corev1.Pod, c protocol.Command) (protocol.State, error) {
	return r.Agents.Command(ctx, pod.Status.PodIP, c)
}

func (r *TrialReconciler) askAgent(ctx context.Context, s *trialScope, pod *corev1.Pod) (protocol.State, error) {
	st, err := r.Agents.State(ctx, pod.Status.PodIP)
	if o := s.command(pod.Labels[v1alpha1.LabelMember]); err == nil && !st.Is(o) {
		err = fmt.Errorf("wrong agent at %s: it is %s of attempt %d at %s, expected %s of attempt %d at %s", pod.Status.PodIP, st.Member, st.Attempt, st.Trial, o.Member, o.Attempt, o.Trial)
	}
	return st, err
}

// silent waits for an unresponsive agent until its deadline plus some seconds. An agent that refuses permanently ends the attempt at once.
func silent(s *trialScope, pod *corev1.Pod, err error) (reconciler.Step, error) {
	if s.fault = refusal(pod, err); s.fault != nil {
		return reconciler.Halt, nil
	}
	if f := attemptFacts(s).AgentSilent(agentIn(pod), err); f != nil {
		if left := s.suspect(f, silencePatience); left > 0 {
			return reconciler.Again(min(left, askSilent)), nil
		}
		s.fault = f
		return reconciler.Halt, nil
	}
	s.waiting = agentIn(pod) + " is not responding yet"
	if refused := (*agents.Refusal)(nil); errors.As(err, &refused) {
		s.waiting = fmt.Sprintf("%s %s", agentIn(pod), refused)
	}
	return reconciler.Again(pollEvery), nil
}

func refusal(pod *corev1.Pod, err error) *conduct.Failure {
	if refused := (*agents.Refusal)(nil); errors.As(err, &refused) && refused.Final() {
		return conduct.AgentRefused(agentIn(pod), refused)
	}
	return nil
}

func agentIn(pod *corev1.Pod) string { return "the agent in pod " + pod.Name }

// prepare waits until every server is ready, then lets every generator check its requests.
func (r *TrialReconciler) prepare(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	for !s.prepared {
		next, k, f := attemptFacts(s).Prepare(s.planned(), seen(s.servers()), seen(s.generators()))
		switch {
		case f != nil:
			return recheck(ctx, r.Live, s, f)
		case next == conduct.AwaitServer:
			s.waiting = fmt.Sprintf("implementations[%s] is not ready yet", s.work().Servers()[k].Name)
			return reconciler.Again(pollEvery), nil
		case next == conduct.AskCheck:
			if step, err := r.check(ctx, s, s.generators()[k]); step.Stop || err != nil {
				return step, err
			}
		default:
			s.prepared = true
		}
	}
	return reconciler.GoOn, nil
}

// check lets a generator send one request of each kind, and asks whether it can generate its share of the load.
func (r *TrialReconciler) check(ctx context.Context, s *trialScope, g *member) (reconciler.Step, error) {
	if err := cmp.Or(r.loadScripts(ctx, s), r.readBodies(ctx, s)); err != nil {
		return inputsAway(s, err)
	}
	st, err := r.command(ctx, g.pod, s.checkCommand(g.Name))
	if err != nil {
		return silent(s, g.pod, err)
	}
	g.state, g.asked = &st, true
	return reconciler.GoOn, nil
}

// loadScripts reads the stored scripts, once per pass.
func (r *TrialReconciler) loadScripts(ctx context.Context, s *trialScope) (err error) {
	if len(s.scripts) != len(s.run.Status.Scripts) {
		s.scripts, err = inputs.Load(ctx, r.Store, s.runPrefix(), s.run.Status.Scripts)
	}
	return err
}

func (r *TrialReconciler) readBodies(ctx context.Context, s *trialScope) error {
	full, err := r.plans.withBodies(ctx, r.Store, s.run, s.plan)
	if err != nil {
		return err
	}
	s.plan = full
	for i, m := range s.work().Members() {
		s.members[i].Member = m
	}
	return nil
}

func inputsAway(s *trialScope, err error) (reconciler.Step, error) {
	if s.fault = attemptFacts(s).InputsAway(err); s.fault != nil {
		return reconciler.Halt, nil
	}
	s.await(err.Error())
	return reconciler.Again(retryStore), nil
}

func (s *trialScope) checkCommand(member string) protocol.Command {
	o := s.command(member)
	o.Check = s.work().Check(s.targets(), s.scripts)
	return o
}

// awaitRelease holds a prepared trial until its workflow step.
func (r *TrialReconciler) awaitRelease(_ context.Context, s *trialScope) (reconciler.Step, error) {
	if s.trial.Spec.Start == v1alpha1.StartReleased {
		return reconciler.GoOn, nil
	}
	s.waiting = "ready: waiting for the workflow to reach this trial"
	if left := attemptFacts(s).Begun.Add(facts.Quickly).Sub(s.now); left > 0 {
		return reconciler.Again(left), nil // Its step may come before that is worth a word.
	}
	return reconciler.Halt, nil
}

// start sends all agents the timetable and one start instant. The instant is written to the status first, so that another operator can
// continue.
func (r *TrialReconciler) start(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	try := attemptFacts(s)
	if try.Started.IsZero() {
		try.Now = r.Now() // A pass that has read scripts and asked agents may be old by now.
		at := try.StartAt()
		s.startTime = &at
		return reconciler.Halt, nil
	}
	cpu := s.serverCPU()
	if cpu == nil && len(s.work().Servers()) > 1 {
		s.fault = noSharedCPU(s)
		return reconciler.Halt, nil
	}
	for _, a := range s.members {
		if a.state.Phase != protocol.Idle {
			continue
		}
		clock, err := r.Agents.Clock(ctx, a.pod.Status.PodIP)
		if s.fault = try.StartMissed(agentIn(a.pod), r.Now(), s.agentStates()...); s.fault != nil {
			return reconciler.Halt, nil
		}
		if err != nil {
			return silent(s, a.pod, err)
		}
		o := s.command(a.Name)
		o.Start = try.Start(try.Started.Add(clock.Offset), s.targets(), cpu)
		state, err := r.command(ctx, a.pod, o)
		if err != nil {
			return silent(s, a.pod, err)
		}
		a.state = &state
	}
	return reconciler.GoOn, nil
}

// awaitEnd waits for the last cell, and wakes at the end of each cell to update the progress.
func (r *TrialReconciler) awaitEnd(_ context.Context, s *trialScope) (reconciler.Step, error) {
	try := attemptFacts(s)
	if wait := try.AwaitEnd(s.agentStates()...); wait > 0 {
		return reconciler.Again(wait), nil
	}
	busy, failure := try.AgentsBusy(s.agentStates()...)
	if s.fault = failure; failure != nil {
		return reconciler.Halt, nil
	}
	if busy {
		return reconciler.Again(pollEvery), nil
	}
	s.measured = !slices.ContainsFunc(s.agentStates(), func(st protocol.State) bool { return st.Program != nil })
	return reconciler.GoOn, nil
}
