package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/store/artifact"
)

var needed = []string{"-namespace=system", "-agent-image=agent:1", "-toolbox-image=toolbox:1", "-service=http://loadstone.system.svc:8090", "-s3-endpoint=minio:9000"}

func environment(t *testing.T, but ...string) {
	t.Helper()
	for name, value := range map[string]string{"POD_NAMESPACE": "", artifact.AccessKeyVariable: "key", artifact.SecretKeyVariable: "secret"} {
		if slices.Contains(but, name) {
			value = ""
		}
		t.Setenv(name, value)
	}
}

func TestSettingsOfTheOperator(t *testing.T) {
	usual := options{
		namespace: "system", agentImage: "agent:1", toolboxImage: "toolbox:1", service: "http://loadstone.system.svc:8090", serviceAccount: "loadstone-workflow",
		listen: ":8090", handout: ":8443", probes: ":8081", metrics: "0", logs: logs{level: "info", format: "json"},
		store: artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1", AccessKey: "key", SecretKey: "secret"},
	}
	for name, tc := range map[string]struct {
		args   []string
		pod    string
		change func(*options)
	}{
		"what must be set, and defaults": {args: needed, change: func(*options) {}},
		"all that can be set": {
			args: append(slices.Clone(needed), "-workflow-service-account=runner", "-argo-instance-id=bench", "-listen=:1", "-handout=:4", "-probes=:2",
				"-s3-bucket=results", "-s3-region=eu", "-s3-tls=true",
				"-metrics=:3", "-log-level=debug", "-log-format=text", "-pull-secrets=a,b", "-s3-generate-secret=own", "-namespaces=team-b,team-a",
				`-network-policy={"ingress":[{"ports":[{"port":7600}]}]}`, "-outbound-allow=10.20.0.0/16,registry.infra.svc",
				`-pods={"labels":{"team":"a"},"securityContext":{"ids":"Platform"}}`),
			change: func(o *options) {
				var err error
				if o.outbound, err = outbound.Parse("10.20.0.0/16,registry.infra.svc"); err != nil {
					t.Error(err)
				}
				o.serviceAccount, o.instanceID, o.listen, o.probes = "runner", "bench", ":1", ":2"
				o.store.Bucket, o.store.Region, o.store.Secure = "results", "eu", true
				port := intstr.FromInt32(7600)
				o.network = &networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{Ports: []networkingv1.NetworkPolicyPort{{Port: &port}}}}}
				o.pods = v1alpha1.PodSettings{Labels: map[string]string{"team": "a"}, SecurityContext: v1alpha1.PodSecurity{IDs: v1alpha1.ChooserPlatform}}
				o.handout, o.led = ":4", namespaces.Led{"system", "team-a", "team-b"}
				o.metrics, o.pullSecrets, o.storeSecret, o.logs = ":3", "a,b", "own", logs{level: "debug", format: "text"}
			},
		},
		"the namespace of its pod":            {args: needed[1:], pod: "elsewhere", change: func(o *options) { o.namespace = "elsewhere" }},
		"an argument, whatever its pod is in": {args: needed, pod: "elsewhere", change: func(*options) {}},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t)
			t.Setenv("POD_NAMESPACE", tc.pod)
			want := usual
			tc.change(&want)
			got, err := parse(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, logs{}), cmp.Comparer(func(a, b outbound.Allowed) bool { return reflect.DeepEqual(a, b) })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheOperatorDoesNotStartWithoutWhatItNeeds(t *testing.T) {
	for name, tc := range map[string]struct {
		args        []string
		unset, want string
	}{
		"no namespace":               {needed[1:], "", "-namespace is empty"},
		"no image of the agent":      {append(slices.Clone(needed[:1]), needed[2:]...), "", "-agent-image is empty"},
		"no image of profilers":      {append(slices.Clone(needed[:2]), needed[3:]...), "", "-toolbox-image is empty"},
		"no address of itself":       {append(slices.Clone(needed[:3]), needed[4]), "", "-service is empty"},
		"no object store":            {needed[:4], "", "-s3-endpoint is empty"},
		"no access key":              {needed, artifact.AccessKeyVariable, artifact.AccessKeyVariable + " (environment) is empty"},
		"no secret key":              {needed, artifact.SecretKeyVariable, artifact.SecretKeyVariable + " (environment) is empty"},
		"no bundle where it is said": {append(slices.Clone(needed), "-s3-ca-file=none"), "", "reading the certificate authorities of the object store (chart value s3.caBundle)"},
		"a policy of other fields":   {append(slices.Clone(needed), `-network-policy={"from":[]}`), "", "reading a NetworkPolicySpec"},
		"pods of other fields":       {append(slices.Clone(needed), `-pods={"hostNetwork":true}`), "", "reading pod settings (chart value runs.pods)"},
		"pods of other labels":       {append(slices.Clone(needed), `-pods={"labels":{"loadstone.dev/run":"a"}}`), "", "runs.pods.labels has loadstone.dev/run, which Loadstone sets itself: remove it"},
		"a namespace that is none":   {append(slices.Clone(needed), "-namespaces=Team"), "", `reading -namespaces (chart value runs.namespaces): "Team" is not the name of a namespace`},
		"a network that is none":     {append(slices.Clone(needed), "-outbound-allow=10.20.0.1/16"), "", "10.20.0.1/16 has bits after its prefix: write 10.20.0.0/16"},
		"a flag that there is not":   {append(slices.Clone(needed), "-replicas=2"), "", "parsing flags"},
		"election that is off":       {append(slices.Clone(needed), "-leader-elect=false"), "", "parsing flags"},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, tc.unset)
			if _, err := parse(tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err := run(t.Context(), tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it has started: %v", err)
			}
		})
	}
}

func TestTheChartKnowsTheFlags(t *testing.T) {
	text, err := os.ReadFile("../../charts/loadstone/templates/operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ without, unset []string }{
		"a store by a key":  {without: []string{"--s3-by-role", "--s3-sts-endpoint"}},
		"a store by a role": {without: []string{"--s3-generate-secret"}, unset: []string{artifact.AccessKeyVariable, artifact.SecretKeyVariable}},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, tc.unset...)
			t.Setenv(artifact.TokenFileVariable, "x")
			var args []string
			for _, m := range regexp.MustCompile(`(?:- |")(--[a-z0-9-]+)=`).FindAllStringSubmatch(string(text), -1) {
				value, other := map[string]string{"--s3-tls": "true", "--s3-by-role": "true", "--s3-ca-file": "", "--network-policy": "{}", "--pods": "{}"}[m[1]]
				if !other {
					value = "x"
				}
				if !slices.Contains(tc.without, m[1]) {
					args = append(args, m[1]+"="+value)
				}
			}
			if len(args) < len(needed) {
				t.Fatalf("the chart has the arguments %q, want %d or more", args, len(needed))
			}
			o, err := parse(append([]string{"-namespace=system"}, args...))
			if err != nil || o.agentImage != "x" || o.store.Bucket != "x" || !o.store.Secure || o.store.ByRole != (o.storeSecret == "") {
				t.Errorf("got %+v, %v of the arguments %q", o, err, args)
			}
		})
	}
}

func TestANodeIsKeptWithoutWhatChangesAllTheTime(t *testing.T) {
	cpus := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"large": "text"}},
		Spec:       corev1.NodeSpec{Unschedulable: true, PodCIDR: "10.0.0.0/24"},
		Status: corev1.NodeStatus{
			Allocatable: cpus, Capacity: cpus, Images: []corev1.ContainerImage{{Names: []string{"image"}}},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse},
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()},
			},
		},
	}
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"}},
		Spec:       corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{
			Allocatable: cpus, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	got, err := trimNode(node)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	if got, err := trimNode(pod); err != nil || got != any(pod) {
		t.Errorf("got %v, %v of what is no node", got, err)
	}
}
