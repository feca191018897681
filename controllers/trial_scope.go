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

// trialScope is what one pass over a trial knows. The gatherer fills the first group; phases fill the second.
type trialScope struct {
	trial *v1alpha1.Trial
	// run is nil when the BenchmarkRun is gone.
	run *v1alpha1.BenchmarkRun
	// plan is the run's, empty when it is gone or unplanned says why this operator cannot compile or read it. Its requests may lack the bodies that the
	// run has frozen until readBodies has read them.
	plan      plan.Plan
	unplanned error
	// siblings are the trials of the run, this one among them; none while the plan is awaited.
	siblings conduct.Trials
	nodes    []plan.Node
	attempt  int32
	// members are the pods that this attempt needs, generators first: those that exist and those that do not.
	members []*member
	// others are measured pods of the installation that are not of this attempt and still hold CPUs.
	others []corev1.Pod
	now    time.Time

	// waiting says in a sentence what the trial waits for, and why is its reason where that is away or refuses.
	waiting, why string
	// suspectSince is since when a failure has lasted that ends the attempt if it goes on.
	suspectSince *time.Time
	// turn is true once this pass has seen that no other trial and no other measured pod comes first.
	turn bool
	// prepared and measured are true once this pass has seen it so.
	prepared, measured bool
	// unmounted is what kubelets say of volumes that they cannot mount, by the pod's name.
	unmounted map[string]string
	// scripts are the run's, as it has frozen them; nil until they are needed.
	scripts []protocol.Script
	// startTime is set when the agents are to be told to start; it is written before they are.
	startTime *time.Time
	// manifest is set when the trial's manifest has been stored, and measuredOn, beside it, if that was before somebody deleted the trial.
	manifest   *record.Artifact
	measuredOn []v1alpha1.MemberNode
	// fault is set when the attempt is over without a manifest.
	fault *conduct.Failure
}

// awaitsPlan reports whether the plan of the run is stored and cannot be read now.
func (s *trialScope) awaitsPlan() bool {
	refused := (*plan.Violation)(nil)
	return s.unplanned != nil && !errors.As(s.unplanned, &refused) && !artifact.Unreadable(s.unplanned)
}

// Hindered implements pass.Scope. An operator that fails at a trial would do so at each pass, while the trial's pods hold their CPUs.
func (s *trialScope) Hindered(err error) {
	s.waiting = err.Error()
	if errors.Is(err, util.ErrPanic) && !s.ended() {
		s.fault = conduct.OperatorFailed(err)
	}
}

// await waits for what is away or refuses: the run says so at once.
func (s *trialScope) await(what string) { s.why, s.waiting = v1alpha1.ReasonTrialWaiting, what }

// States implements pass.Scope.
func (s *trialScope) States() (before, after *v1alpha1.Trial) {
	after = s.trial.DeepCopy()
	after.Status = trialStatus(s)
	return s.trial, after
}

func (s *trialScope) ended() bool { return s.trial.Status.CompletionTime != nil }

// member is one pod of an attempt: the server, or one of its generators.
type member struct {
	kind.Member
	// pod is nil when it does not exist.
	pod *corev1.Pod
	// state is nil until its agent has answered in this pass. asked is true of a generator that this pass has asked for its check.
	state *protocol.State
	asked bool
}

// agentStates are what the agents have said in this pass.
func (s *trialScope) agentStates() []protocol.State {
	var list []protocol.State
	for _, m := range s.members {
		list = append(list, *m.state)
	}
	return list
}

// seen are members whose agents have answered in this pass, for package conduct.
func seen(members []*member) []conduct.Seen {
	var list []conduct.Seen
	for _, m := range members {
		list = append(list, conduct.Seen{Agent: agentIn(m.pod), State: *m.state, Since: pods.ContainerStart(m.pod, m.pod.Spec.Containers[0].Name), Asked: m.asked})
	}
	return list
}

// generators are the members that make load; of a program that measures itself there is none.
func (s *trialScope) generators() []*member { return s.members[:len(s.members)-len(s.servers())] }

// placePods sorts the installation's measured pods into this attempt's and others. Owners are the trials that control them, by their UID.
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

// memberOf is the member of this attempt that a pod is; nil if it is none.
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

// pods are the pods of this attempt that exist.
func (s *trialScope) pods() []*corev1.Pod {
	var list []*corev1.Pod
	for _, m := range s.members {
		if m.pod != nil {
			list = append(list, m.pod)
		}
	}
	return list
}

// stalePods are the pods of earlier attempts at this trial.
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

// placed is where the pods of the attempt are.
func (s *trialScope) placed() []v1alpha1.MemberNode {
	list := s.measuredOn
	for _, m := range s.members {
		if m.pod != nil && m.pod.Spec.NodeName != "" {
			list = append(list, v1alpha1.MemberNode{Member: m.Name, Node: m.pod.Spec.NodeName})
		}
	}
	return list
}
