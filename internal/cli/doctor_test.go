package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/doctor"
)

func TestDoctorLooksAtThisMachine(t *testing.T) {
	out, err := execute(t, "doctor", "--output", "json")
	if err != nil && status(err) != statusFailed {
		t.Fatal(err)
	}
	var found []doctor.Finding
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	checks := map[string]bool{}
	for _, f := range found {
		checks[f.Check] = true
	}
	for _, want := range []string{"CPUs", "SMT", "frequency", "boost", "steal", "neighbours", "quota", "open files", "wrk", "ab", "k6"} {
		if !checks[want] {
			t.Errorf("%s is not checked", want)
		}
	}
	if (err != nil) != (doctor.Faults(found) > 0) {
		t.Errorf("%d faults end with %v", doctor.Faults(found), err)
	}
}

func TestDoctorLooksAtACluster(t *testing.T) {
	w := newCluster(t)
	w.install()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{v1alpha1.LabelRole: v1alpha1.RoleServer}}}
	node.Spec.Taints = []corev1.Taint{{Key: v1alpha1.TaintMeasure, Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	away := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	w.create(node, away)
	out, err := execute(t, "doctor", "--context", "here", "--system-namespace", w.namespace)
	if err == nil || status(err) != statusFailed || !strings.HasSuffix(err.Error(), " checks found a fault") {
		t.Errorf("it ends with %v", err)
	}
	for _, want := range []string{
		"good     Kubernetes     v1.", "fault    operator       no pod of Deployment " + w.namespace + "/loadstone is ready", "fault    Argo           ",
		"good     object store   it answers", "note     roles          1 nodes are labelled for servers and 0 for generators",
		"good     node n1        pods can have 4.0 CPUs", "note     node n1        the CPU manager's policy is not known", "good     taints",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "n2") {
		t.Errorf("a node that takes no pods is judged: %s", out)
	}
	if out, err := execute(t, "doctor", "--cluster"); err == nil || !strings.Contains(out, "fault    operator       found 0 operators in namespace loadstone-system") {
		t.Errorf("another namespace prints %s and ends with %v", out, err)
	}
}

func TestWhatTheKernelSaysOfAMachine(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	siblings := func(cpu string) string { return "sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list" }
	root := fstest.MapFS{
		siblings("0"): file("0,2"), siblings("1"): file("1,3"), siblings("2"): file("0,2"),
		"proc/self/cgroup":                 file("1:name=systemd:/\n0::/user.slice/shell"),
		"sys/fs/cgroup/user.slice/cpu.max": file("150000 100000"), "sys/fs/cgroup/user.slice/shell/cpu.max": file("max 100000"), "sys/fs/cgroup/cpu.max": file("broken"),
	}
	if diff := cmp.Diff([][]int{{0, 2}, {1}, {7}}, coresOf(root, []int{0, 1, 2, 7})); diff != "" {
		t.Errorf("cores (-want +got):\n%s", diff)
	}
	if got := quota(root); got != 1.5 {
		t.Errorf("the quota is %v, want 1.5", got)
	}
	if got := quota(fstest.MapFS{}); got != 0 {
		t.Errorf("a machine without cgroups has the quota %v", got)
	}
	for text, want := range map[string]bool{"0": true, "1": false} {
		if got := boosts(fstest.MapFS{"sys/devices/system/cpu/intel_pstate/no_turbo": file(text)}); got != want {
			t.Errorf("no_turbo %s is boost: %v", text, got)
		}
		if got := boosts(fstest.MapFS{"sys/devices/system/cpu/cpufreq/boost": file(text)}); got == want {
			t.Errorf("boost %s is boost: %v", text, got)
		}
	}
	if boosts(fstest.MapFS{}) {
		t.Error("a machine that says nothing boosts")
	}
}

func TestThePolicyOfAKubelet(t *testing.T) {
	for text, want := range map[string]string{`{"kubeletconfig": {"cpuManagerPolicy": "static"}}`: "static", `{}`: "", `<html>`: ""} {
		if got := policyIn([]byte(text)); got != want {
			t.Errorf("%s has the policy %q, want %q", text, got, want)
		}
	}
}
