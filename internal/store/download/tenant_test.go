package download_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/cli"
	"loadstone.dev/loadstone/internal/store/download"
)

// typing returns a function that runs a command with a user's kubeconfig.
func typing(t *testing.T, config *rest.Config) func(args ...string) (out, notes string, err error) {
	t.Helper()
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken}
	k.Contexts["here"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "here"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (out, notes string, err error) {
		var o, n bytes.Buffer
		root := cli.New("loadstone")
		root.SetArgs(append(args, "--kubeconfig", path))
		root.SetOut(&o)
		root.SetErr(&n)
		err = root.ExecuteContext(t.Context())
		return o.String(), n.String(), err
	}
}

// No operator writes a status there, so the commands would wait forever.
func TestCommandsRefuseANamespaceThatIsNotLed(t *testing.T) {
	config, _ := download.Reported(t)
	loadstone := typing(t, config)
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	sample := filepath.Join("..", "..", "..", "config", "samples", "quick.yaml")
	refused := func(args ...string) {
		t.Helper()
		const want = "the operator ignores runs in namespace unled: add it to the chart value runs.namespaces"
		if out, _, err := loadstone(append(args, "--namespace", "unled")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("loadstone %s prints %q, and ends with %v", strings.Join(args, " "), out, err)
		}
	}
	refused("run", sample, "--cluster")
	r := &v1alpha1.BenchmarkRun{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "unled", Name: "quick"}, r); !apierrors.IsNotFound(err) {
		t.Errorf("the run exists: %v", err)
	}
	if err := yaml.Unmarshal(samples.AA, r); err != nil {
		t.Fatal(err)
	}
	r.Namespace, r.Name = "unled", "applied"
	if err := c.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), r); err != nil {
			t.Error(err)
		}
	})
	refused("watch", "applied")
	refused("wait", "applied")
}

func TestATenantFetchesTheirReportAndNoOther(t *testing.T) {
	config, page := download.Tenant(t)
	loadstone := typing(t, config)
	dir := t.TempDir()
	report := func(args ...string) (out, notes string, err error) {
		return loadstone(append([]string{"report", "quick", "--out", dir}, args...)...)
	}
	want := filepath.Join(dir, "a", "quick", "report.html")
	out, notes, err := report("--namespace", "a")
	if err != nil || out != want+"\n" || notes != "" {
		t.Fatalf("it prints %q and %q, and ends with %v", out, notes, err)
	}
	if text, err := os.ReadFile(want); err != nil || string(text) != page {
		t.Errorf("the page is %q, %v", text, err)
	}
	if out, _, err := report("--namespace", "b"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("of another namespace it prints %q, and ends with %v", out, err)
	}
	if out, _, err := report("--namespace", "a", "--again"); err == nil || !strings.Contains(err.Error(), "has no such file") {
		t.Errorf("a run without records is reported again as %q, %v", out, err)
	}
}
