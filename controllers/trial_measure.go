package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/render"
)

// askAgents learns how far the agents are. While load is measured nobody is asked: an answer would cost the generator's CPU. In the
// first warm-up they are, lest an operator that died before it told them cost the whole timetable.
func (r *TrialReconciler) askAgents(ctx context.Context, s *trialScope) (step, error) {
	if s.measuring() && s.now.Before(s.end()) {
		s.prepared = true
		return again(s.nextEnd()), nil
	}
	for _, a := range s.members {
		st, err := r.Agents.State(ctx, a.pod.Status.PodIP)
		if err != nil {
			return r.silent(s, a.pod, err)
		}
		if st.Phase == protocol.Failed {
			s.fault = outsideFault(v1alpha1.ReasonAgentFailed, "the agent in pod %s: %s", a.pod.Name, st.Message)
			return halt, nil
		}
		a.state = &st
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
	for _, m := range s.servers() {
		if m.state.Listening || s.trial.Status.StartTime != nil {
			continue
		}
		impl := s.implementationOf(m.pod)
		if since := containerStart(m.pod, render.ServerContainer); s.now.Sub(since) > listenDeadline {
			s.fault = ownFault(v1alpha1.ReasonServerNotListening, "implementations[%s] did not listen on port %d within %s of its start: check port and command", impl.Name, impl.Port, listenDeadline)
			return halt, nil
		}
		s.waiting = fmt.Sprintf("the server does not listen on port %d yet", impl.Port)
		return again(pollEvery), nil
	}
	return goOn, nil
}

// check sends one request of each kind before anything is measured, and asks every generator whether it can make its part.
func (r *TrialReconciler) check(ctx context.Context, s *trialScope) (step, error) {
	if s.trial.Status.StartTime != nil {
		s.prepared = true
		return goOn, nil
	}
	for _, g := range s.generators() {
		if g.state.Checked == "" {
			if err := r.readScripts(ctx, s); err != nil {
				return r.scriptsAway(s, err)
			}
			st, err := r.Agents.Order(ctx, g.pod.Status.PodIP, s.checkOrder(g.role))
			if err != nil {
				return r.silent(s, g.pod, err)
			}
			g.state = &st
		}
		if g.state.Fault == protocol.FaultLoad {
			s.fault = ownFault(v1alpha1.ReasonLoadImpossible, "%s", g.state.Checked)
			return halt, nil
		}
		if g.state.Checked != protocol.CheckedOK {
			impl, what := s.checked(g.state.Checked)
			s.fault = ownFault(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s: correct the server, or request and expect of the load", impl, what)
			return halt, nil
		}
	}
	s.prepared = true
	return goOn, nil
}

func (s *trialScope) checkOrder(role string) protocol.Order {
	o := s.order(role)
	o.Check = &protocol.Check{Target: target(s), Beside: besideTarget(s), Cells: s.trial.Spec.Cells, Scripts: s.scripts}
	for _, c := range s.trial.Spec.Cells {
		if c.Script == nil {
			o.Check.Request = appendNew(o.Check.Request, c.Request)
		}
	}
	return o
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
	cpu := s.serverCPU()
	if cpu == nil && s.trial.Spec.Beside != nil {
		s.fault = noSharedCPU(s)
		return halt, nil
	}
	for _, a := range s.members {
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
		o.Start = &protocol.Start{At: begin.Add(offset), Target: target(s), Beside: besideTarget(s), ServerCPU: cpu, Slots: s.slots()}
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
	for _, m := range s.members {
		switch st := m.state; {
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
