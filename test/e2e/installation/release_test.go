package installation

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/test/e2e/registry"
)

// releaseFolder names the folder of make release.
const releaseFolder = "LOADSTONE_RELEASE"

// From the files of a release alone, Loadstone is installed, measures and is removed. Argo, MinIO and the servers are images of the cluster.
func TestReleaseInstallsAndMeasures(t *testing.T) {
	if os.Getenv("CI") == "" || os.Getenv("KUBECONFIG") == "" || os.Getenv(releaseFolder) == "" {
		t.Skipf("it installs a release: `make test-cluster` builds one, names it in %s, and runs it", releaseFolder)
	}
	folder, err := filepath.Abs(filepath.Join(root, os.Getenv(releaseFolder)))
	if err != nil {
		t.Fatal(err)
	}
	version := filepath.Base(folder)
	from := registry.New(t, registry.NewPrivate(t, "127.0.0.1"))
	run(t, []string{"SSL_CERT_FILE=" + from.Authority}, "make", "--silent", "publish", "VERSION="+version, "REGISTRY="+from.Host+"/loadstone")

	program := t.TempDir()
	run(t, nil, "tar", "--extract", "--gzip", "--file", filepath.Join(folder, "loadstone_"+version+"_linux_amd64.tar.gz"), "--directory", program, "loadstone")
	begin := time.Now()
	install := []string{
		"upgrade", "--install", "loadstone", "oci://" + from.Host + "/loadstone/loadstone", "--version", version, "--ca-file", from.Authority, "--wait", "--timeout", "5m",
		"--namespace", system, "--create-namespace", "--set", "images.registry=" + from.Host + "/loadstone", "--set", "minio.persistence.enabled=false",
	}
	for _, image := range []string{"argoController", "argoExec", "minio", "gohttp", "epoll"} {
		install = append(install, "--set", "images."+image+".registry=localhost/loadstone", "--set", "images."+image+".tag=dev")
	}
	run(t, nil, "helm", install...)
	t.Logf("%s from helm install to Ready", time.Since(begin).Round(time.Second))
	images := kubectl(t, "get", "pods", "--namespace", system, "--selector", "app.kubernetes.io/component=operator", "--output", "jsonpath={.items[*].spec.containers[*].image}")
	if want := from.Host + "/loadstone/manager@sha256:"; !strings.HasPrefix(images, want) {
		t.Errorf("the operator's image is %q, want %s...", images, want)
	}
	measure(t, filepath.Join(program, "loadstone"))
	for _, command := range uninstalling(t) {
		run(t, nil, "bash", "-euo", "pipefail", "-c", command)
	}
}

// measure runs the first sample with a program to a report. A busy machine may give no verdict.
func measure(t *testing.T, program string) {
	t.Helper()
	const inconclusive = 4
	results := t.TempDir()
	c := exec.CommandContext(t.Context(), program, "run", filepath.Join("config", "samples", "quick.yaml"), "--cluster", "--out", results)
	c.Dir = root
	begin := time.Now()
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState.ExitCode() != inconclusive || !strings.Contains(string(out), "\nreport: "+results) {
		t.Fatalf("it ended with %v: %s", err, out)
	}
	t.Logf("%s from loadstone run to the report: %s", time.Since(begin).Round(time.Second), out[max(0, len(out)-300):])
}
