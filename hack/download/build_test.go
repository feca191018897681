package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkout copies what hack/cluster/build.sh needs, with the checksum of a Kubernetes archive and a go that builds nothing.
func checkout(t *testing.T, archive []byte) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "hack/download/main.go", "hack/cluster/build.sh", "hack/cluster/lib.sh", "hack/cluster/versions.env", "hack/cluster/src"} {
		link(t, filepath.Join(root, name), filepath.Join(dir, name))
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	write := map[string]string{
		"bin/go": "#!/bin/sh\ncase $1 in run | env) exec " + goCommand + " \"$@\" ;; esac\necho no source here\nexit 1\n",
		"hack/cluster/envtest.sha512": sumOf([]byte("of another minor version")) + "  envtest-v1.1.1-linux-amd64.tar.gz\n" +
			sumOf(archive) + "  envtest-v" + minorOf(t, root) + ".7-linux-amd64.tar.gz\n" + sumOf(archive) + "  envtest-v" + minorOf(t, root) + ".7-linux-arm64.tar.gz\n",
	}
	for name, text := range write {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// minorOf returns the minor version of Kubernetes, such as 1.36.
func minorOf(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "hack", "cluster", "versions.env"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(text), "\nKUBERNETES_VERSION=")
	parts := strings.SplitN(version, ".", 3)
	if len(parts) != 3 {
		t.Fatalf("versions.env has no KUBERNETES_VERSION: %q", text)
	}
	return parts[0] + "." + parts[1]
}

func build(t *testing.T, dir, url string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "hack", "cluster", "build.sh"), args...)
	c.Env = append(os.Environ(), "LOADSTONE_CACHE="+filepath.Join(dir, "cache"), "LOADSTONE_ENVTEST_URL="+strings.TrimSuffix(url, "/envtest.tar.gz"),
		"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "GOFLAGS=-trimpath", "GOWORK=off")
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestServersAreDownloadedOnceAndNotBuilt(t *testing.T) {
	body := pack(t, "controller-tools/envtest/etcd", "controller-tools/envtest/kube-apiserver", "controller-tools/envtest/kubectl")
	dir, url := checkout(t, body), site(t, http.StatusOK, body)
	plan, err := build(t, dir, url, "plan", "kube-apiserver", "etcd", "helm")
	if err != nil || !strings.Contains(plan, "downloads: kube-apiserver etcd (envtest-v") || !strings.Contains(plan, "builds from source: helm (about 60 s") {
		t.Errorf("the plan is %q, %v", plan, err)
	}
	said, err := build(t, dir, url, "kube-apiserver", "etcd")
	if err != nil || !strings.Contains(said, "Downloading kube-apiserver etcd v") {
		t.Errorf("it says %q, %v", said, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cache", "bin", "etcd")); err != nil || string(text) != "controller-tools/envtest/etcd" {
		t.Errorf("etcd is %q, %v", text, err)
	}
	for _, args := range [][]string{{"kube-apiserver", "etcd"}, {"plan", "kube-apiserver", "etcd"}} {
		if said, err := build(t, dir, url, args...); err != nil || said != "" {
			t.Errorf("called again with %q it says %q, %v", args, said, err)
		}
	}
}

func TestServersAreBuiltWhenTheDownloadIsRefused(t *testing.T) {
	body := pack(t, "kube-apiserver", "etcd", "kubectl")
	for name, tc := range map[string]struct {
		url, want string
	}{
		"damaged":     {site(t, http.StatusOK, body[1:]), "is refused: its SHA-512 is "},
		"missing":     {site(t, http.StatusNotFound, nil), "answers 404 Not Found"},
		"unreachable": {"http://127.0.0.1:1", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			said, err := build(t, checkout(t, body), tc.url, "etcd")
			// The go of this test builds nothing.
			if err == nil || !strings.Contains(said, "no source here") {
				t.Errorf("it does not build from source: %q, %v", said, err)
			}
			if !strings.Contains(said, tc.want) || !strings.Contains(said, "building from source instead: etcd") {
				t.Errorf("it says %q, want %q", said, tc.want)
			}
			if strings.Contains(said, "exit status") {
				t.Errorf("it says %q, want no exit status", said)
			}
		})
	}
}
