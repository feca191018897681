package render

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// affine are node affinities for nodes with a label.
func affine(key string, values ...string) v1alpha1.Affinity {
	terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}}
	return v1alpha1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

func everySetting() v1alpha1.PodSettings {
	return v1alpha1.PodSettings{
		Labels: map[string]string{"example.com/cost-center": "42"}, Annotations: map[string]string{"example.com/contact": "Team A"},
		NodeSelector: map[string]string{"node.example/pool": "bench"}, Tolerations: []corev1.Toleration{{Key: "bench", Operator: corev1.TolerationOpEqual, Value: "yes", Effect: corev1.TaintEffectNoSchedule}},
		Affinity: affine("kubernetes.io/arch", "amd64"), PriorityClassName: "batch", RuntimeClassName: "kata", ServiceAccountName: "bench",
		SecurityContext: v1alpha1.PodSecurity{
			RunAsUser: 1001, RunAsGroup: 1002, FSGroup: 1003, SupplementalGroups: []int64{1004},
			SELinuxOptions: v1alpha1.SELinuxOptions{Type: "container_t", Level: "s0:c1,c2"},
		},
	}
}

func TestGoldenPodsWithSettings(t *testing.T) {
	o := options()
	o.Pods = everySetting()
	golden(t, "settings-server.yaml", member(t, trial(t, compiled(t)), record.MemberServer(0), o))
	golden(t, "settings-generator.yaml", member(t, trial(t, compiled(t)), record.MemberGenerator(0), o))
}

func TestSettingsReplaceNoLabelOfLoadstone(t *testing.T) {
	o := options()
	plain := member(t, trial(t, compiled(t)), record.MemberServer(0), o)
	o.Pods.Labels, o.Pods.Annotations = maps.Clone(plain.Labels), maps.Clone(plain.Annotations)
	o.Pods.NodeSelector = map[string]string{v1alpha1.LabelRole: "other"}
	for _, m := range []map[string]string{o.Pods.Labels, o.Pods.Annotations} {
		for key := range m {
			m[key] = "other"
		}
	}
	pod := member(t, trial(t, compiled(t)), record.MemberServer(0), o)
	for what, both := range map[string][2]map[string]string{
		"labels": {plain.Labels, pod.Labels}, "annotations": {plain.Annotations, pod.Annotations}, "node selector": {plain.Spec.NodeSelector, pod.Spec.NodeSelector},
	} {
		if diff := cmp.Diff(both[0], both[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// A label that a later version adds must be refused, too.
func TestOwnLabelsAndAnnotationsAreRefused(t *testing.T) {
	pod := member(t, trial(t, compiled(t)), record.MemberServer(0), options())
	for key := range pod.Labels {
		if plan.CheckPods("p", v1alpha1.PodSettings{Labels: map[string]string{key: "x"}}) == nil {
			t.Errorf("label %s is accepted", key)
		}
	}
	for key := range pod.Annotations {
		if plan.CheckPods("p", v1alpha1.PodSettings{Annotations: map[string]string{key: "x"}}) == nil {
			t.Errorf("annotation %s is accepted", key)
		}
	}
}

func TestMeshesLeaveMeasuredPodsAlone(t *testing.T) {
	pods := []*corev1.Pod{
		member(t, trial(t, compiled(t)), record.MemberServer(0), options()), member(t, trial(t, compiled(t)), record.MemberGenerator(0), options()), programPod(t), equipped(t),
	}
	for _, pod := range pods {
		got := []string{pod.Labels["sidecar.istio.io/inject"], pod.Labels["istio.io/dataplane-mode"], pod.Annotations["sidecar.istio.io/inject"], pod.Annotations["linkerd.io/inject"]}
		if want := []string{"false", "none", "false", "disabled"}; !slices.Equal(got, want) {
			t.Errorf("pod %s has %q, want %q", pod.Name, got, want)
		}
	}
}

// On OpenShift, a pod with a user outside its namespace's range is refused.
func TestPlatformChoosesUsersAndGroups(t *testing.T) {
	o := options()
	o.Pods.SecurityContext.IDs = v1alpha1.ChooserPlatform
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080, Dependencies: []v1alpha1.Dependency{{Name: "db", Image: "db:1"}}}},
		Loads:           []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}}},
	}, plan.Options{Name: "quick", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	tr := trial(t, p)
	for _, m := range tr.Members() {
		pod := Pod(tr.Trial, m, time.Minute, o)
		s := pod.Spec.SecurityContext
		if s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil {
			t.Errorf("pod %s has the ids %v, %v, %v", pod.Name, s.RunAsUser, s.RunAsGroup, s.FSGroup)
		}
		if s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("pod %s is not restricted: %+v", pod.Name, s)
		}
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if c.SecurityContext.RunAsUser != nil || c.SecurityContext.RunAsGroup != nil || !*c.SecurityContext.RunAsNonRoot {
				t.Errorf("container %s has %+v", c.Name, c.SecurityContext)
			}
		}
	}
}

func TestRunSettingsAddToThoseOfTheInstallation(t *testing.T) {
	both := Settings(
		v1alpha1.PodSettings{
			Labels: map[string]string{"a": "1", "b": "1"}, NodeSelector: map[string]string{"pool": "x"}, Tolerations: []corev1.Toleration{{Key: "x"}},
			PriorityClassName: "low", RuntimeClassName: "kata", SecurityContext: v1alpha1.PodSecurity{IDs: v1alpha1.ChooserPlatform}, Affinity: affine("zone", "a"),
		},
		v1alpha1.PodSettings{
			Labels: map[string]string{"b": "2"}, Annotations: map[string]string{"c": "3"}, Tolerations: []corev1.Toleration{{Key: "y"}},
			PriorityClassName: "high", SecurityContext: v1alpha1.PodSecurity{RunAsUser: 7},
		})
	want := v1alpha1.PodSettings{
		Labels: map[string]string{"a": "1", "b": "2"}, Annotations: map[string]string{"c": "3"}, NodeSelector: map[string]string{"pool": "x"},
		Tolerations: []corev1.Toleration{{Key: "x"}, {Key: "y"}}, PriorityClassName: "high", RuntimeClassName: "kata",
		SecurityContext: v1alpha1.PodSecurity{RunAsUser: 7}, Affinity: affine("zone", "a"),
	}
	if diff := cmp.Diff(want, both); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLargeNodesMustMatchTheSettingsToo(t *testing.T) {
	o := options()
	pool := map[string]string{"pool": "bench"}
	o.Pods = v1alpha1.PodSettings{NodeSelector: pool, Affinity: affine("zone", "a", "b")}
	o.LargestServer = plan.Demand{MilliCPU: 2000}
	o.Nodes = plan.Select([]plan.Node{
		{Name: "small", Role: v1alpha1.RoleServer, MilliCPU: 1000, Labels: pool},
		{Name: "large", Role: v1alpha1.RoleServer, MilliCPU: 4000, Labels: pool},
		{Name: "other", Role: v1alpha1.RoleServer, MilliCPU: 4000},
	}, pool)
	pod := member(t, trial(t, compiled(t)), record.MemberServer(0), o)
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if !slices.Equal(allowed(pod), []string{"large"}) || len(terms[0].MatchExpressions) != 1 || !maps.Equal(pod.Spec.NodeSelector, pool) {
		t.Errorf("the first server has the selector %v and the terms %+v", pod.Spec.NodeSelector, terms)
	}
	o.Bound = map[string]string{record.MemberServer(0): "other"}
	pod = member(t, trial(t, compiled(t)), record.MemberServer(0), o)
	terms = pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if !slices.Equal(allowed(pod), []string{"other"}) || len(terms[0].MatchExpressions) != 0 || len(pod.Spec.NodeSelector) != 0 {
		t.Errorf("a bound server has the selector %v and the terms %+v", pod.Spec.NodeSelector, terms)
	}
}
