package controllers

import (
	"errors"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// trialScope is the knowledge of one pass over a trial: the first group is observed, the second is set by phases.
type trialScope struct {
	trial *v1alpha1.Trial
	run   *v1alpha1.BenchmarkRun
	// plan is the run's plan. It is empty if the run is gone, or if unplanned says why it cannot be compiled or read. Its requests lack stored
	// bodies until readBodies.
	plan      plan.Plan
	unplanned error
	siblings  conduct.Trials
	nodes     []plan.Node
	attempt   int32
	// members are the pods of this attempt, existing or not, generators first.
	members []*member
	// others are measured pods of other attempts that still hold CPUs.
	others []corev1.Pod
	now    time.Time

	// waiting is the message of a wait; why is its reason if something is unavailable or refused.
	waiting, why string
	// suspectSince is the start of a failure that ends the attempt if it lasts.
	suspectSince *time.Time
	// turn: no other trial and no other measured pod comes first.
	turn bool
	// prepared and measured are milestones reached in this pass.
	prepared, measured bool
	unmounted          map[string]string
	scripts            []protocol.Script
	// startTime is written to the status before the agents get it.
	startTime *time.Time
	// announced is the digest of the agents' lists of files; empty until all have announced theirs.
	announced string
	// manifest is set when the trial's manifest is stored; measuredOn too, if the trial was deleted afterwards and created again.
	manifest   *record.Artifact
	measuredOn []v1alpha1.MemberNode
	// fault is why the attempt ended without a manifest.
	fault *conduct.Failure
}

// awaitsPlan reports whether the stored plan cannot be read now.
func (s *trialScope) awaitsPlan() bool {
	refused := (*plan.Violation)(nil)
	return s.unplanned != nil && !errors.As(s.unplanned, &refused) && !artifact.Unreadable(s.unplanned)
}

// Hindered implements pass.Scope. A trial that fails the operator would do so at each pass while its pods hold CPUs.
func (s *trialScope) Hindered(err error) {
	s.waiting = err.Error()
	if errors.Is(err, util.ErrPanic) && !s.ended() {
		s.fault = conduct.OperatorFailed(err)
	}
}

// await waits for something unavailable or refused; the run shows it at once.
func (s *trialScope) await(what string) { s.why, s.waiting = v1alpha1.ReasonTrialWaiting, what }

// States implements pass.Scope.
func (s *trialScope) States() (before, after *v1alpha1.Trial) {
	after = s.trial.DeepCopy()
	after.Status = trialStatus(s)
	return s.trial, after
}

func (s *trialScope) ended() bool { return s.trial.Status.CompletionTime != nil }

type member struct {
	kind.Member
	pod *corev1.Pod
	// state is the agent's answer in this pass, or nil. asked is true for a generator whose check was requested.
	state *protocol.State
	asked bool
}

func (s *trialScope) agentStates() []protocol.State {
	var list []protocol.State
	for _, m := range s.members {
		list = append(list, *m.state)
	}
	return list
}

// seen are the members whose agents answered, for package conduct.
func seen(members []*member) []conduct.Seen {
	var list []conduct.Seen
	for _, m := range members {
		list = append(list, conduct.Seen{Agent: agentIn(m.pod), State: *m.state, Since: pods.ContainerStart(m.pod, m.Processes[0].Name), Asked: m.asked})
	}
	return list
}

// generators are the load generators; none for a microbenchmark.
func (s *trialScope) generators() []*member { return s.members[:len(s.members)-len(s.servers())] }

// placePods splits the measured pods into this attempt's and others.
func (s *trialScope) placePods(pods []corev1.Pod, owners map[types.UID]*v1alpha1.Trial) {
	s.members = nil
	for _, m := range s.work().Members() {
		s.members = append(s.members, &member{Member: m})
	}
	for i := range pods {
		p := &pods[i]
		switch m := s.memberOf(p); {
		case m != nil:
			m.pod = p
		default:
			if _, uid := facts.TrialOf(p); facts.HoldsCPUs(p, owners[uid], s.nodes, s.now) {
				s.others = append(s.others, *p)
			}
		}
	}
}

func (s *trialScope) memberOf(p *corev1.Pod) *member {
	mine := p.Namespace == s.trial.Namespace && slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.trial.UID })
	if !mine || p.Labels[v1alpha1.LabelAttempt] != strconv.Itoa(int(s.attempt)) {
		return nil
	}
	for _, m := range s.members {
		if m.Name == p.Labels[v1alpha1.LabelMember] {
			return m
		}
	}
	return nil
}

func (s *trialScope) pods() []*corev1.Pod {
	var list []*corev1.Pod
	for _, m := range s.members {
		if m.pod != nil {
			list = append(list, m.pod)
		}
	}
	return list
}

func (s *trialScope) stalePods() []*corev1.Pod {
	var list []*corev1.Pod
	for i := range s.others {
		if s.others[i].Labels[v1alpha1.LabelTrial] == s.trial.Name && s.others[i].Namespace == s.trial.Namespace {
			list = append(list, &s.others[i])
		}
	}
	return list
}

func (s *trialScope) command(member string) protocol.Command {
	return protocol.Command{Trial: string(s.trial.UID), Attempt: s.attempt, Member: member}
}

func (s *trialScope) placed() []v1alpha1.MemberNode {
	list := s.measuredOn
	for _, m := range s.members {
		if m.pod != nil && m.pod.Spec.NodeName != "" {
			list = append(list, v1alpha1.MemberNode{Member: m.Name, Node: m.pod.Spec.NodeName})
		}
	}
	return list
}
