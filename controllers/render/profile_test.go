package render

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// profilePlan is that of a run of two servers that are profiled when its blocks have been measured: both counted, and one searched for leaks.
func profilePlan(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Baseline: "go",
		Implementations: []v1alpha1.Implementation{
			{Name: "go", Image: "localhost/loadstone/gohttp:dev", Command: []string{"/gohttp", "--port=8080"}, Port: 8080},
			{Name: "epoll", Image: "localhost/loadstone/epoll:dev", Command: []string{"/epoll"}, Port: 8080, CPUs: 2},
		},
		Loads:  []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, Request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: new("hello")}}}},
		Blocks: 2,
		Profiles: []v1alpha1.Profile{
			{Name: "costs", Tool: v1alpha1.ToolCallgrind}, {Name: "leaks", Tool: v1alpha1.ToolMemcheck, Implementations: []string{"epoll"}, LimitSeconds: 1200},
		},
	}, plan.Options{Name: "quick", UID: "11111111-2222"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// profilePod is the pod of a trial that follows the blocks, by its place among them.
func profilePod(t *testing.T, place int) *corev1.Pod {
	t.Helper()
	p := profilePlan(t)
	line := p.Following[place]
	work := kinds.Planned(p.Plan, line)
	o := options()
	o.ToolboxImage = "localhost/loadstone/toolbox:dev"
	return Pod(trialNamed(line.Name), work.Members()[0], timetable.End(work.Slots()), o)
}

func followingWorkflow(t *testing.T) map[string]any {
	t.Helper()
	return Workflow(profilePlan(t), WorkflowOptions{
		Namespace: "loadstone-system", RunNamespace: "bench", RunName: "quick", RunUID: "11111111-2222", Part: plan.Part{Following: true},
		Service: "http://loadstone.loadstone-system.svc:8090", ServiceAccount: "loadstone-workflow", InstanceID: "loadstone",
	}).Object
}

func TestGoldenObjectsOfProfiles(t *testing.T) {
	golden(t, "profile.yaml", profilePod(t, 0))
	golden(t, "profile-workflow.yaml", followingWorkflow(t))
}

// The profilers come from a separate image, mounted where the monitor expects them; the server's image is unchanged.
func TestTheProfilersAreBroughtBesideTheAgent(t *testing.T) {
	pod := profilePod(t, 1)
	bring, server, monitor := pod.Spec.InitContainers[0], pod.Spec.Containers[0], pod.Spec.Containers[1]
	if diff := cmp.Diff([]string{"bring", server.Command[0], "/loadstone/toolbox"}, bring.Args); diff != "" || bring.Image != "localhost/loadstone/toolbox:dev" {
		t.Errorf("what brings them is %s (-want +got):\n%s", bring.Image, diff)
	}
	want := []string{"/loadstone/loadstone-agent", "launch", "--exchange=/loadstone", "--", "/epoll"}
	if diff := cmp.Diff(want, server.Command); diff != "" || server.Image != "localhost/loadstone/epoll:dev" {
		t.Errorf("the server is launched in %s (-want +got):\n%s", server.Image, diff)
	}
	if monitor.Image != options().AgentImage || monitor.Args[0] != "profile" || !slices.Contains(monitor.Args, "--exchange=/loadstone") || !slices.Contains(monitor.Args, "--body=hello") {
		t.Errorf("the monitor is %s with %v", monitor.Image, monitor.Args)
	}
}

// A program that needs no profiler is not brought any.
func TestOnlyProfilesNeedTheToolbox(t *testing.T) {
	if bring := programPod(t, func(o *PodOptions) { o.ToolboxImage = "toolbox" }).Spec.InitContainers[0]; bring.Image == "toolbox" || len(bring.Args) != 2 {
		t.Errorf("a program is brought %v by %s", bring.Args, bring.Image)
	}
}

// The pod of a profile is Guaranteed, and only its server has exclusive CPUs.
func TestAServerUnderAProfilerAloneOwnsItsCPUs(t *testing.T) {
	for place, cpus := range []int64{1, 2, 2} {
		pod := profilePod(t, place)
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if diff := cmp.Diff(classOf(c.Resources.Requests), classOf(c.Resources.Limits)); diff != "" || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s: requests and limits differ, or lack something:\n%s", c.Name, diff)
			}
			if whole := c.Resources.Limits.Cpu().MilliValue()%1000 == 0; whole != (c.Name == "server") {
				t.Errorf("%s has %s CPUs", c.Name, c.Resources.Limits.Cpu())
			}
		}
		if got := pod.Spec.Containers[0].Resources.Limits.Cpu().Value(); got != cpus {
			t.Errorf("the server has %d CPUs, want %d", got, cpus)
		}
		if got := pod.Spec.Containers[0].Resources.Limits.Memory().Value(); got <= plan.DefaultMemoryBytes {
			t.Errorf("the server has %d bytes of memory, no more than without a profiler", got)
		}
	}
}

func TestThePodOfAProfileOutlivesItsLimit(t *testing.T) {
	for place, limit := range map[int]time.Duration{0: 300 * time.Second, 2: 1200 * time.Second} {
		if life := time.Duration(*profilePod(t, place).Spec.ActiveDeadlineSeconds) * time.Second; life <= limit {
			t.Errorf("the pod lives for %s, and its profile may take %s", life, limit)
		}
	}
}

// Every part of a run has a separate workflow name, and its steps allow for the longest trial.
func TestWhatFollowsHasAWorkflowOfItsOwn(t *testing.T) {
	names := map[string]bool{}
	for _, part := range []plan.Part{{}, {Repeat: 1}, {Repeat: 2}, {Following: true}} {
		names[WorkflowName("quick", "11111111-2222", part)] = true
	}
	if len(names) != 4 {
		t.Errorf("four parts have the names %v", names)
	}
	spec := followingWorkflow(t)["spec"].(map[string]any)
	templates := spec["templates"].([]any)
	if steps := templates[0].(map[string]any)["steps"].([]any); len(steps) != 3 {
		t.Errorf("it has %d steps, want one for each of three trials", len(steps))
	}
	timeout := templates[1].(map[string]any)["http"].(map[string]any)["timeoutSeconds"].(int64)
	if least := int64(plan.Attempts * 1220); timeout < least {
		t.Errorf("a step waits %d s, and the attempts at its trial may take %d s", timeout, least)
	}
}
