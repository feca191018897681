package download_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"loadstone.dev/loadstone/internal/cli"
	"loadstone.dev/loadstone/internal/store/download"
)

func TestATenantFetchesTheirReportAndNoOther(t *testing.T) {
	config, page := download.Tenant(t)
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos["reader"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	k.Contexts["here"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "reader"}
	k.CurrentContext = "here"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	report := func(args ...string) (out, notes string, err error) {
		var o, n bytes.Buffer
		root := cli.New("loadstone")
		root.SetArgs(append([]string{"report", "quick", "--kubeconfig", path, "--out", dir}, args...))
		root.SetOut(&o)
		root.SetErr(&n)
		err = root.ExecuteContext(t.Context())
		return o.String(), n.String(), err
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
