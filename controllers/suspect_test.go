package controllers

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// suspected is a trial that has shown a failure of some reason for a while.
func suspected(reason string, lasts time.Duration) func(*trialScope) {
	return func(s *trialScope) {
		s.trial.Status.SuspectSince = &metav1.MicroTime{Time: s.now.Add(-lasts)}
		s.trial.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: reason}}
	}
}

// next is a later pass over a trial; only the status connects them.
func next(s *trialScope, after time.Duration) *trialScope {
	status, now := trialStatus(s), s.now.Add(after)
	return scopeOf(func(s *trialScope) {
		s.trial.Status, s.now, s.prepared = status, now, status.StartTime != nil
	})
}

// apiServer has the pods of a trial.
type apiServer struct {
	client.Reader
	pods []*corev1.Pod
	err  error
}

func (s *apiServer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	for _, p := range s.pods {
		list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, *p)
	}
	return s.err
}

func TestPodFailureIsNotServerFailure(t *testing.T) {
	const wrong = "WrongResponse permanent: the connection was refused"
	ends := func(code int32, reason string) func(*apiServer) {
		return func(s *apiServer) {
			s.pods[1].Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
		}
	}
	for name, tc := range map[string]struct {
		how  func(*apiServer)
		want string
	}{
		"its server still runs":         {func(*apiServer) {}, wrong},
		"its server is killed":          {ends(137, "Error"), "PodLost transient: another process killed implementations[go]"},
		"its server exits":              {ends(1, "Error"), "ServerExited permanent: implementations[go] exited (exit code 1, Error)"},
		"its server exceeds its memory": {ends(137, "OOMKilled"), "ServerExited permanent: implementations[go] was killed because it exceeded its memory"},
		"its pod is deleted":            {func(s *apiServer) { s.pods[1].DeletionTimestamp = &metav1.Time{Time: noon} }, "PodLost transient: another client deleted pod quick-000-go-1-s0"},
		"its pod is gone":               {func(s *apiServer) { s.pods = s.pods[:1] }, "PodLost transient: another client deleted pod quick-000-go-1-s0"},
		"its pod is another one":        {func(s *apiServer) { s.pods[1].UID = "another" }, "PodLost transient: another client deleted pod quick-000-go-1-s0"},
		"nobody can say":                {func(s *apiServer) { s.err = errors.New("etcd") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := scopeOf()
			live := &apiServer{pods: []*corev1.Pod{s.generators()[0].pod.DeepCopy(), s.servers()[0].pod.DeepCopy()}}
			f := conduct.PermanentFailure(v1alpha1.ReasonWrongResponse, "the connection was refused")
			step, err := recheck(t.Context(), live, s, f)
			if err != nil || step.After != podPatience || s.fault != nil {
				t.Fatalf("the first pass ends with %+v, %v, %s", step, err, describe(s.fault))
			}
			tc.how(live) // The kubelet tells of it a moment later.
			if s = next(s, podPatience-time.Second); s.trial.Status.CompletionTime != nil {
				t.Fatal("the trial has ended")
			}
			if step, err = recheck(t.Context(), live, s, f); err != nil || step.After != time.Second || s.fault != nil {
				t.Fatalf("a pass before its time ends with %+v, %v, %s", step, err, describe(s.fault))
			}
			s = next(s, time.Second)
			if _, err = recheck(t.Context(), live, s, f); (err != nil) != (tc.want == "") || !strings.HasPrefix(describe(s.fault), tc.want) {
				t.Errorf("the attempt ends with %q, %v, want %q", describe(s.fault), err, tc.want)
			}
		})
	}
}

// A pod that is deleted without a grace period is gone at once, and the check of its generator has failed.
func TestPodDeletedAfterCheckEndsAttempt(t *testing.T) {
	failed := protocol.State{Checked: &protocol.Checked{Fault: protocol.FaultServer, Message: "connection refused"}}
	const lost = "PodLost transient: another client deleted pod quick-000-go-1-s0"
	for name, tc := range map[string]struct {
		change func(*trialScope)
		agents agents.Client
		// fault is what the pass ends in; without one it creates the pod, or asks again after a while.
		fault string
		after time.Duration
	}{
		"the failure is suspected":             {suspected(v1alpha1.ReasonWrongResponse, time.Second), saying{state: failed}, lost, 0},
		"the status does not yet suspect it":   {func(*trialScope) {}, saying{state: failed}, lost, 0},
		"the check was passed":                 {func(*trialScope) {}, saying{state: protocol.State{Checked: &protocol.Checked{}}}, lost, 0},
		"load has started":                     {later(time.Second), nil, lost, 0},
		"the store with bodies is unavailable": {func(s *trialScope) { later(time.Second)(s); s.run.Status.Bodies = []v1alpha1.FrozenBody{{}} }, nil, lost, 0},
		"the generator does not answer":        {func(*trialScope) {}, silence{}, "", pollEvery},
		"no generator was checked":             {func(*trialScope) {}, saying{}, "", 0},
		"no generator runs":                    {func(s *trialScope) { s.generators()[0].pod.Status.PodIP = "" }, nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(func(s *trialScope) { s.servers()[0].pod = nil }, tc.change)
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).Build()
			r := &TrialReconciler{Client: c, Live: c, Agents: tc.agents, Store: brokenStore{err: artifact.ErrUnreachable}, Key: ed25519.NewKeyFromSeed(make([]byte, 32))}
			step, err := r.ensurePods(t.Context(), s)
			if err != nil || describe(s.fault) != tc.fault || step.After != tc.after {
				t.Errorf("the pass ends with %+v, %v, %q, want %q", step, err, describe(s.fault), tc.fault)
			}
			if created, want := s.servers()[0].pod != nil, tc.fault == "" && tc.after == 0; created != want {
				t.Errorf("the pod is created: %v, want %v", created, want)
			}
		})
	}
}

func TestTransientFailureOfCheckEndsAttemptAtOnce(t *testing.T) {
	s, f := scopeOf(), conduct.TransientFailure(v1alpha1.ReasonAgentLost, "gone")
	if _, err := recheck(t.Context(), nil, s, f); err != nil || s.fault != f || trialStatus(s).SuspectSince != nil {
		t.Errorf("got %s, %v", describe(s.fault), err)
	}
}

// stumbling are agents that do not answer the first times.
type stumbling struct {
	silence
	failures int
}

func (a *stumbling) State(_ context.Context, ip string) (protocol.State, error) {
	if a.failures--; a.failures >= 0 {
		return protocol.State{}, errors.New("connection reset")
	}
	return by(ip, protocol.State{Phase: protocol.Measured}), nil
}

func TestLostAnswersEndAttemptOnlyAfterSomeSeconds(t *testing.T) {
	tries := int(silencePatience/askSilent) + 1
	for failures, lost := range map[int]bool{0: false, 1: false, tries - 1: false, tries: true} {
		s, r := scopeOf(later(time.Hour)), &TrialReconciler{Agents: &stumbling{failures: failures}}
		for range tries {
			step, err := r.askAgents(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if s.fault != nil || !step.Stop {
				break
			}
			if step.After <= 0 || step.After > askSilent {
				t.Fatalf("a silent agent is asked again after %s", step.After)
			}
			s = next(s, step.After)
		}
		if (s.fault != nil) != lost || lost && s.fault.Reason != v1alpha1.ReasonAgentLost {
			t.Errorf("after %d lost answers the attempt ends with %q", failures, describe(s.fault))
		}
		if st := trialStatus(s); st.SuspectSince != nil {
			t.Errorf("after %d lost answers the status still suspects the trial", failures)
		}
	}
	s, r := scopeOf(), &TrialReconciler{Agents: &stumbling{failures: 1}}
	if step, err := r.askAgents(t.Context(), s); err != nil || s.fault != nil || step.After != pollEvery || trialStatus(s).SuspectSince != nil {
		t.Errorf("before its time is over an agent is asked again in %s: %s, %v", step.After, describe(s.fault), err)
	}
}

func TestAnotherFailureIsTimedAnew(t *testing.T) {
	s := scopeOf(suspected(v1alpha1.ReasonAgentLost, time.Hour))
	if left := s.suspect(conduct.PermanentFailure(v1alpha1.ReasonWrongResponse, "404"), podPatience); left != podPatience {
		t.Errorf("%s are left of %s", left, podPatience)
	}
}
