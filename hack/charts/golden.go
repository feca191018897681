package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// goldens are the chart with its default values, with a file of values that switches on what is off by default, and the operator alone with an S3
// that is opened by a role: by a key, config/ is its golden form.
var goldens = []struct{ file, values string }{
	{"hack/charts/testdata/embedded.yaml", ""},
	{"hack/charts/testdata/full.yaml", "hack/charts/testdata/full-values.yaml"},
	{"hack/charts/testdata/role.yaml", "hack/charts/testdata/role-values.yaml"},
}

// rendered is the chart with the values of a file, without definitions, which are checked as files.
func (r repository) rendered(ctx context.Context, values string) ([]byte, error) {
	list, err := r.chartOf(ctx, values)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, o := range list {
		if o.text("kind") == "CustomResourceDefinition" {
			continue
		}
		body, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", o.key(), err)
		}
		fmt.Fprintf(&b, "---\n%s", body)
	}
	return b.Bytes(), nil
}

func (r repository) updateGolden(ctx context.Context) error {
	for _, g := range goldens {
		body, err := r.rendered(ctx, g.values)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.path(g.file), body, 0o644); err != nil {
			return fmt.Errorf("writing golden file: %w", err)
		}
	}
	return nil
}

func (r repository) checkGolden(ctx context.Context) ([]string, error) {
	var findings []string
	for _, g := range goldens {
		have, err := r.rendered(ctx, g.values)
		if err != nil {
			return nil, err
		}
		want, err := os.ReadFile(r.path(g.file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading golden file: %w", err)
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			findings = append(findings, "(-"+g.file+" +chart; if the change is meant, run go run ./hack/charts -update)\n"+diff)
		}
	}
	return findings, nil
}

// refusals are settings that the chart must refuse, and a part of what it must say.
var refusals = []struct{ setting, want string }{
	{"s3.endpoint=s3.example.com", "set minio.enabled=false to use your S3"},
	{"s3.tls=true", "the embedded MinIO speaks no TLS"},
	{"minio.enabled=false", "set s3.endpoint to host:port of your S3"},
	{"minio.enabled=false,s3.endpoint=s3.example.com", "make a Secret with the keys access-key and secret-key"},
	{"s3.byRole=true", "s3.byRole is for an S3 of your own"},
	{"minio.enabled=false,s3.endpoint=s3.example.com,s3.byRole=true,s3.existingSecret=a", "s3.byRole and s3.existingSecret exclude each other"},
	{"minio.enabled=false,s3.endpoint=s3.example.com,s3.existingSecret=a,s3.stsEndpoint=https://sts.example.com", "set s3.byRole=true"},
	{"s3.stsEndpoint=sts.example.com", "/s3/stsEndpoint"},
	{"podSecurityContext.runAsUser=0", "/podSecurityContext/runAsUser"},
	{"podSecurityContext.runAsNonRoot=false", "runAsNonRoot"},
	{"operator.extraEnv[0].value=a", "/operator/extraEnv/0"},
	{"argo.extraVolumes=a", "/argo/extraVolumes"},
	{"s3.secretKeys.accessKey=AWS_ACCESS_KEY_ID", "names the keys of s3.existingSecret"},
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
	{"operator.logLevel=loud", "/operator/logLevel"},
	{"minio.storage.size=20Gi", "storage"},
	{"minio.persistence.size=big", "/minio/persistence/size"},
	{"webhook.enabled=maybe", "/webhook/enabled"},
	{"ui.enabled=maybe", "/ui/enabled"},
	{"ui.enabled=true,ui.hosts={https://pages.example.com}", "/ui/hosts/0"},
	{"ui.enabled=true,ui.hosts={pages.example.com:8080}", "/ui/hosts/0"},
	{"ui.enabled=true,ui.from={proxy}", "/ui/from/0"},
	{"ui.enabled=true,ui.ingress=true", "ingress"},
	{"ui.enabled=true,ui.resources.memory=1Gi", "/ui/resources"},
	{"ui.hosts={pages.example.com}", "set ui.enabled=true"},
	{"ui.enabled=true,networkPolicy.enabled=false,ui.from[0].podSelector.matchLabels.app=proxy", "every pod of the cluster reaches the pages"},
	{"metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.enabled needs metrics.enabled=true"},
	{"metrics.rules.enabled=true", "metrics.rules.enabled needs metrics.serviceMonitor.enabled=true"},
	{"metrics.dashboard.enabled=true", "metrics.dashboard.enabled needs metrics.enabled=true"},
	{"s3.caBundle.secret=a", "s3.caBundle is for TLS"},
	{"s3.tls=true,s3.caBundle.secret=a,s3.caBundle.configMap=b", "exclude each other"},
}

func (r repository) checkRefusals(ctx context.Context) ([]string, error) {
	var findings []string
	for _, f := range refusals {
		_, err := r.chart(ctx, f.setting)
		switch {
		case err == nil:
			findings = append(findings, f.setting+" is accepted")
		case !strings.Contains(err.Error(), f.want):
			findings = append(findings, fmt.Sprintf("%s is refused without the words %q: %s", f.setting, f.want, err))
		}
	}
	return findings, nil
}

func (r repository) checkLint(ctx context.Context) ([]string, error) {
	_, err := r.command(ctx, "helm", "lint", "--strict", "--quiet", "--kube-version="+newest, chartDir)
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		return []string{err.Error()}, nil
	}
	return nil, err
}
