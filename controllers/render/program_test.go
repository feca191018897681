package render

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// programPlan is a run of two self-measuring programs; the first needs more CPUs.
func programPlan(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Baseline: "old",
		Implementations: []v1alpha1.Implementation{
			{Name: "old", Image: "localhost/parsers:1", Command: []string{"/bench", "--count", "5"}, CPUs: 2},
			{Name: "new", Image: "localhost/parsers:2", Command: []string{"/bench"}},
		},
		Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest, LimitSeconds: 60}, Blocks: 2,
	}, plan.Options{Name: "parsers", UID: "11111111-2222"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func programs(t *testing.T) (*v1alpha1.Trial, kind.Work) {
	t.Helper()
	p := programPlan(t)
	line := record.PlannedTrial{Name: "parsers-000-old", Block: 1, Type: record.Microbenchmark, Servers: []string{"old"}}
	return trialNamed(line.Name), kinds.Planned(p.Plan, line)
}

// programPod is a program's pod, with changes to the cluster's facts.
func programPod(t *testing.T, changes ...func(*PodOptions)) *corev1.Pod {
	t.Helper()
	tr, work := programs(t)
	o := options()
	for _, change := range changes {
		change(&o)
	}
	members := work.Members()
	if len(members) != 1 {
		t.Fatalf("a program has %d members", len(members))
	}
	return Pod(tr, members[0], timetable.End(work.Slots()), o)
}

func TestGoldenPodOfAProgram(t *testing.T) {
	golden(t, "program.yaml", programPod(t))
}

// A pod is Guaranteed, with exclusive CPUs, only if requests equal limits in every container, init containers included. An init container with whole
// CPUs would get some of them.
func TestAProgramAloneOwnsItsCPUs(t *testing.T) {
	pod := programPod(t)
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	if len(all) != 3 {
		t.Fatalf("the pod has %d containers, want what brings the agent, the program and its collector", len(all))
	}
	for _, c := range all {
		if diff := cmp.Diff(classOf(c.Resources.Requests), classOf(c.Resources.Limits)); diff != "" || c.Resources.Limits.Memory().IsZero() || c.Resources.Limits.Cpu().IsZero() {
			t.Errorf("%s: requests and limits differ, or lack something:\n%s", c.Name, diff)
		}
		if whole := c.Resources.Limits.Cpu().MilliValue()%1000 == 0; whole != (c.Name == "program") {
			t.Errorf("%s has %s CPUs", c.Name, c.Resources.Limits.Cpu())
		}
	}
	if n := pod.Spec.Containers[0].Resources.Limits.Cpu().Value(); n != 2 {
		t.Errorf("the program has %d CPUs, want the 2 that its spec asks for", n)
	}
}

// The pods request what the plan computed: a run that fits is scheduled, one that does not is refused.
func TestThePodOfAProgramAsksForWhatItsPlanHasReckoned(t *testing.T) {
	var asked int64
	for _, c := range programPod(t).Spec.Containers {
		asked += c.Resources.Requests.Cpu().MilliValue()
	}
	for milliCPU, fits := range map[int64]bool{asked: true, asked - 1: false} {
		v := plan.Fits(programPlan(t), []plan.Node{{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: milliCPU}})
		if (v == nil) != fits {
			t.Errorf("on a node of %dm CPU, for a pod of %dm: %v", milliCPU, asked, v)
		}
	}
}

// A program's image lacks Loadstone's files, so they must be copied to where they run.
func TestTheAgentIsBroughtWhereTheProgramIsLaunchedFrom(t *testing.T) {
	pod := programPod(t)
	bring, program, collector := pod.Spec.InitContainers[0], pod.Spec.Containers[0], pod.Spec.Containers[1]
	if diff := cmp.Diff([]string{"bring", program.Command[0]}, bring.Args); diff != "" || bring.Image != options().AgentImage {
		t.Errorf("what brings the agent is %s (-want +got):\n%s", bring.Image, diff)
	}
	want := []string{"/loadstone/loadstone-agent", "launch", "--exchange=/loadstone", "--", "/bench", "--count", "5"}
	if diff := cmp.Diff(want, program.Command); diff != "" || program.Image != "localhost/parsers:1" || len(program.Args) != 0 {
		t.Errorf("the program is launched in %s with %v (-want +got):\n%s", program.Image, program.Args, diff)
	}
	if !slices.Contains(collector.Args, "--exchange=/loadstone") || !slices.Contains(collector.Args, "--format=GoTest") || collector.Image != options().AgentImage {
		t.Errorf("the collector is %s with %v", collector.Image, collector.Args)
	}
	if len(collector.Ports) != 1 || len(program.Ports) != 0 {
		t.Errorf("the collector listens on %v and the program on %v: only one of them is asked anything", collector.Ports, program.Ports)
	}
}

func TestAProgramSharesOneFolderWithItsCollectorAndNoOther(t *testing.T) {
	pod := programPod(t)
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		if volumes[v.Name] || v.EmptyDir == nil || v.EmptyDir.SizeLimit.IsZero() {
			t.Errorf("the volume %+v is there twice, or may grow without limit", v)
		}
		volumes[v.Name] = true
	}
	mounts := map[string][]string{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] || m.ReadOnly {
				t.Errorf("%s mounts %+v, which the pod does not have, or cannot write to it", c.Name, m)
			}
			mounts[c.Name] = append(mounts[c.Name], m.MountPath)
		}
	}
	want := map[string][]string{Bringer: {"/loadstone"}, "program": {"/loadstone"}, "collector": {"/var/lib/loadstone", "/loadstone"}}
	if diff := cmp.Diff(want, mounts); diff != "" {
		t.Errorf("the folders (-want +got):\n%s", diff)
	}
	if pod.Spec.ShareProcessNamespace == nil || !*pod.Spec.ShareProcessNamespace {
		t.Error("the collector does not see the program's process")
	}
}

func TestNothingInThePodOfAProgramIsPrivileged(t *testing.T) {
	pod := programPod(t)
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
			t.Errorf("%s may do too much: %+v", c.Name, s)
		}
	}
	for _, e := range pod.Spec.Containers[0].Env {
		t.Errorf("the program is told %s, which is Loadstone's own affair", e.Name)
	}
}

func TestAPodOfAProgramOutlivesItsProcess(t *testing.T) {
	_, work := programs(t)
	longest := timetable.End(work.Slots())
	if life := time.Duration(*programPod(t).Spec.ActiveDeadlineSeconds) * time.Second; life <= longest || longest < time.Minute {
		t.Errorf("the pod lives for %s, and its process may take %s", life, longest)
	}
}

// Every program of a run is measured on one node: the one of its first trial.
func TestAProgramIsBoundToTheNodeOfItsRun(t *testing.T) {
	pod := programPod(t)
	if names := allowed(pod); names != nil || pod.Spec.NodeSelector[v1alpha1.LabelRole] != v1alpha1.RoleServer {
		t.Errorf("the first trial is bound to %v, with the labels %v", names, pod.Spec.NodeSelector)
	}
	bound := programPod(t, func(o *PodOptions) { o.Bound = map[string]string{record.MemberServer(0): "s-1"} })
	if names := allowed(bound); !slices.Equal(names, []string{"s-1"}) {
		t.Errorf("the second trial is bound to %v, want s-1", names)
	}
	roomy := programPod(t, func(o *PodOptions) {
		o.LargestServer.MilliCPU = 2200
		o.Nodes = []plan.Node{{Name: "small", MilliCPU: 2000}, {Name: "large", MilliCPU: 4000}}
	})
	if names := allowed(roomy); !slices.Equal(names, []string{"large"}) {
		t.Errorf("the first trial may run on %v, want large", names)
	}
}
