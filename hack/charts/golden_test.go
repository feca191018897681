package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/testbed"
)

var update = flag.Bool("update", false, "rewrite the golden renderings")

// goldens are the chart with default values, with all options on, and under another name without roles and CRDs. The last one is the operator alone
// with a role for its S3 store; with a key instead, config/external is the golden form.
var goldens = []struct{ file, values string }{
	{"hack/charts/testdata/embedded.yaml", ""},
	{"hack/charts/testdata/full.yaml", "hack/charts/testdata/full-values.yaml"},
	{"hack/charts/testdata/names.yaml", "hack/charts/testdata/names-values.yaml"},
	{"hack/charts/testdata/role.yaml", "hack/charts/testdata/role-values.yaml"},
}

// rendered returns the chart without its definitions, which are generated.
func rendered(t *testing.T, kubeVersion, values string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, o := range chartOf(t, kubeVersion, values) {
		if o.text("kind") == "CustomResourceDefinition" {
			continue
		}
		body, err := yaml.Marshal(o)
		if err != nil {
			t.Fatalf("writing %s: %v", o.key(), err)
		}
		fmt.Fprintf(&b, "---\n%s", body)
	}
	return b.Bytes()
}

func TestRenderedChartMatchesGoldenFiles(t *testing.T) {
	for _, g := range goldens {
		have := rendered(t, newest, g.values)
		if *update {
			if err := os.WriteFile(checkout.path(g.file), have, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(checkout.path(g.file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("(-%s +chart; -update accepts it)\n%s", g.file, diff)
		}
	}
}

// refusals are settings that the chart must refuse, with a part of the message.
var refusals = []struct{ setting, want string }{
	{"s3.endpoint=s3.example.com", "set minio.enabled=false to use your S3"},
	{"s3.tls=true", "the embedded MinIO does not support TLS"},
	{"minio.enabled=false", "set s3.endpoint to host:port of your S3"},
	{"minio.enabled=false,s3.endpoint=s3.example.com", "create a Secret with the keys access-key and secret-key"},
	{"s3.byRole=true", "s3.byRole needs your own S3"},
	{"minio.enabled=false,s3.endpoint=s3.example.com,s3.byRole=true,s3.existingSecret=a", "s3.byRole and s3.existingSecret exclude each other"},
	{"minio.enabled=false,s3.endpoint=s3.example.com,s3.existingSecret=a,s3.stsEndpoint=https://sts.example.com", "set s3.byRole=true"},
	{"s3.stsEndpoint=sts.example.com", "/s3/stsEndpoint"},
	{"podSecurityContext.runAsUser=0", "/podSecurityContext/runAsUser"},
	{"podSecurityContext.runAsNonRoot=false", "runAsNonRoot"},
	{"operator.extraEnv[0].value=a", "/operator/extraEnv/0"},
	{"argo.extraVolumes=a", "/argo/extraVolumes"},
	{"s3.secretKeys.accessKey=AWS_ACCESS_KEY_ID", "s3.secretKeys needs s3.existingSecret"},
	{"s3.endpoint=http://s3.example.com", "/s3/endpoint"},
	{"s3.endpoint=:9000", "/s3/endpoint"},
	{"s3.endpoint=s3.example.com:99999", "/s3/endpoint"},
	{"s3.endpoint=[2001:db8::1]:65536", "/s3/endpoint"},
	{"s3.cidrs={192.0.2.0}", "/s3/cidrs/0"},
	{"s3.cidrs={2001:db8::}", "/s3/cidrs/0"},
	{"s3.bucket=No", "/s3/bucket"},
	{"images.pullPolicy=Sometimes", "/images/pullPolicy"},
	{"argo.nonsense=1", "nonsense"},
	{"images.manager.regsitry=a", "regsitry"},
	{"images.agent.pullPolicy=Always", "pullPolicy"},
	{"images.agent.digest=sha256:1", "/images/agent/digest"},
	{"operator.tolerationz=1", "tolerationz"},
	{"operator.resources.limit.memory=1Gi", "/operator/resources"},
	{"argo.resources.memory=1Gi", "/argo/resources"},
	{"minio.resources.request.cpu=1", "/minio/resources"},
	{"runs.namespaces={Team}", "/runs/namespaces/0"},
	{"runs.namespaces={team,team}", "/runs/namespaces"},
	{"runs.pods.hostNetwork=true", "hostNetwork"},
	{"runs.pods.securityContext.runAsUser=0", "/runs/pods/securityContext/runAsUser"},
	{"runs.pods.securityContext.privileged=true", "privileged"},
	{"operator.logLevel=loud", "/operator/logLevel"},
	{"minio.storage.size=20Gi", "storage"},
	{"minio.persistence.size=big", "/minio/persistence/size"},
	{"webhook.enabled=maybe", "/webhook/enabled"},
	{"ui.enabled=maybe", "/ui/enabled"},
	{"ui.enabled=true,ui.hosts={https://pages.example.com}", "/ui/hosts/0"},
	{"ui.enabled=true,ui.hosts={pages.example.com:8080}", "/ui/hosts/0"},
	{"ui.enabled=true,ui.from={proxy}", "/ui/from/0"},
	{"ui.enabled=true,ui.ingress=true", "ingress"},
	{"ui.ingress.enabled=true", "ui.ingress and ui.httpRoute need ui.enabled=true"},
	{"ui.enabled=true,ui.ingress.enabled=true", "need ui.hosts"},
	{"ui.enabled=true,ui.hosts={a.example.com},ui.ingress.enabled=true", "need ui.from"},
	{"ui.enabled=true,ui.ingress.hosts={a.example.com}", "hosts"},
	{"webhook.enabled=true,webhook.httpRoute.enabled=true,webhook.hosts={a.example.com}", "needs webhook.httpRoute.parentRefs"},
	{"webhook.enabled=true,webhook.ingress.enabled=true", "need webhook.hosts"},
	{"webhook.enabled=true,webhook.hosts={a.example.com}", "webhook.hosts needs webhook.ingress.enabled=true"},
	{"webhook.enabled=true,webhook.hosts={https://a.example.com}", "/webhook/hosts/0"},
	{"nameOverride=a,fullnameOverride=b", "exclude each other"},
	{"fullnameOverride=Acme", "/fullnameOverride"},
	{"fullnameOverride=a23456789012345678901234567890123456789012", "/fullnameOverride"},
	{"nameOverride=a2345678901234567890123456789012345678", "at most 40 lower-case letters"},
	{"operator.replicas=0", "/operator/replicas"},
	{"operator.replicaCount=2", "replicaCount"},
	{"operator.topologySpreadConstraints[0].topologyKey=zone,operator.topologySpreadConstraints[0].whenUnsatisfiable=DoNotSchedule", "needs operator.replicas of 2 or more"},
	{"operator.replicas=2,operator.topologySpreadConstraints[0].topologyKey=zone", "/operator/topologySpreadConstraints/0"},
	{"argo.serviceAccount.create=false", "argo.serviceAccount.create=false needs argo.serviceAccount.name"},
	{"webhook.serviceAccount.create=false,webhook.serviceAccount.name=a,webhook.serviceAccount.annotations.b=c", "annotate your own account"},
	{"extraObjects[0].kind=ConfigMap", "/extraObjects/0"},
	{"commonAnnotations.a=1", "/commonAnnotations/a"},
	{"crds.keep=false", "keep"},
	{"rbac.create=maybe", "/rbac/create"},
	{"metrics.serviceMonitor.relabelings=a", "/metrics/serviceMonitor/relabelings"},
	{"ui.enabled=true,ui.resources.memory=1Gi", "/ui/resources"},
	{"ui.hosts={pages.example.com}", "set ui.enabled=true"},
	{"ui.enabled=true,networkPolicy.enabled=false,ui.from[0].podSelector.matchLabels.app=proxy", "every pod of the cluster reaches the pages"},
	{"metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.enabled needs metrics.enabled=true"},
	{"metrics.rules.enabled=true", "metrics.rules.enabled needs metrics.serviceMonitor.enabled=true"},
	{"metrics.dashboard.enabled=true", "metrics.dashboard.enabled needs metrics.enabled=true"},
	{"s3.caBundle.secret=a", "s3.caBundle needs TLS"},
	{"s3.tls=true,s3.caBundle.secret=a,s3.caBundle.configMap=b", "exclude each other"},
}

func TestWrongValuesGiveAnErrorMessage(t *testing.T) {
	for _, f := range refusals {
		_, err := helm(t, newest, "", f.setting)
		switch {
		case err == nil:
			t.Errorf("%s is accepted", f.setting)
		case !strings.Contains(err.Error(), f.want):
			t.Errorf("%s is refused without the words %q: %s", f.setting, f.want, err)
		}
	}
}

func TestHelmLintFindsNothing(t *testing.T) {
	testbed.Programs(t, "helm")
	if _, err := checkout.command(t.Context(), "helm", "lint", "--strict", "--quiet", "--kube-version="+newest, chartDir); err != nil {
		t.Error(err)
	}
}
