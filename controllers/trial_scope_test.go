package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods/podstest"
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
	s := &trialScope{
		now: noon, attempt: 1, turn: true, plan: planOfScope(), members: []*member{memberIn(record.MemberGenerator(0), pod(v1alpha1.RoleGenerator)), memberIn(record.MemberServer(0), pod(v1alpha1.RoleServer))},
		run: &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "run-uid-1234"}},
		trial: &v1alpha1.Trial{
			ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick-000-go", UID: "trial-uid", Generation: 1},
			Spec: v1alpha1.TrialSpec{
				RunName: "quick", Index: new(int32), Block: 1,
			},
		},
	}
	s.trial.Status.AttemptTime = &metav1.Time{Time: noon}
	for _, d := range deltas {
		d(s)
	}
	return s
}

// memberIn is a member with the first container of a pod as its process.
func memberIn(name string, p *corev1.Pod) *member {
	return &member{Member: kind.Member{Name: name, Processes: []kind.Process{{Name: p.Spec.Containers[0].Name}}}, pod: p}
}

// planOfScope is the plan of scopeOf's run: ten blocks of one implementation.
func planOfScope() plan.Plan {
	cell := record.Cell{Load: "sweep", Tool: "wrk", Connections: 10, Threads: 1, DurationSeconds: 10}
	p := plan.Plan{Plan: record.Plan{
		Blocks: 10, Generators: record.Generators{Pods: 1, CPUs: 1}, Cells: []record.Cell{cell, cell},
		Implementations: []record.Implementation{{Name: "go", Image: "go:1", Port: 8080, CPUs: 1, MemoryBytes: 64 << 20}},
	}}
	p.Cells[1].Connections = 100
	for i := range p.Blocks {
		p.Trials = append(p.Trials, record.PlannedTrial{Name: fmt.Sprintf("quick-%03d-go", i), Index: i, Block: i + 1, Type: record.Sweep, Servers: []string{"go"}})
	}
	return p
}

func inBlock(block int32) func(*trialScope) {
	return func(s *trialScope) {
		index := block - 1
		s.trial.Name, s.trial.Spec.Index, s.trial.Spec.Block = fmt.Sprintf("quick-%03d-go", index), &index, block
	}
}

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

func failedTrial(index int32, implementation, reason string, started bool) v1alpha1.Trial {
	t := v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("quick-%03d-%s", index, implementation)}}
	t.Spec.Index = &index
	end := metav1.NewMicroTime(noon)
	t.Status.CompletionTime = &end
	if started {
		t.Status.StartTime = &end
	}
	t.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: reason, Message: "it was so"}}
	return t
}

func TestPodsAreSortedByOwner(t *testing.T) {
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

// Another version of the operator may plan other trials, or refuse the spec of the run.
func TestTrialMissingFromPlanEndsWithMessage(t *testing.T) {
	const other = "InvalidSpec permanent: another version of the operator created the trial, and this version cannot measure it: "
	for name, tc := range map[string]struct {
		change func(*trialScope)
		want   string
	}{
		"another name":  {func(s *trialScope) { s.trial.Name = "quick-000-old" }, other + "the plan of BenchmarkRun quick has no trial quick-000-old with index 0 in block 1: start a new run"},
		"another index": {func(s *trialScope) { *s.trial.Spec.Index = 3 }, other + "the plan of BenchmarkRun quick has no trial quick-000-go with index 3 in block 1"},
		"a spec that this version refuses": {func(s *trialScope) {
			s.plan, s.unplanned = plan.Plan{}, &plan.Violation{Message: "spec.loads is empty"}
		}, other + "spec.loads is empty: start a new run"},
		"a run that has ended": {func(s *trialScope) {
			s.plan, s.unplanned = plan.Plan{}, &plan.Violation{Message: "spec.loads is empty"}
			s.run.Status.CompletionTime = &metav1.Time{Time: noon}
		}, "Done permanent: BenchmarkRun quick has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(tc.change)
			s.trial.Status.Progress = "1/2"
			s.placePods(nil, nil)
			if step, err := (&TrialReconciler{}).follow(t.Context(), s); err != nil || !step.Stop {
				t.Errorf("the pass goes on: %+v, %v", step, err)
			}
			if got := describe(s.fault); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if st := trialStatus(s); st.CompletionTime == nil || st.Progress != "1/2" {
				t.Errorf("its status is %+v", st)
			}
		})
	}
}

func TestTrialsOfTheWholeRunAreFoundInThePlan(t *testing.T) {
	for block := int32(1); block <= 12; block++ {
		s := scopeOf(inBlock(block))
		if step, err := (&TrialReconciler{}).follow(t.Context(), s); err != nil || step.Stop || len(s.planned().Servers) != 1 {
			t.Errorf("trial %s ends with %s, %v", s.trial.Name, describe(s.fault), err)
		}
	}
}
