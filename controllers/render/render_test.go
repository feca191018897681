package render

import (
	"crypto/ed25519"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", path, diff)
	}
}

func compiled(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Baseline: "go",
		Implementations: []v1alpha1.Implementation{
			{Name: "go", Image: "localhost/loadstone/gohttp:dev", Command: []string{"/gohttp", "--port=8080"}, Port: 8080},
			{Name: "epoll", Image: "localhost/loadstone/epoll:dev", Port: 8080},
		},
		Loads:  []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}}},
		Blocks: 2,
	}, plan.Options{Name: "quick", UID: "11111111-2222"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// swept is a trial that puts load on its servers.
type swept struct {
	*v1alpha1.Trial
	sweep.Sweep
}

// sweepOf is the trial of a line of a plan.
func sweepOf(t *testing.T, p plan.Plan, line record.PlannedTrial) swept {
	t.Helper()
	work, ok := kinds.Planned(p.Plan, line).(sweep.Sweep)
	if !ok {
		t.Fatalf("%s is no sweep", line.Name)
	}
	return swept{trialNamed(line.Name), work}
}

func trialNamed(name string) *v1alpha1.Trial {
	run, _, _ := strings.Cut(name, "-")
	return &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "bench", UID: "trial-uid"}, Spec: v1alpha1.TrialSpec{RunName: run}}
}

func trial(t *testing.T, p plan.Plan) swept {
	t.Helper()
	return sweepOf(t, p, record.PlannedTrial{Name: "quick-000-go", Type: record.Sweep, Servers: []string{"go"}})
}

func options() PodOptions {
	return PodOptions{
		AgentImage: "localhost/loadstone/agent:dev", Key: make(ed25519.PublicKey, ed25519.PublicKeySize), RunUID: "11111111-2222", Attempt: 1,
		Nodes: []plan.Node{{Name: "s", Role: v1alpha1.RoleServer}, {Name: "g", Role: v1alpha1.RoleGenerator}},
	}
}

func TestGoldenObjects(t *testing.T) {
	p := compiled(t)
	o := WorkflowOptions{
		Namespace: "loadstone-system", RunNamespace: "bench", RunName: "quick", RunUID: "11111111-2222",
		Service: "http://loadstone.loadstone-system.svc:8090", ServiceAccount: "loadstone-workflow", InstanceID: "loadstone",
	}
	golden(t, "workflow.yaml", Workflow(p, o).Object)
	golden(t, "server.yaml", member(t, trial(t, p), record.MemberServer(0), options()))
	golden(t, "generator.yaml", member(t, trial(t, p), record.MemberGenerator(0), options()))
}

// classOf returns the CPUs and memory that decide a pod's QoS class.
func classOf(list corev1.ResourceList) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: list[corev1.ResourceCPU], corev1.ResourceMemory: list[corev1.ResourceMemory]}
}

// One container with unequal requests and limits makes the pod Burstable, and pinning silently stops. A sidecar with whole CPUs would take one
// exclusively.
func TestMeasuredPodsAreGuaranteedAndOnlyTheMeasuredContainerHasWholeCPUs(t *testing.T) {
	p := compiled(t)
	for _, pod := range []*corev1.Pod{member(t, trial(t, p), record.MemberServer(0), options()), member(t, trial(t, p), record.MemberGenerator(0), options())} {
		if len(pod.Spec.InitContainers) > 0 {
			t.Errorf("%s has init containers, which may leak exclusive CPUs", pod.Name)
		}
		for i, c := range pod.Spec.Containers {
			if limit := c.Resources.Limits[corev1.ResourceEphemeralStorage]; limit.IsZero() {
				t.Errorf("%s/%s may fill its node's disk", pod.Name, c.Name)
			}
			if diff := cmp.Diff(classOf(c.Resources.Requests), classOf(c.Resources.Limits)); diff != "" || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s/%s: requests and limits differ or lack memory:\n%s", pod.Name, c.Name, diff)
			}
			if whole := c.Resources.Limits.Cpu().MilliValue()%1000 == 0; whole != (i == 0) {
				t.Errorf("%s/%s: %s CPUs", pod.Name, c.Name, c.Resources.Limits.Cpu())
			}
		}
	}
}

func TestGeneratorsStayOffTheServersNodeAsStrictlyAsAsked(t *testing.T) {
	tr := trial(t, compiled(t))
	tr.Placement.SeparateNodes = record.Required
	a := member(t, tr, record.MemberGenerator(0), options()).Spec.Affinity.PodAntiAffinity
	if len(a.RequiredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("Required gives %+v", a)
	}
	tr.Placement.SeparateNodes = record.Preferred
	a = member(t, tr, record.MemberGenerator(0), options()).Spec.Affinity.PodAntiAffinity
	if len(a.RequiredDuringSchedulingIgnoredDuringExecution) != 0 || len(a.PreferredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("Preferred gives %+v", a)
	}
}

func TestPodsNeedNoLabelWhereNoNodeHasOne(t *testing.T) {
	o := options()
	o.Nodes = []plan.Node{{Name: "a"}}
	if sel := member(t, trial(t, compiled(t)), record.MemberServer(0), o).Spec.NodeSelector; len(sel) != 0 {
		t.Errorf("node selector %v in a cluster without labels", sel)
	}
}

// member is the pod of a member of a sweep.
func member(t *testing.T, tr swept, name string, o PodOptions) *corev1.Pod {
	t.Helper()
	for _, m := range tr.Members() {
		if m.Name == name {
			return Pod(tr.Trial, m, timetable.End(tr.Slots()), o)
		}
	}
	t.Fatalf("the trial has no member %s", name)
	return nil
}
