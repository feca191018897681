package v1alpha1_test

import (
	"strings"
	"testing"
)

// A run with every setting of pods, as users write it.
const dressed = `
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: RUN, namespace: default}
spec:
  implementations: [{name: app, image: "app:1", port: 8080}]
  loads: [{name: sweep, tool: wrk, levels: [{connections: 10}]}]
  placement:
    pods:
      labels: {example.com/cost-center: "42"}
      annotations: {example.com/contact: Team A}
      nodeSelector: {node.example/pool: bench}
      tolerations: [{key: bench, operator: Equal, value: "yes", effect: NoSchedule}, {operator: Exists}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}]
      priorityClassName: batch
      runtimeClassName: kata
      serviceAccountName: bench
      securityContext: {runAsUser: 1001, runAsGroup: 1002, fsGroup: 1003, supplementalGroups: [1004], seLinuxOptions: {type: container_t, level: "s0:c1,c2"}}
`

func TestInvalidPodSettingIsRefusedWithMessage(t *testing.T) {
	c := apiServer(t)
	const label, annotation, selector, user = "{example.com/cost-center: \"42\"}", "{example.com/contact: Team A}", "{node.example/pool: bench}", "{runAsUser: 1001,"
	for name, tc := range map[string]struct{ before, after, want string }{
		"a label of Loadstone":         {label, "{loadstone.dev/run: other}", "Loadstone sets loadstone.dev/ keys itself: remove them"},
		"the component":                {label, "{app.kubernetes.io/component: operator}", "spec.placement.pods.labels: Invalid value: Loadstone sets app.kubernetes.io/name and component: remove them"},
		"a label that asks a mesh":     {label, "{sidecar.istio.io/inject: \"true\"}", "Loadstone opts out of Istio itself: remove istio.io keys"},
		"a label of an ambient mesh":   {label, "{istio.io/dataplane-mode: ambient}", "Loadstone opts out of Istio itself: remove istio.io keys"},
		"an annotation of Loadstone":   {annotation, "{loadstone.dev/x: other}", "Loadstone sets loadstone.dev/ keys itself: remove them"},
		"an annotation of an evictor":  {annotation, "{karpenter.sh/do-not-disrupt: \"false\"}", "Loadstone keeps autoscalers off itself: remove their keys"},
		"an annotation for a mesh":     {annotation, "{linkerd.io/inject: enabled}", "Loadstone opts out of meshes itself: remove these keys"},
		"no labels":                    {label, "{}", "spec.placement.pods.labels in body should have at least 1 properties"},
		"the nodes of another role":    {selector, "{loadstone.dev/role: generator}", "Loadstone sets loadstone.dev/ keys itself: remove them"},
		"a class of the system":        {"batch", "system-node-critical", "classes that begin with system- are for the cluster's own pods: choose another"},
		"root":                         {user, "{runAsUser: 0,", "spec.placement.pods.securityContext.runAsUser in body should be greater than or equal to 1"},
		"a platform that does not":     {user, "{ids: Platform, runAsUser: 1,", "ids Platform excludes runAsUser, runAsGroup and fsGroup"},
		"somebody else who chooses":    {user, "{ids: Somebody,", `spec.placement.pods.securityContext.ids: Unsupported value: "Somebody": supported values: "Loadstone", "Platform"`},
		"a type that confines nothing": {"type: container_t", "type: spc_t", `spec.placement.pods.securityContext.seLinuxOptions.type: Unsupported value: "spc_t"`},
		"settings of nothing":          {"    pods:\n", "    pods: {}\n    x:\n", "spec.placement.pods in body should have at least 1 properties"},
	} {
		t.Run(name, func(t *testing.T) {
			text := changed(t, strings.Replace(dressed, "RUN", "bad", 1), tc.before, tc.after)
			refused(t, create(t, c, parse(t, []byte(text))), tc.want)
		})
	}
}

func TestEveryPodSettingIsAccepted(t *testing.T) {
	c := apiServer(t)
	for name, security := range map[string]string{"dressed": "{runAsUser: 1001, runAsGroup: 1002, fsGroup: 1003,", "platform": "{ids: Platform,"} {
		text := strings.Replace(strings.Replace(dressed, "RUN", name, 1), "{runAsUser: 1001, runAsGroup: 1002, fsGroup: 1003,", security, 1)
		if err := create(t, c, parse(t, []byte(text))); err != nil {
			t.Error(err)
		}
	}
}
