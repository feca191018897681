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
	// server and generator are the pods of this attempt; nil when absent.
	server, generator *corev1.Pod
	// others are measured pods of the installation that are not of this attempt and still exist.
	others []corev1.Pod
	now    time.Time

	// observerState and generatorState are nil until the agents have answered in this pass.
	observerState, generatorState *protocol.State
	// waiting says in a sentence what the trial waits for.
	waiting string
	// turn is true once this pass has seen that no other trial and no other measured pod comes first.
	turn bool
	// prepared and measured are true once this pass has seen it so.
	prepared, measured bool
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

// placePods sorts the installation's measured pods into this attempt's and others.
func (s *trialScope) placePods(pods []corev1.Pod) {
	for i := range pods {
		p := &pods[i]
		mine := p.Namespace == s.trial.Namespace && slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.trial.UID })
		switch {
		case !mine || p.Labels[v1alpha1.LabelAttempt] != strconv.Itoa(int(s.attempt)):
			s.others = append(s.others, *p)
		case p.Labels[v1alpha1.LabelRole] == v1alpha1.RoleServer:
			s.server = p
		case p.Labels[v1alpha1.LabelRole] == v1alpha1.RoleGenerator:
			s.generator = p
		}
	}
}

// ownPods are the pods of any attempt at this trial.
func (s *trialScope) ownPods() []*corev1.Pod {
	var list []*corev1.Pod
	for _, p := range []*corev1.Pod{s.server, s.generator} {
		if p != nil {
			list = append(list, p)
		}
	}
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

// agentOf is one agent of a trial: its pod, where its state of this pass goes, and its role.
type agentOf struct {
	pod   *corev1.Pod
	state **protocol.State
	role  string
}

// agents are the agents of the attempt, the one that makes load first.
func (s *trialScope) agents() []agentOf {
	return []agentOf{
		{s.generator, &s.generatorState, protocol.RoleGenerator(0)},
		{s.server, &s.observerState, protocol.RoleObserver},
	}
}
