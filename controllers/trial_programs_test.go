package controllers

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// ofProgram makes a trial one of a program that may take a minute.
func ofProgram(s *trialScope) {
	s.plan.Trials[0].Type, s.plan.Cells, s.plan.Programs = record.Microbenchmark, nil, &record.Programs{Format: record.GoTest, LimitSeconds: 60}
	s.plan.Implementations[0].Port = 0
	p := pod(v1alpha1.RoleServer)
	for i, name := range []string{microbenchmark.ProcessProgram, microbenchmark.ProcessCollector} {
		p.Spec.Containers[i].Name, p.Status.ContainerStatuses[i].Name = name, name
	}
	s.members = []*member{memberIn(record.MemberServer(0), p)}
}

// collects puts the collector of a program into a phase.
func collects(phase protocol.Phase) func(*trialScope) {
	return func(s *trialScope) {
		s.members[0].state = &protocol.State{Member: record.MemberServer(0), Phase: phase}
	}
}

// saying are agents that answer with one state.
type saying struct {
	agents.Client
	state protocol.State
}

func (a saying) State(_ context.Context, ip string) (protocol.State, error) {
	return by(ip, a.state), nil
}

func TestProgramAgentIsPolledAndDecidesEnd(t *testing.T) {
	fault := protocol.State{Phase: protocol.Failed, Program: &protocol.ProgramFault{Fault: protocol.FaultLimit, Message: "it had not ended after 1m0s"}}
	ask := func(s protocol.State) func(context.Context, *trialScope) (reconciler.Step, error) {
		return (&TrialReconciler{Agents: saying{state: s}}).askAgents
	}
	r := &TrialReconciler{Agents: silence{}, Now: func() time.Time { return noon }}
	exits := func(code int32) func(*trialScope) {
		return func(s *trialScope) {
			ended := &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}
			s.members[0].pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: ended}
		}
	}
	holds := func(phase protocol.Phase) func(*trialScope) {
		return func(s *trialScope) {
			s.members[0].state = &protocol.State{
				Member: record.MemberServer(0), Phase: phase, StoreError: "503", Files: []protocol.File{{Name: "output.txt"}},
				Program: &protocol.ProgramFault{Fault: protocol.FaultExit, Message: "exit code 3"},
			}
			s.trial.Status.FilesSHA256, _ = protocol.Announced(*s.members[0].state)
		}
	}
	up := func(s *trialScope) {
		collects(protocol.Idle)(s)
		s.members[0].state.Listening = true
	}
	for name, tc := range map[string]struct {
		phase func(context.Context, *trialScope) (reconciler.Step, error)
		scope *trialScope
		want  reconciler.Step
		fault string
	}{
		"it is asked while it runs":             {ask(protocol.State{Phase: protocol.Running}), scopeOf(ofProgram, later(time.Second)), reconciler.GoOn, ""},
		"it took too long":                      {ask(fault), scopeOf(ofProgram, later(time.Second)), reconciler.Halt, "ProgramTimedOut permanent: implementations[go]: it had not ended after 1m0s"},
		"its collector is silent while it runs": {r.askAgents, scopeOf(ofProgram, later(time.Second)), reconciler.Again(pollEvery), ""},
		"its parent is not ready":               {r.prepare, scopeOf(ofProgram, collects(protocol.Idle)), reconciler.Again(pollEvery), ""},
		"nobody is there to be checked":         {r.prepare, scopeOf(ofProgram, up), reconciler.GoOn, ""},
		"it runs":                               {r.awaitEnd, scopeOf(ofProgram, collects(protocol.Running), later(time.Second)), reconciler.Again(250 * time.Millisecond), ""},
		"it has ended before its limit":         {r.awaitEnd, scopeOf(ofProgram, collects(protocol.Measured), later(time.Second)), reconciler.GoOn, ""},
		"it has failed":                         {r.awaitEnd, scopeOf(ofProgram, holds(protocol.Measured), later(time.Second)), reconciler.GoOn, ""},
		"its output is stored":                  {r.store, scopeOf(ofProgram, holds(protocol.Stored), later(time.Second)), reconciler.Halt, "ProgramFailed permanent: implementations[go]: exit code 3; its output is stored as "},
		"its output cannot be stored":           {r.store, scopeOf(ofProgram, holds(protocol.Measured), later(time.Hour)), reconciler.Halt, "ProgramFailed permanent: implementations[go]: exit code 3"},
		"its container has done its work":       {r.examinePods, scopeOf(ofProgram, exits(0), later(time.Second)), reconciler.GoOn, ""},
		"its container has failed":              {r.examinePods, scopeOf(ofProgram, exits(3), later(time.Second)), reconciler.Halt, "ProgramFailed permanent: implementations[go] exited (exit code 3, Error)"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.phase(t.Context(), tc.scope)
			if err != nil || got != tc.want {
				t.Errorf("the phase ends with %+v, %v; want %+v", got, err, tc.want)
			}
			if f := describe(tc.scope.fault); tc.fault == "" && f != "" || !strings.HasPrefix(f, tc.fault) {
				t.Errorf("the fault is %q, want %q", f, tc.fault)
			}
		})
	}
}

func TestProgramTrialStatusFollowsProgram(t *testing.T) {
	lost := func(s *trialScope) { s.fault = conduct.TransientFailure(v1alpha1.ReasonPodLost, "gone") }
	failed := func(s *trialScope) { s.fault = conduct.PermanentFailure(v1alpha1.ReasonProgramFailed, "exit code 3") }
	for name, tc := range map[string]struct {
		deltas   []func(*trialScope)
		succeeds metav1.ConditionStatus
		reason   string
		progress string
		attempt  int32
	}{
		"it has not begun":         {nil, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "0/1", 1},
		"it runs":                  {[]func(*trialScope){later(time.Second)}, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "0/1", 1},
		"it has ended early":       {[]func(*trialScope){later(time.Second), func(s *trialScope) { s.measured = true }}, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "1/1", 1},
		"it has failed":            {[]func(*trialScope){later(time.Second), failed}, metav1.ConditionFalse, v1alpha1.ReasonProgramFailed, "0/1", 1},
		"it was lost as it ran":    {[]func(*trialScope){later(time.Second), lost}, metav1.ConditionFalse, v1alpha1.ReasonPodLost, "0/1", 1},
		"it was lost before":       {[]func(*trialScope){lost}, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "0/1", 2},
		"it was lost at its start": {[]func(*trialScope){later(-time.Millisecond), lost}, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "0/1", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(append([]func(*trialScope){ofProgram}, tc.deltas...)...)
			st := trialStatus(s)
			condition(t, st.Conditions, v1alpha1.ConditionSucceeded, tc.succeeds, tc.reason)
			if ended := tc.succeeds == metav1.ConditionFalse; st.Progress != tc.progress || st.Attempt != tc.attempt || (st.CompletionTime != nil) != ended {
				t.Errorf("progress %s, attempt %d, completionTime %v", st.Progress, st.Attempt, st.CompletionTime)
			}
			after := s.trial.DeepCopy()
			after.Status = st
			for _, finding := range lintStatus(after) {
				t.Error(finding)
			}
		})
	}
}

func TestConditionMeasuredRecordsProgramEnd(t *testing.T) {
	seen := noon.Add(time.Second)
	measured := func(status metav1.ConditionStatus) func(*trialScope) {
		return func(s *trialScope) {
			s.trial.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionMeasured, Status: status, LastTransitionTime: metav1.Time{Time: seen}}}
		}
	}
	for name, tc := range map[string]struct {
		deltas []func(*trialScope)
		want   time.Time
	}{
		"a program that runs":      {[]func(*trialScope){ofProgram, measured(metav1.ConditionUnknown)}, time.Time{}},
		"a program that has ended": {[]func(*trialScope){ofProgram, measured(metav1.ConditionTrue)}, seen},
		"a sweep":                  {[]func(*trialScope){measured(metav1.ConditionTrue)}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := attemptFacts(scopeOf(tc.deltas...)).Ended; !got.Equal(tc.want) {
				t.Errorf("it ended at %s, want %s", got, tc.want)
			}
		})
	}
}
