package controllers

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// trialScope is what one pass over a trial knows. The gatherer fills the first group; phases fill the second.
type trialScope struct {
	trial *v1alpha1.Trial
	// run is nil when the BenchmarkRun is gone.
	run      *v1alpha1.BenchmarkRun
	siblings []v1alpha1.Trial
	nodes    []plan.Node
	attempt  int32
	// members are the pods that this attempt needs, generators first: those that exist and those that do not.
	members []*member
	// others are measured pods of the installation that are not of this attempt and still exist.
	others []corev1.Pod
	now    time.Time

	// waiting says in a sentence what the trial waits for.
	waiting string
	// turn is true once this pass has seen that no other trial and no other measured pod comes first.
	turn bool
	// prepared and measured are true once this pass has seen it so.
	prepared, measured bool
	// scripts are the run's, as it has frozen them; nil until they are needed.
	scripts []protocol.Script
	// startTime is set when the agents are to be told to start; it is written before they are.
	startTime *time.Time
	// manifest is set when the trial's manifest has been stored.
	manifest *record.Artifact
	// fault is set when the attempt is over without a manifest.
	fault *fault
}

// fault is why an attempt ended. One of the implementation's own making is never tried again.
type fault struct {
	reason  string
	message string
	own     bool
}

func ownFault(reason, format string, args ...any) *fault {
	return &fault{reason: reason, message: fmt.Sprintf(format, args...), own: true}
}

func outsideFault(reason, format string, args ...any) *fault {
	return &fault{reason: reason, message: fmt.Sprintf(format, args...)}
}

func (s *trialScope) slots() []protocol.Slot { return protocol.Timetable(s.trial.Spec.Cells) }

// end is when the last cell ends; zero before a start is set.
func (s *trialScope) end() time.Time {
	if s.trial.Status.StartTime == nil {
		return time.Time{}
	}
	slots := s.slots()
	return s.trial.Status.StartTime.Add(slots[len(slots)-1].End)
}

// measuring says whether the first measured time of this attempt has begun.
func (s *trialScope) measuring() bool {
	start := s.trial.Status.StartTime
	return start != nil && !s.now.Before(start.Add(s.slots()[0].Measure))
}

// cellsDone is the number of cells whose time is over.
func (s *trialScope) cellsDone() int {
	start := s.trial.Status.StartTime
	if start == nil {
		return 0
	}
	return len(slices.DeleteFunc(s.slots(), func(slot protocol.Slot) bool { return start.Add(slot.End).After(s.now) }))
}

// nextEnd is how long it is until the next cell ends.
func (s *trialScope) nextEnd() time.Duration {
	slots := s.slots()
	n := min(s.cellsDone(), len(slots)-1)
	return s.trial.Status.StartTime.Add(slots[n].End).Sub(s.now)
}

// begun is when the attempt began.
func (s *trialScope) begun() time.Time {
	if t := s.trial.Status.AttemptTime; t != nil {
		return t.Time
	}
	return s.now
}

func (s *trialScope) ended() bool { return s.trial.Status.CompletionTime != nil }

// member is one pod of an attempt: the server, or one of its generators.
type member struct {
	// role is that of its agent, such as "generator-0" or "server".
	role string
	// pod is nil when it does not exist.
	pod *corev1.Pod
	// state is nil until its agent has answered in this pass.
	state *protocol.State
}

// newMembers are the members that a trial needs.
func newMembers(t *v1alpha1.Trial) []*member {
	var list []*member
	for i := range max(t.Spec.Generators.Pods, 1) {
		list = append(list, &member{role: protocol.RoleGenerator(i)})
	}
	list = append(list, &member{role: protocol.RoleObserver})
	if t.Spec.Beside != nil {
		list = append(list, &member{role: protocol.RoleBeside})
	}
	return list
}

// generators are the members that make load; there is at least one.
func (s *trialScope) generators() []*member { return s.members[:len(s.members)-len(s.servers())] }

// placePods sorts the installation's measured pods into this attempt's and others.
func (s *trialScope) placePods(pods []corev1.Pod) {
	s.members = newMembers(s.trial)
	for i := range pods {
		p := &pods[i]
		m := s.memberOf(p)
		if m == nil {
			s.others = append(s.others, *p)
			continue
		}
		m.pod = p
	}
}

// memberOf is the member of this attempt that a pod is; nil if it is none.
func (s *trialScope) memberOf(p *corev1.Pod) *member {
	mine := p.Namespace == s.trial.Namespace && slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.trial.UID })
	if !mine || p.Labels[v1alpha1.LabelAttempt] != strconv.Itoa(int(s.attempt)) {
		return nil
	}
	for _, m := range s.members {
		if m.role == p.Labels[v1alpha1.LabelMember] {
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

// before is a trial of the run whose turn comes first and which has not ended; nil if it is this one's turn.
func (s *trialScope) before() *v1alpha1.Trial {
	for i := range s.siblings {
		t := &s.siblings[i]
		if *t.Spec.Index < *s.trial.Spec.Index && t.Status.CompletionTime == nil {
			return t
		}
	}
	return nil
}

func (s *trialScope) order(role string) protocol.Order {
	return protocol.Order{Trial: string(s.trial.UID), Attempt: s.attempt, Role: role}
}
