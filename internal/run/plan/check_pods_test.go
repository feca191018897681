package plan

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestPodSettingsThatContradictLoadstoneAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		pods v1alpha1.PodSettings
		want string
	}{
		"labels of others":          {v1alpha1.PodSettings{Labels: map[string]string{"example.com/team": "a", "env": ""}}, ""},
		"a label of Loadstone":      {v1alpha1.PodSettings{Labels: map[string]string{v1alpha1.LabelRunUID: "x"}}, "spec.placement.pods.labels has loadstone.dev/run-uid, which Loadstone sets itself: remove it"},
		"the component":             {v1alpha1.PodSettings{Labels: map[string]string{"app.kubernetes.io/component": "operator"}}, "spec.placement.pods.labels has app.kubernetes.io/component, which Loadstone sets itself: remove it"},
		"a label that asks a mesh":  {v1alpha1.PodSettings{Labels: map[string]string{"sidecar.istio.io/inject": "true"}}, "spec.placement.pods.labels has sidecar.istio.io/inject"},
		"a key that is none":        {v1alpha1.PodSettings{Labels: map[string]string{"a b": "x"}}, `spec.placement.pods.labels has the key "a b", which no object can have`},
		"a value that is none":      {v1alpha1.PodSettings{Labels: map[string]string{"a": "x y"}}, `spec.placement.pods.labels has the value "x y" for a, which no label can have`},
		"an annotation's free text": {v1alpha1.PodSettings{Annotations: map[string]string{"a": "x y"}}, ""},
		"an annotation that asks a mesh": {
			v1alpha1.PodSettings{Annotations: map[string]string{"linkerd.io/inject": "enabled"}}, "spec.placement.pods.annotations has linkerd.io/inject, which Loadstone sets itself: remove it",
		},
		"an eviction":             {v1alpha1.PodSettings{Annotations: map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}}, "spec.placement.pods.annotations has cluster-autoscaler"},
		"the other role's nodes":  {v1alpha1.PodSettings{NodeSelector: map[string]string{v1alpha1.LabelRole: "generator"}}, "spec.placement.pods.nodeSelector has loadstone.dev/role, which Loadstone sets itself: remove it"},
		"a class of the system":   {v1alpha1.PodSettings{PriorityClassName: "system-node-critical"}, "spec.placement.pods.priorityClassName is system-node-critical, and classes that begin with system- are for the cluster's own pods"},
		"a class that is none":    {v1alpha1.PodSettings{RuntimeClassName: "a/b"}, `spec.placement.pods.runtimeClassName is "a/b", which no object can be named`},
		"an account that is none": {v1alpha1.PodSettings{ServiceAccountName: "A"}, `spec.placement.pods.serviceAccountName is "A", which no object can be named`},
		"a toleration for a time": {v1alpha1.PodSettings{Tolerations: []corev1.Toleration{{Key: "a", TolerationSeconds: new(int64(1))}}}, "spec.placement.pods.tolerations[0].tolerationSeconds would evict pods while they measure"},
		"a toleration of nothing": {v1alpha1.PodSettings{Tolerations: []corev1.Toleration{{Value: "a"}}}, "spec.placement.pods.tolerations[0] has no key"},
		"a value that must exist": {v1alpha1.PodSettings{Tolerations: []corev1.Toleration{{Key: "a", Operator: "Exists", Value: "b"}}}, "spec.placement.pods.tolerations[0] has operator Exists and a value"},
		"all taints":              {v1alpha1.PodSettings{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}, ""},
		"no user":                 {v1alpha1.PodSettings{SecurityContext: v1alpha1.PodSecurity{RunAsUser: -1}}, "spec.placement.pods.securityContext.runAsUser is -1: give 1 or more"},
		"the group of root":       {v1alpha1.PodSettings{SecurityContext: v1alpha1.PodSecurity{SupplementalGroups: []int64{1, 0}}}, "spec.placement.pods.securityContext.supplementalGroups[1] is 0"},
		"two who choose":          {v1alpha1.PodSettings{SecurityContext: v1alpha1.PodSecurity{IDs: "Platform", FSGroup: 5}}, "spec.placement.pods.securityContext has ids Platform, so the cluster assigns runAsUser, runAsGroup and fsGroup: remove them, or ids"},
		"nobody who chooses":      {v1alpha1.PodSettings{SecurityContext: v1alpha1.PodSecurity{IDs: "Nobody"}}, `spec.placement.pods.securityContext.ids is "Nobody": write Loadstone or Platform`},
		"a type that is free":     {v1alpha1.PodSettings{SecurityContext: v1alpha1.PodSecurity{SELinuxOptions: v1alpha1.SELinuxOptions{Type: "spc_t"}}}, `spec.placement.pods.securityContext.seLinuxOptions.type is "spc_t", which Pod Security restricted forbids`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Placement.Pods = tc.pods }), Options{Name: "r", UID: "u"})
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// Pod settings are not measured, so stored plans stay the same.
func TestPodSettingsDoNotChangeThePlan(t *testing.T) {
	plain, err := Compile(spec(), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	dressed, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Placement.Pods.Labels = map[string]string{"a": "b"} }), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Hash() != dressed.Hash() {
		t.Error("a label changes the plan")
	}
}

func TestANodeSelectorLeavesRoomOnlyOnItsNodes(t *testing.T) {
	p, err := Compile(spec(), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	pool := map[string]string{"pool": "bench"}
	nodes := []Node{
		{Name: "s", Role: "server", MilliCPU: 4000, Labels: pool}, {Name: "g", Role: "generator", MilliCPU: 4000},
	}
	if v := Fits(p, Select(nodes, nil)); v != nil {
		t.Errorf("without a selector: %v", v)
	}
	const want = "no node may run a generator: label one with loadstone.dev/role=generator; nodeSelector of spec.placement.pods or of the chart value runs.pods excludes 1 of 2 nodes"
	if v := Fits(p, Select(nodes, pool)); v == nil || !strings.HasSuffix(v.Message, want) {
		t.Errorf("got %v, want %q", v, want)
	}
	nodes[1].Labels = pool
	if v := Fits(p, Select(nodes, pool)); v != nil {
		t.Errorf("on selected nodes: %v", v)
	}
}
