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
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/kind/sweep"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/render"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// pod is a running pod of the trial quick-000-go.
func pod(role string) *corev1.Pod {
	member := record.MemberServer(0)
	if role == v1alpha1.RoleGenerator {
		member = record.MemberGenerator(0)
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: render.PodName("quick-000-go", 1, member), CreationTimestamp: metav1.Time{Time: noon},
			Labels:          map[string]string{v1alpha1.LabelTrial: "quick-000-go", v1alpha1.LabelAttempt: "1", v1alpha1.LabelRole: role, v1alpha1.LabelMember: member},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Trial", Name: "quick-000-go", UID: "trial-uid"}},
		},
		Spec:   corev1.PodSpec{NodeName: "n1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "192.0.2.1"},
	}
	names := []string{sweep.ProcessGenerator}
	if role == v1alpha1.RoleServer {
		names = []string{sweep.ProcessServer, sweep.ProcessObserver}
	}
	for _, n := range names {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: n, Image: n + ":1"})
		s := corev1.ContainerStatus{Name: n, Image: n + ":1"}
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: noon}}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	return p
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
					Cells: []v1alpha1.Cell{{Load: "sweep", Tool: v1alpha1.ToolWrk, Connections: 10, Threads: 1, DurationSeconds: 10}, {Load: "sweep", Tool: v1alpha1.ToolWrk, Connections: 100, Threads: 1, DurationSeconds: 10}},
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

func waitingFor(p *corev1.Pod, container int, why, message string) {
	p.Status.ContainerStatuses[container].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why, Message: message}}
}

func ended(p *corev1.Pod, container int, code int32, why, message string) {
	p.Status.ContainerStatuses[container].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: why, Message: message}}
}

func condOf(status corev1.ConditionStatus, since time.Duration, message string) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Message: message, LastTransitionTime: metav1.Time{Time: noon.Add(-since)}}}
}

func TestWhatBecomesOfPodsIsAFaultOrNot(t *testing.T) {
	tests := map[string]struct {
		change func(*trialScope)
		// want is "", or the reason, "permanent" or "transient", and a part of the message.
		want string
	}{
		"both run": {change: func(*trialScope) {}},
		"a pod was just made": {change: func(s *trialScope) {
			s.servers()[0].pod.Status, s.servers()[0].pod.Spec.NodeName = corev1.PodStatus{}, ""
		}},
		"a pod is being deleted": {change: func(s *trialScope) { s.generators()[0].pod.DeletionTimestamp = &metav1.Time{Time: noon} }, want: "PodLost transient: pod quick-000-go-1-g0 was deleted by another client"},
		"a node refuses a pod": {change: func(s *trialScope) {
			s.servers()[0].pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "UnexpectedAdmissionError", Message: "no CPUs"}
		}, want: "PodLost transient: pod quick-000-go-1-s0: UnexpectedAdmissionError: no CPUs"},
		"a pod is evicted": {change: func(s *trialScope) {
			s.generators()[0].pod.Status.Phase, s.generators()[0].pod.Status.Reason = corev1.PodFailed, "Evicted"
		}, want: "PodLost transient: pod quick-000-go-1-g0: Evicted"},
		"a node is silent":        {change: func(s *trialScope) { s.servers()[0].pod.Status.Phase = corev1.PodUnknown }, want: "PodLost transient: pod quick-000-go-1-s0: node n1 is not responding"},
		"the server ends":         {change: func(s *trialScope) { ended(s.servers()[0].pod, 0, 2, "Error", " panic: oh\n") }, want: `ServerExited permanent: implementations[go] exited (exit code 2, Error, last output: "panic: oh")`},
		"the server ends well":    {change: func(s *trialScope) { ended(s.servers()[0].pod, 0, 0, "Completed", "") }, want: "ServerExited permanent: implementations[go] exited (exit code 0, Completed)"},
		"the server is too large": {change: func(s *trialScope) { ended(s.servers()[0].pod, 0, 137, "OOMKilled", "") }, want: "ServerExited permanent: implementations[go] was killed because it exceeded its memory of 64Mi: raise implementations[].memory"},
		"the observer ends":       {change: func(s *trialScope) { ended(s.servers()[0].pod, 1, 1, "Error", "x") }, want: "AgentLost transient: container observer of pod quick-000-go-1-s0 exited (exit code 1, Error"},
		"the generator ends":      {change: func(s *trialScope) { ended(s.generators()[0].pod, 0, 137, "OOMKilled", "") }, want: "AgentLost transient: container generator of pod quick-000-go-1-g0 exited"},
		"last words are many":     {change: func(s *trialScope) { ended(s.servers()[0].pod, 0, 2, "Error", strings.Repeat("x", 5000)) }, want: "ServerExited permanent: " + `implementations[go] exited (exit code 2, Error, last output: "` + strings.Repeat("x", 297) + `...")`},
		"an image is slow to come": {change: func(s *trialScope) {
			waitingFor(s.servers()[0].pod, 0, "ErrImagePull", "timeout")
			s.servers()[0].pod.Status.Conditions = condOf("True", pullDeadline-time.Second, "")
		}},
		"an image does not come": {
			change: func(s *trialScope) {
				waitingFor(s.servers()[0].pod, 0, "ImagePullBackOff", "not found")
				s.servers()[0].pod.Status.Conditions = condOf("True", pullDeadline, "")
			},
			want: `ImagePull permanent: implementations[go].image: "server:1" cannot be pulled on node n1: not found: correct the name, or load the image into the node`,
		},
		"the agent's image does not come": {
			change: func(s *trialScope) { waitingFor(s.generators()[0].pod, 0, "ErrImageNeverPull", "absent") },
			want:   `ImagePull permanent: the operator's agent image (chart value images.agent): "generator:1" cannot be pulled on node n1: absent`,
		},
		"an image has no name":       {change: func(s *trialScope) { waitingFor(s.servers()[0].pod, 0, "InvalidImageName", "x y") }, want: "ImagePull permanent: implementations[go].image"},
		"an agent cannot be started": {change: func(s *trialScope) { waitingFor(s.generators()[0].pod, 0, "CreateContainerError", "no room") }, want: "AgentFailed transient: container generator of pod quick-000-go-1-g0 cannot be started: no room"},
		"a command is not there": {change: func(s *trialScope) {
			waitingFor(s.servers()[0].pod, 0, "RunContainerError", "exec: /srv: no such file")
		}, want: `ServerExited permanent: container server with image "server:1" cannot be started: exec: /srv: no such file: check implementations[].command`},
		"containers are being made": {change: func(s *trialScope) { waitingFor(s.servers()[0].pod, 0, "ContainerCreating", "") }},
		"a pod waits for a node": {change: func(s *trialScope) {
			s.generators()[0].pod.Status.Conditions = condOf("False", scheduleDeadline, "0/3 nodes")
		}},
		"a pod waits long for a node": {change: func(s *trialScope) {
			s.generators()[0].pod.Status.Conditions = condOf("False", scheduleDeadline+time.Second, "0/3 nodes")
		}, want: "Unschedulable transient: pod quick-000-go-1-g0 was not scheduled within 45s: 0/3 nodes: free CPUs, or label nodes with loadstone.dev/role"},
		"deletion comes before the end": {change: func(s *trialScope) {
			s.servers()[0].pod.DeletionTimestamp = &metav1.Time{Time: noon}
			ended(s.servers()[0].pod, 0, 143, "Error", "")
		}, want: "PodLost transient"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := describe(podFault(scopeOf(tc.change)))
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
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
	elsewhere := func(p *corev1.Pod) { p.Name, p.Namespace = "elsewhere", "other" }
	s := scopeOf(func(s *trialScope) { s.members = nil })
	s.placePods([]corev1.Pod{change("server"), change("server", attempt2), change("generator", stranger), change("server", elsewhere), change("generator")})
	if len(s.members) != 2 || s.servers()[0].pod == nil || s.servers()[0].pod.Name != "quick-000-go-1-s0" || s.generators()[0].pod == nil || s.generators()[0].pod.Name != "quick-000-go-1-g0" {
		t.Errorf("this attempt's are %v", s.pods())
	}
	var others []string
	for _, p := range s.others {
		others = append(others, p.Name)
	}
	if got := strings.Join(others, " "); got != "attempt-2 stranger elsewhere" {
		t.Errorf("others are %s", got)
	}
}
