package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods/podstest"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// pod is a running pod of the trial quick-000-go.
func pod(role string) *corev1.Pod {
	if role != v1alpha1.RoleGenerator {
		return podstest.Running("quick-000-go", record.MemberServer(0), noon)
	}
	p := podstest.Running("quick-000-go", record.MemberGenerator(0), noon)
	p.Status.PodIP = generatorIP
	return p
}

// generatorIP is the address of the generator of scopeOf's trial.
const generatorIP = "192.0.2.9"

// by makes a state that of the agent at an address of scopeOf's trial.
func by(ip string, st protocol.State) protocol.State {
	st.Trial, st.Attempt, st.Member = "trial-uid", 1, record.MemberServer(0)
	if ip == generatorIP {
		st.Member = record.MemberGenerator(0)
	}
	return st
}

// scopeOf is a pass at noon over a trial whose pods run, with changes.
func scopeOf(deltas ...func(*trialScope)) *trialScope {
	memory := resource.MustParse("64Mi")
	s := &trialScope{
		now: noon, attempt: 1, turn: true, members: []*member{{Member: kind.Member{Name: record.MemberGenerator(0)}, pod: pod(v1alpha1.RoleGenerator)}, {Member: kind.Member{Name: record.MemberServer(0)}, pod: pod(v1alpha1.RoleServer)}},
		run: &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "run-uid-1234"}},
		trial: &v1alpha1.Trial{
			ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick-000-go", UID: "trial-uid", Generation: 1},
			Spec: v1alpha1.TrialSpec{
				RunName: "quick", Index: new(int32), Block: 1, Type: v1alpha1.TypeSweep,
				Servers: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080, CPUs: 1, Memory: &memory}},
				Sweep: v1alpha1.Sweep{
					Generators: v1alpha1.Generators{Pods: 1, CPUs: 1},
					Cells:      []v1alpha1.Cell{{Load: "sweep", Tool: v1alpha1.ToolWrk, Connections: 10, Threads: 1, DurationSeconds: 10}, {Load: "sweep", Tool: v1alpha1.ToolWrk, Connections: 100, Threads: 1, DurationSeconds: 10}},
				},
			},
		},
	}
	s.trial.Status.AttemptTime = &metav1.Time{Time: noon}
	for _, d := range deltas {
		d(s)
	}
	return s
}

// describe is "REASON permanent|transient: MESSAGE", or nothing.
func describe(f *conduct.Failure) string {
	if f == nil {
		return ""
	}
	kind := "permanent"
	if f.Kind == conduct.Transient {
		kind = "transient"
	}
	return fmt.Sprintf("%s %s: %s", f.Reason, kind, f.Message)
}

// failedTrial is an ended trial of an implementation.
func failedTrial(index int32, implementation, reason string, started bool) v1alpha1.Trial {
	t := v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("quick-%03d-%s", index, implementation)}}
	t.Spec.Index, t.Spec.Servers = &index, []v1alpha1.Implementation{{Name: implementation}}
	end := metav1.NewMicroTime(noon)
	t.Status.CompletionTime = &end
	if started {
		t.Status.StartTime = &end
	}
	t.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: reason, Message: "it was so"}}
	return t
}

func TestPodsAreSortedByWhoseTheyAre(t *testing.T) {
	change := func(role string, deltas ...func(*corev1.Pod)) corev1.Pod {
		p := pod(role)
		for _, d := range deltas {
			d(p)
		}
		return *p
	}
	attempt2 := func(p *corev1.Pod) { p.Name, p.Labels[v1alpha1.LabelAttempt] = "attempt-2", "2" }
	stranger := func(p *corev1.Pod) { p.Name, p.OwnerReferences[0].UID = "stranger", types.UID("other") }
	ended := func(p *corev1.Pod) { p.Name, p.OwnerReferences[0].UID = "of-a-trial-long-ended", types.UID("ended") }
	elsewhere := func(p *corev1.Pod) { p.Name, p.Namespace = "elsewhere", "other" }
	nobodys := func(p *corev1.Pod) { p.Name, p.Namespace, p.OwnerReferences = "nobodys", "other", nil }
	jobs := func(p *corev1.Pod) {
		p.Name, p.OwnerReferences[0].UID, p.OwnerReferences[0].Kind, p.OwnerReferences[0].APIVersion = "jobs", "job", "Job", "batch/v1"
	}
	dead := func(p *corev1.Pod) {
		stranger(p)
		p.Name, p.Spec.NodeName, p.DeletionTimestamp = "dead", "n9", &metav1.Time{Time: noon}
	}
	alive := func(p *corev1.Pod) {
		dead(p)
		p.Name, p.DeletionTimestamp = "on-a-node-that-is-away", nil
	}
	leaving := func(p *corev1.Pod) {
		dead(p)
		p.Name, p.Spec.NodeName = "leaving", "n1"
	}
	s := scopeOf(func(s *trialScope) {
		s.members, s.nodes = nil, []plan.Node{{Name: "n1"}, {Name: "n9", Away: true, NotReady: true}}
	})
	s.placePods([]corev1.Pod{
		change("server"), change("server", attempt2), change("generator", stranger), change("server", elsewhere), change("generator"),
		change("server", nobodys), change("server", jobs), change("server", dead), change("server", alive), change("server", leaving),
		change("server", ended),
	}, map[types.UID]*v1alpha1.Trial{
		s.trial.UID: s.trial, "other": {}, "ended": {Status: v1alpha1.TrialStatus{CompletionTime: &metav1.MicroTime{Time: noon.Add(-time.Hour)}}},
	})
	if len(s.members) != 2 || s.servers()[0].pod == nil || s.servers()[0].pod.Name != "quick-000-go-1-s0" || s.generators()[0].pod == nil || s.generators()[0].pod.Name != "quick-000-go-1-g0" {
		t.Errorf("this attempt's are %v", s.pods())
	}
	var others []string
	for _, p := range s.others {
		others = append(others, p.Name)
	}
	if got := strings.Join(others, " "); got != "attempt-2 stranger elsewhere on-a-node-that-is-away leaving" {
		t.Errorf("others are %s", got)
	}
}

// The API admits no kind of work that is not known, but an operator may meet what a newer one has left behind.
func TestATrialOfAnUnknownKindEndsWithASentence(t *testing.T) {
	dance := func(s *trialScope) { s.trial.Spec.Type, s.members = "Dance", nil }
	s := scopeOf(dance)
	s.placePods(nil, nil)
	if step, err := (&TrialReconciler{}).follow(t.Context(), s); err != nil || !step.Stop {
		t.Errorf("the pass goes on: %+v, %v", step, err)
	}
	if got := describe(s.fault); !strings.HasPrefix(got, `InvalidSpec permanent: reading the spec of a trial: no kind of work is called "Dance"`) {
		t.Errorf("got %s", got)
	}
	if st := trialStatus(s); st.CompletionTime == nil || st.Progress != "0/0" {
		t.Errorf("its status is %+v", st)
	}
	if f := facts.Trial(s.trial); len(f.Servers) != 1 || f.Servers[0] != "go" || len(f.Work.Members()) != 0 {
		t.Errorf("its run sees %+v", f)
	}
}
