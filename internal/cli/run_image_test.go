package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// scratchImage is an image of one program that needs nothing else.
func scratchImage(t *testing.T, program string, command ...string) v1.Image {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.Base(program), Mode: 0o755, Size: int64(len(text))})
	if err == nil {
		_, err = w.Write(text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	i, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	config, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config.OS, config.Architecture, config.Config = "linux", runtime.GOARCH, v1.Config{Entrypoint: command, User: "65532"}
	if i, err = mutate.ConfigFile(i, config); err != nil {
		t.Fatal(err)
	}
	return i
}

// imageServer builds the reference server without any library into a folder, and returns its path.
func imageServer(t *testing.T, dir string) string {
	t.Helper()
	testbed.Programs(t, "wrk")
	program := filepath.Join(dir, "gohttp")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../workloads/gohttp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v: %s", err, out)
	}
	return program
}

func TestLocalRunOfImages(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--map-root-user", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine permits no sandbox: %v: %s", err, out)
	}
	program := imageServer(t, dir)
	// Not before: the compiler's cache is there, too.
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	plain, costly := freePort(t), freePort(t)
	// The run has its own network, where this port is free.
	taken, err := net.Listen("tcp", "127.0.0.1:"+plain)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // Nothing connects to it.
	tag, err := name.NewTag("localhost/plain:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(filepath.Join(dir, "plain.tar"), tag, scratchImage(t, program, "/gohttp", "--port="+plain)); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	reference := strings.TrimPrefix(server.URL, "http://") + "/costly:1"
	named, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	remoteImage := scratchImage(t, program, "/gohttp", "--port="+costly, "--burn=20000")
	if err := remote.Write(named, remoteImage); err != nil {
		t.Fatal(err)
	}
	digest, err := remoteImage.Digest()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "run.yaml")
	text := fmt.Sprintf(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: images}
spec:
  implementations:
  - {name: plain, image: ./plain.tar, port: %s}
  - {name: costly, image: %q, port: %s}
  baseline: plain
  placement: {pinning: Preferred}
  loads:
  - {name: sweep, tool: wrk, warmupSeconds: 0, durationSeconds: 1, levels: [{connections: 2}], request: {path: /, expect: {status: 200, body: helloworld}}}
  blocks: 2
`, plain, reference, costly)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(dir, "results")
	out, err := loadstone(ctx, "run", file, "--out", results).CombinedOutput()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	if all, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(all), dir) {
		t.Errorf("it leaves mounts, %v:\n%s", err, all)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	notes := strings.Join(m.Notes, "\n")
	for _, want := range []string{"implementations[plain] ran in its image ./plain.tar (sha256:", "ran in its image " + reference + " (" + digest.String() + ")", "a root file system that is only read", "it reached the programs of the run alone", "the page cache and the network of the run"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the record does not say %q:\n%s", want, notes)
		}
	}
	for _, entry := range m.Trials {
		if entry.Manifest == nil {
			t.Errorf("trial %s was not measured: %s: %s", entry.Name, entry.Reason, entry.Message)
			continue
		}
		var trial record.TrialManifest
		read(t, filepath.Join(dir, entry.Manifest.Key), &trial)
		if entry.Servers[0] == "costly" && trial.Pods[len(trial.Pods)-1].ImageID != digest.String() {
			t.Errorf("trial %s ran in %+v", entry.Name, trial.Pods)
		}
	}
}
