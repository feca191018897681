package pods_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// programAttempt is the first try at a trial of one program, whose agent was brought and whose containers run at noon.
func programAttempt() pods.Attempt {
	work := microbenchmark.Microbenchmark{
		Program:  record.Implementation{Name: "old", Image: "bench:1", Command: []string{"/bench"}, CPUs: 1, MemoryBytes: 64 << 20},
		Programs: record.Programs{Format: record.GoTest, LimitSeconds: 60},
	}
	tr := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "parsers-000-old"}}
	p := render.Pod(tr, work.Members()[0], timetable.End(work.Slots()), render.PodOptions{AgentImage: "agent:1", Attempt: 1})
	p.Spec.NodeName, p.Status.Phase, p.Status.PodIP = "n1", corev1.PodRunning, "192.0.2.1"
	p.Status.Conditions = condOf("True", 0, "")
	for _, c := range p.Spec.InitContainers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image}
		s.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed"}
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
	}
	for _, c := range p.Spec.Containers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image}
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: noon}}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	return pods.Attempt{Pods: []*corev1.Pod{p}, Work: work, Now: noon}
}

// starting puts the pod of a program back to where its agent is being brought, in a state.
func starting(a *pods.Attempt, bring corev1.ContainerState) {
	status := &a.Pods[0].Status
	status.Phase, status.InitContainerStatuses[0].State = corev1.PodPending, bring
	for i := range status.ContainerStatuses {
		waitingFor(a.Pods[0], i, "PodInitializing", "")
	}
}

func bringerWaits(why, message string) func(*pods.Attempt) {
	return func(a *pods.Attempt) {
		starting(a, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why, Message: message}})
	}
}

func bringerEnded(code int32, why, message string) func(*pods.Attempt) {
	return func(a *pods.Attempt) {
		starting(a, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: why, Message: message}})
	}
}

// long lets something be so for as long as a container may fail to be started.
func long(change func(*pods.Attempt)) func(*pods.Attempt) {
	return func(a *pods.Attempt) {
		change(a)
		a.Now = a.Now.Add(pods.StartDeadline)
	}
}

func TestWhatBecomesOfThePodOfAProgramIsAFaultOrNot(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*pods.Attempt)
		want   string
	}{
		"both containers run":                 {func(*pods.Attempt) {}, ""},
		"the agent is being brought":          {func(a *pods.Attempt) { starting(a, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}) }, ""},
		"the agent was brought":               {bringerEnded(0, "Completed", ""), ""},
		"the agent cannot be brought":         {bringerEnded(1, "Error", "no space left on device"), `AgentLost transient: container bring of pod parsers-000-old-1-s0 exited (exit code 1, Error, last output: "no space left on device")`},
		"the agent is too large to bring":     {bringerEnded(137, "OOMKilled", ""), "AgentLost transient: container bring of pod"},
		"the agent's image does not come":     {bringerWaits("ErrImageNeverPull", "absent"), `ImagePull permanent: the operator's agent image (chart value images.agent): "agent:1" cannot be pulled on node n1: absent`},
		"what brings it cannot be made":       {long(bringerWaits("CreateContainerError", "no room")), "AgentFailed transient: container bring of pod parsers-000-old-1-s0 cannot be started: no room"},
		"the program's container cannot run":  {func(a *pods.Attempt) { waitingFor(a.Pods[0], 0, "RunContainerError", "exec format error") }, "ProgramFailed permanent: "},
		"the program has done its work":       {func(a *pods.Attempt) { ended(a.Pods[0], 0, 0, "Completed", "") }, ""},
		"the program fails":                   {func(a *pods.Attempt) { ended(a.Pods[0], 0, 3, "Error", "panic: oh\n") }, `ProgramFailed permanent: implementations[old] exited (exit code 3, Error, last output: "panic: oh")`},
		"the program is too large":            {func(a *pods.Attempt) { ended(a.Pods[0], 0, 137, "OOMKilled", "") }, "ProgramFailed permanent: implementations[old] was killed because it exceeded its memory of 64Mi: raise implementations[].memory"},
		"the collector ends, if ever so well": {func(a *pods.Attempt) { ended(a.Pods[0], 1, 0, "Completed", "") }, "AgentLost transient: container collector of pod parsers-000-old-1-s0 exited (exit code 0, Completed)"},
		"the program's image does not come":   {func(a *pods.Attempt) { waitingFor(a.Pods[0], 0, "InvalidImageName", "x y") }, `ImagePull permanent: implementations[old].image: "bench:1" cannot be pulled`},
		"both have ended, the program well and the collector not": {func(a *pods.Attempt) {
			ended(a.Pods[0], 0, 0, "Completed", "")
			ended(a.Pods[0], 1, 1, "Error", "")
		}, "AgentLost transient: container collector"},
	} {
		t.Run(name, func(t *testing.T) {
			a := programAttempt()
			tc.change(&a)
			got := describe(a.Fault())
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestThePodOfAProgramRunsAlsoWhenTheProgramHasEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*pods.Attempt)
		want   bool
	}{
		"both run":                   {func(*pods.Attempt) {}, true},
		"the program has ended":      {func(a *pods.Attempt) { ended(a.Pods[0], 0, 0, "Completed", "") }, true},
		"the agent is being brought": {bringerWaits("PodInitializing", ""), false},
		"the collector is made":      {func(a *pods.Attempt) { waitingFor(a.Pods[0], 1, "ContainerCreating", "") }, false},
		"it has no address":          {func(a *pods.Attempt) { a.Pods[0].Status.PodIP = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := programAttempt()
			tc.change(&a)
			if got := pods.Running(a.Pods[0], a.Work.EndsItself()); got != tc.want {
				t.Errorf("it runs: %v", got)
			}
		})
	}
}

// A registry that stumbles over the agent's image gets as much time as one that stumbles over a program's.
func TestTheImageOfTheAgentIsAwaited(t *testing.T) {
	for after, want := range map[time.Duration]bool{pods.PullDeadline - time.Second: false, pods.PullDeadline: true} {
		a := programAttempt()
		bringerWaits("ImagePullBackOff", "timeout")(&a)
		a.Now = noon.Add(after)
		if f := a.Fault(); (f != nil) != want {
			t.Errorf("after %s: %s", after, describe(f))
		}
	}
}

// What the agent's image takes is not taken from the time of the program's.
func TestTheImageOfAProgramIsAwaitedFromWhenTheAgentIsThere(t *testing.T) {
	const brought = 30 * time.Second
	for after, want := range map[time.Duration]bool{brought: false, brought + pods.PullDeadline - time.Second: false, brought + pods.PullDeadline: true} {
		a := programAttempt()
		a.Pods[0].Status.InitContainerStatuses[0].State.Terminated.FinishedAt = metav1.Time{Time: noon.Add(brought)}
		waitingFor(a.Pods[0], 0, "ImagePullBackOff", "timeout")
		a.Now = noon.Add(after)
		if f := a.Fault(); (f != nil) != want {
			t.Errorf("after %s: %s", after, describe(f))
		}
	}
}

func TestAFullDiskIsTheProgramsIfTheProgramFilledIt(t *testing.T) {
	for message, own := range map[string]bool{
		`Container program exceeded its local ephemeral storage limit "2Gi". `:                           true,
		`Pod ephemeral local storage usage exceeds the total limit of containers 4Gi. `:                  true,
		`Usage of EmptyDir volume "loadstone" exceeds the limit "256Mi". `:                               true,
		`Usage of EmptyDir volume "scratch-0" exceeds the limit "256Mi". `:                               true,
		`Container collector exceeded its local ephemeral storage limit "2Gi". `:                         false,
		`Usage of EmptyDir volume "data" exceeds the limit "1Gi". `:                                      false,
		`The node was low on resource: ephemeral-storage. Container program was using 3Gi, request is 0`: false,
	} {
		a := programAttempt()
		a.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: message}
		want := "PodLost transient: pod parsers-000-old-1-s0: Evicted: "
		if own {
			want = "ProgramFailed permanent: implementations[old] was evicted because it filled its disk: write or print less, or raise the size of its scratch: "
		}
		if got := describe(a.Fault()); got != want+strings.TrimSpace(message) && got != want+message {
			t.Errorf("%q gives %q", message, got)
		}
	}
}
