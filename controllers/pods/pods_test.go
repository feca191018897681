package pods_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/pods/podstest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// attempt is the first try at a trial of one server, whose pods were made an hour before noon and have just begun to run.
func attempt() pods.Attempt {
	a := pods.Attempt{
		Pods: []*corev1.Pod{podstest.Running("quick-000-go", record.MemberGenerator(0), noon), podstest.Running("quick-000-go", record.MemberServer(0), noon)},
		Work: sweep.Sweep{
			Implementations: []record.Implementation{{Name: "go", Image: "go:1", Port: 8080, CPUs: 1, MemoryBytes: 64 << 20}},
			Generators:      record.Generators{Pods: 1},
		},
		Now: noon,
	}
	for _, p := range a.Pods {
		p.CreationTimestamp = metav1.Time{Time: noon.Add(-time.Hour)}
	}
	return a
}

func generator(a *pods.Attempt) *corev1.Pod { return a.Pods[0] }

func server(a *pods.Attempt) *corev1.Pod { return a.Pods[1] }

func waitingFor(p *corev1.Pod, container int, why, message string) {
	p.Status.ContainerStatuses[container].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why, Message: message}}
}

func ended(p *corev1.Pod, container int, code int32, why, message string) {
	p.Status.ContainerStatuses[container].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: why, Message: message}}
}

func condOf(status corev1.ConditionStatus, since time.Duration, message string) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Message: message, LastTransitionTime: metav1.Time{Time: noon.Add(-since)}}}
}

func TestAPodThatHasWaitedForTooLongIsMadeAgain(t *testing.T) {
	const needs, life = 12 * time.Minute, 30 * time.Minute
	over := func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "DeadlineExceeded" }
	for name, tc := range map[string]struct {
		// waited is how long ago the pod was ready, and took how long that had taken since it was on its node.
		waited, took time.Duration
		change       func(*corev1.Pod)
		want         bool
	}{
		"it is ready":                  {},
		"it has just enough time left": {waited: life - needs},
		"it has not":                   {waited: life - needs + 1, want: true},
		"its time is over":             {waited: life + time.Minute, change: over, want: true},
		"it has waited, and took long to get ready": {waited: life - needs, took: time.Minute, want: true},
		"it took all its time to get ready":         {waited: time.Minute, took: life - needs + 1},
		"its time is over before it was ready":      {took: life, change: over},
		"it was evicted": {waited: time.Hour, change: func(p *corev1.Pod) {
			p.Status.StartTime, p.Status.Phase, p.Status.Reason = nil, corev1.PodFailed, "Evicted"
		}},
		"nobody bounds its life": {waited: time.Hour, change: func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			p := podstest.Running("quick-000-go", record.MemberServer(0), noon.Add(-tc.waited))
			p.Status.StartTime, p.Spec.ActiveDeadlineSeconds = &metav1.Time{Time: noon.Add(-tc.waited - tc.took)}, new(int64(life.Seconds()))
			if tc.change != nil {
				tc.change(p)
			}
			a.Pods[1] = p
			if got := a.Expired(needs); (got == p) != tc.want {
				t.Errorf("expired is %v", got)
			}
		})
	}
}

func TestWhatBecomesOfPodsIsAFaultOrNot(t *testing.T) {
	tests := map[string]struct {
		change func(*pods.Attempt)
		// want is "", or the reason, "permanent" or "transient", and a part of the message.
		want string
	}{
		"both run": {change: func(*pods.Attempt) {}},
		"a pod was just made": {change: func(a *pods.Attempt) {
			server(a).Status, server(a).Spec.NodeName = corev1.PodStatus{}, ""
		}},
		"a pod is being deleted": {change: func(a *pods.Attempt) { generator(a).DeletionTimestamp = &metav1.Time{Time: noon} }, want: "PodLost transient: another client deleted pod quick-000-go-1-g0"},
		"a node refuses a pod": {change: func(a *pods.Attempt) {
			server(a).Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "UnexpectedAdmissionError", Message: "no CPUs"}
		}, want: "PodLost transient: pod quick-000-go-1-s0: UnexpectedAdmissionError: no CPUs"},
		"a kubelet with whole cores refuses an odd server": {change: func(a *pods.Attempt) {
			server(a).Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "SMTAlignmentError", Message: "SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2"}
		}, want: "PodRejected permanent: node n1 assigns only whole cores (full-pcpus-only) and refuses pod quick-000-go-1-s0: SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2: set cpus of implementations[go] and of its dependencies to a multiple of the threads per core, such as 2"},
		"a kubelet with whole cores refuses an odd generator": {change: func(a *pods.Attempt) {
			generator(a).Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "SMTAlignmentError", Message: "SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2"}
		}, want: "PodRejected permanent: node n1 assigns only whole cores (full-pcpus-only) and refuses pod quick-000-go-1-g0: SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2: set generators.cpus of the loads to a multiple"},
		"a kubelet has no whole core left": {change: func(a *pods.Attempt) {
			server(a).Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "SMTAlignmentError", Message: "SMT Alignment Error: not enough free physical CPUs"}
		}, want: "PodLost transient: pod quick-000-go-1-s0: SMTAlignmentError: SMT Alignment Error: not enough free physical CPUs"},
		"a mesh adds a proxy": {change: func(a *pods.Attempt) {
			p := server(a)
			p.Spec.Containers = append([]corev1.Container{{Name: "istio-proxy"}}, p.Spec.Containers...)
			p.Status.ContainerStatuses = append([]corev1.ContainerStatus{{Name: "istio-proxy"}}, p.Status.ContainerStatuses...)
		}, want: "PodRejected permanent: pod quick-000-go-1-s0 has a foreign container, istio-proxy: a webhook added it"},
		"a mesh adds a proxy before all others": {change: func(a *pods.Attempt) {
			generator(a).Spec.InitContainers = []corev1.Container{{Name: "linkerd-proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
		}, want: "PodRejected permanent: pod quick-000-go-1-g0 has a foreign container, linkerd-proxy: a webhook added it"},
		"a pod is evicted": {change: func(a *pods.Attempt) {
			generator(a).Status.Phase, generator(a).Status.Reason = corev1.PodFailed, "Evicted"
		}, want: "PodLost transient: pod quick-000-go-1-g0: Evicted"},
		"a node is silent":        {change: func(a *pods.Attempt) { server(a).Status.Phase = corev1.PodUnknown }, want: "PodLost transient: pod quick-000-go-1-s0: node n1 is not responding"},
		"the server ends":         {change: func(a *pods.Attempt) { ended(server(a), 0, 2, "Error", " panic: oh\n") }, want: `ServerExited permanent: implementations[go] exited (exit code 2, Error, last output: "panic: oh")`},
		"the server ends well":    {change: func(a *pods.Attempt) { ended(server(a), 0, 0, "Completed", "") }, want: "ServerExited permanent: implementations[go] exited (exit code 0, Completed)"},
		"the server is too large": {change: func(a *pods.Attempt) { ended(server(a), 0, 137, "OOMKilled", "") }, want: "ServerExited permanent: implementations[go] was killed because it exceeded its memory of 64Mi: raise implementations[].memory"},
		"the observer ends":       {change: func(a *pods.Attempt) { ended(server(a), 1, 1, "Error", "x") }, want: "AgentLost transient: container observer of pod quick-000-go-1-s0 exited (exit code 1, Error"},
		"the generator ends":      {change: func(a *pods.Attempt) { ended(generator(a), 0, 137, "OOMKilled", "") }, want: "AgentLost transient: container generator of pod quick-000-go-1-g0 exited"},
		"last words are many":     {change: func(a *pods.Attempt) { ended(server(a), 0, 2, "Error", strings.Repeat("x", 5000)) }, want: "ServerExited permanent: " + `implementations[go] exited (exit code 2, Error, last output: "` + strings.Repeat("x", 297) + `...")`},
		"a node is too slow to start the server": {
			change: func(a *pods.Attempt) {
				ended(server(a), 0, 128, "StartError", "failed to start containerd task: context deadline exceeded")
			},
			want: "PodLost transient: node n1 did not start container server of pod quick-000-go-1-s0: failed to start containerd task: context deadline exceeded",
		},
		"the server's image lacks its program": {
			change: func(a *pods.Attempt) { ended(server(a), 0, 128, "StartError", "exec: /srv: no such file or directory") },
			want:   "ServerExited permanent: implementations[go] exited (exit code 128, StartError",
		},
		"an image is slow to come": {change: func(a *pods.Attempt) {
			waitingFor(server(a), 0, "ErrImagePull", "timeout")
			server(a).Status.Conditions = condOf("True", pods.PullDeadline-time.Second, "")
		}},
		"an image does not come": {
			change: func(a *pods.Attempt) {
				waitingFor(server(a), 0, "ImagePullBackOff", "not found")
				server(a).Status.Conditions = condOf("True", pods.PullDeadline, "")
			},
			want: `ImagePull permanent: implementations[go].image: "server:1" cannot be pulled on node n1: not found: correct the name, or load the image into the node`,
		},
		"the agent's image does not come": {
			change: func(a *pods.Attempt) { waitingFor(generator(a), 0, "ErrImageNeverPull", "absent") },
			want:   `ImagePull permanent: the operator's agent image (chart value images.agent): "generator:1" cannot be pulled on node n1: absent`,
		},
		"an image is denied to a pod with pull secrets": {
			change: func(a *pods.Attempt) {
				waitingFor(server(a), 0, "ErrImagePull", "denied")
				server(a).Status.Conditions = condOf("True", pods.PullDeadline, "")
				server(a).Namespace, server(a).Spec.ImagePullSecrets = "bench", []corev1.LocalObjectReference{{Name: "mirror"}, {Name: "registry"}}
			},
			want: `ImagePull permanent: implementations[go].image: "server:1" cannot be pulled on node n1: denied: correct the name, or load the image into the node, or check that the pull Secrets mirror, registry in namespace bench exist and allow it`,
		},
		"an image that is never pulled needs no pull secret": {
			change: func(a *pods.Attempt) {
				waitingFor(server(a), 0, "ErrImageNeverPull", "absent")
				server(a).Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "mirror"}}
			},
			want: "ImagePull permanent: implementations[go].image",
		},
		"an image has no name":       {change: func(a *pods.Attempt) { waitingFor(server(a), 0, "InvalidImageName", "x y") }, want: "ImagePull permanent: implementations[go].image"},
		"an agent cannot be started": {change: func(a *pods.Attempt) { waitingFor(generator(a), 0, "CreateContainerError", "no room") }, want: "AgentFailed transient: container generator of pod quick-000-go-1-g0 cannot be started: no room"},
		"a command is not there": {change: func(a *pods.Attempt) {
			waitingFor(server(a), 0, "RunContainerError", "exec: /srv: no such file")
		}, want: `ServerExited permanent: container server with image "server:1" cannot be started: exec: /srv: no such file: check command of implementations[go]`},
		"a Secret is not there": {change: func(a *pods.Attempt) {
			waitingFor(server(a), 0, "CreateContainerConfigError", `secret "db" not found`)
		}, want: `ServerExited permanent: container server with image "server:1" cannot be started: secret "db" not found: check env, envFrom and user of implementations[go]`},
		"containers are being made": {change: func(a *pods.Attempt) { waitingFor(server(a), 0, "ContainerCreating", "") }},
		"a pod waits for a node": {change: func(a *pods.Attempt) {
			generator(a).Status.Conditions = condOf("False", pods.ScheduleDeadline, "0/3 nodes")
		}},
		"a pod waits long for a node": {change: func(a *pods.Attempt) {
			generator(a).Status.Conditions = condOf("False", pods.ScheduleDeadline+time.Second, "0/3 nodes")
		}, want: "Unschedulable permanent: pod quick-000-go-1-g0 was not scheduled within 45s: 0/3 nodes: free CPUs, label nodes with loadstone.dev/role, or raise spec.patienceSeconds"},
		"deletion comes before the end": {change: func(a *pods.Attempt) {
			server(a).DeletionTimestamp = &metav1.Time{Time: noon}
			ended(server(a), 0, 143, "Error", "")
		}, want: "PodLost transient"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			tc.change(&a)
			got := describe(a.Fault())
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
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

func TestAPodThatIsBoundToANodeWaitsForItByName(t *testing.T) {
	a := attempt()
	server(&a).Spec.NodeName = ""
	if got := a.AwaitedNode(); got != "" {
		t.Errorf("a pod that is free to run anywhere waits: %s", got)
	}
	a.Trials = conduct.Trials{{
		PlannedTrial: record.PlannedTrial{Name: "quick-000-go"}, Ended: noon, Stored: &record.Artifact{Name: "manifest.json"},
		Nodes: []record.BoundNode{{Member: record.MemberServer(0), Node: "n7"}},
	}}
	const bound = "node n7, where trial quick-000-go was measured: all trials of a run share their nodes"
	if got, want := a.AwaitedNode(), "pod quick-000-go-1-s0 is waiting for "+bound; got != want || !strings.Contains(got, conduct.AwaitsNode) {
		t.Errorf("it says %q, want %q", got, want)
	}
	server(&a).Status.Conditions = condOf("False", 24*time.Hour, "0/3 nodes")
	if f := a.Fault(); f != nil {
		t.Errorf("it ends with %q", describe(f))
	}
	if got, want := a.AwaitedNode(), "pod quick-000-go-1-s0 is waiting for "+bound+": 0/3 nodes: restore the node or free its resources, or start a new run"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestPodsHaveSettledWhenTheLastHasItsNode(t *testing.T) {
	a := attempt()
	if got := pods.Settled(nil); !got.IsZero() {
		t.Errorf("of no pods it is %s", got)
	}
	if got := pods.Settled(a.Pods); !got.Equal(noon) {
		t.Errorf("pods whose containers began at noon have settled at %s", got)
	}
	server(&a).Status.Conditions = condOf("True", -time.Minute, "")
	if got := pods.Settled(a.Pods); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("pods of which one waited a minute for its node have settled at %s", got)
	}
	generator(&a).Status.ContainerStatuses[0].State.Running.StartedAt = metav1.Time{Time: noon.Add(8 * time.Minute)}
	if got := pods.Settled(a.Pods); !got.Equal(noon.Add(8 * time.Minute)) {
		t.Errorf("pods of which one waited eight minutes for its image have settled at %s", got)
	}
}

func TestAPodRunsWhenAllOfItsContainersDo(t *testing.T) {
	for name, tc := range map[string]struct {
		change     func(*corev1.Pod)
		endsItself bool
		want       bool
	}{
		"all run":                            {change: func(*corev1.Pod) {}, want: true},
		"it has no address yet":              {change: func(p *corev1.Pod) { p.Status.PodIP = "" }},
		"one has no status yet":              {change: func(p *corev1.Pod) { p.Status.ContainerStatuses = p.Status.ContainerStatuses[:1] }},
		"one waits":                          {change: func(p *corev1.Pod) { waitingFor(p, 1, "ContainerCreating", "") }, endsItself: true},
		"one has ended":                      {change: func(p *corev1.Pod) { ended(p, 0, 0, "Completed", "") }},
		"one has ended, as its work is over": {change: func(p *corev1.Pod) { ended(p, 0, 0, "Completed", "") }, endsItself: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := podstest.Running("quick-000-go", record.MemberServer(0), noon)
			tc.change(p)
			if got := pods.Running(p, tc.endsItself); got != tc.want {
				t.Errorf("it runs: %v", got)
			}
		})
	}
	p := podstest.Running("quick-000-go", record.MemberServer(0), noon)
	p.CreationTimestamp = metav1.Time{Time: noon.Add(-time.Minute)}
	if got := pods.ContainerStart(p, sweep.ProcessServer); !got.Equal(noon) {
		t.Errorf("its server runs since %s", got)
	}
	waitingFor(p, 0, "ContainerCreating", "")
	if got := pods.ContainerStart(p, sweep.ProcessServer); !got.Equal(noon.Add(-time.Minute)) {
		t.Errorf("a container that waits has been awaited since %s", got)
	}
}

func depending(state corev1.ContainerStatus) func(*pods.Attempt) {
	return func(a *pods.Attempt) {
		work := a.Work.(sweep.Sweep)
		work.Implementations[0].Dependencies = []record.Dependency{{Name: "db", Image: "redis:7", Port: 6379, MemoryBytes: 64 << 20, Container: record.Container{Readiness: record.Readiness{Seconds: 60}}}}
		state.Name, state.Image = "dep-db", "redis:7"
		server(a).Status.InitContainerStatuses = []corev1.ContainerStatus{state}
	}
}

// A kubelet names the volume that was overfull: whose it was is to be blamed.
func TestWhoFillsADiskIsBlamed(t *testing.T) {
	for name, tc := range map[string]struct{ said, want string }{
		"the server":     {`Usage of EmptyDir volume "scratch-0" exceeds the limit "1Gi".`, "ServerExited permanent: implementations[go] was evicted because it filled its disk: "},
		"its dependency": {`Usage of EmptyDir volume "scratch-db-0" exceeds the limit "1Gi".`, "DependencyFailed permanent: implementations[go].dependencies[db] was evicted because it filled its scratch"},
		"one of them":    {"Pod ephemeral local storage usage exceeds the total limit of containers 2Gi.", "ServerExited permanent: implementations[go] was evicted because it filled its disk, or its dependencies did"},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			depending(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})(&a)
			a.Work.(sweep.Sweep).Implementations[0].Dependencies[0].Container.Scratch = []record.Scratch{{Path: "/data", Bytes: 1 << 30}}
			server(&a).Status.Phase, server(&a).Status.Reason, server(&a).Status.Message = corev1.PodFailed, "Evicted", tc.said
			if got := describe(a.Fault()); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A dependency takes nothing from the patience for the image of its server, whose pull begins when it is ready.
func TestThePullOfAServersImageBeginsAfterItsDependencies(t *testing.T) {
	a := attempt()
	started := metav1.Time{Time: noon.Add(-10 * time.Second)}
	depending(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}})(&a)
	waitingFor(server(&a), 0, "ErrImagePull", "not found")
	waitingFor(server(&a), 1, "PodInitializing", "")
	server(&a).Status.Conditions = condOf("True", time.Hour, "")
	if f := a.Fault(); f != nil {
		t.Errorf("a pull that failed for 10 s at most ends the attempt: %s", describe(f))
	}
	a.Now = noon.Add(pods.PullDeadline)
	if f := a.Fault(); f == nil {
		t.Error("the pull goes on for ever")
	}
}

// exit is a container that has ended some time after its start, and was started again, as a kubelet does with dependencies.
func exit(code int32, why, message string, after time.Duration) corev1.ContainerStatus {
	var s corev1.ContainerStatus
	s.State.Running = &corev1.ContainerStateRunning{}
	s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: why, Message: message, StartedAt: metav1.Time{Time: noon.Add(-after)}, FinishedAt: metav1.Time{Time: noon},
	}
	return s
}

func TestADependencyThatEndsFailsItsTrialInASentence(t *testing.T) {
	waiting := func(why, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why, Message: message}}}
	}
	for name, tc := range map[string]struct {
		state corev1.ContainerStatus
		// begun is true where the server has been started.
		begun bool
		want  string
	}{
		"it runs":                               {state: corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		"it is not ready":                       {state: exit(137, "Error", "waiting for a disk", time.Minute), want: `DependencyFailed permanent: implementations[go].dependencies[db] was not ready on port 6379 within 60 s of its start (exit code 137, Error, last output: "waiting for a disk"): check its command and that it listens on all addresses, or raise readiness.timeoutSeconds`},
		"it ends at once":                       {state: exit(1, "Error", "no such option", time.Second), want: `DependencyFailed permanent: implementations[go].dependencies[db] exited before its server started (exit code 1, Error, last output: "no such option"): check its command, env and files`},
		"it ends after a minute, beside a pull": {state: exit(137, "Error", "", 3*time.Minute), want: "DependencyFailed permanent: implementations[go].dependencies[db] exited before its server started"},
		"it ends later":                         {state: exit(1, "Error", "oh", time.Hour), begun: true, want: `DependencyFailed permanent: implementations[go].dependencies[db] exited before its trial ended (exit code 1, Error, last output: "oh")`},
		"it is too large":                       {state: exit(137, "OOMKilled", "", time.Hour), begun: true, want: "DependencyFailed permanent: implementations[go].dependencies[db] was killed because it exceeded its memory of 64Mi: raise its memory"},
		"somebody kills it":                     {state: exit(137, "Error", "", time.Hour), begun: true, want: "PodLost transient: another process killed implementations[go].dependencies[db]"},
		"its image is nowhere":                  {state: waiting("InvalidImageName", "no"), want: `ImagePull permanent: implementations[go].dependencies[db].image: "redis:7" cannot be pulled`},
		"its Secret is nowhere":                 {state: waiting("CreateContainerConfigError", "no secret"), want: `DependencyFailed permanent: container dep-db with image "redis:7" cannot be started: no secret: check env, envFrom and user of implementations[go].dependencies[db]`},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			depending(tc.state)(&a)
			if !tc.begun {
				for i := range server(&a).Status.ContainerStatuses {
					waitingFor(server(&a), i, "PodInitializing", "")
				}
			}
			got := ""
			if f := a.Fault(); f != nil {
				kind := map[conduct.Kind]string{conduct.Permanent: "permanent", conduct.Transient: "transient"}[f.Kind]
				got = fmt.Sprintf("%s %s: %s", f.Reason, kind, f.Message)
			}
			if !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
