package cli

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/doctor"
)

func TestDoctorChecksThisMachine(t *testing.T) {
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

func TestDoctorChecksCluster(t *testing.T) {
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
		"good     object store   available", "note     roles          labeled nodes: 1 for servers, 0 for generators",
		"good     node n1        4.0 CPUs allocatable", "note     node n1        the CPU manager policy is unknown", "good     taints",
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
