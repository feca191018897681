package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/test/structure"
)

// quickHere makes the quick sample a run on this machine: servers are programs on free ports, with two blocks of short levels, for few CPUs.
func quickHere(t *testing.T, dir string) string {
	t.Helper()
	f, err := runfile.Open(t.Context(), filepath.Join("..", "..", "config", "samples", "quick.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", "../../workloads/epoll", "OUT="+filepath.Join(dir, "epoll"), "epoll").CombinedOutput(); err != nil {
		t.Fatalf("building the server in C: %v: %s", err, out)
	}
	run := f.Run
	for i := range run.Spec.Implementations {
		own := &run.Spec.Implementations[i]
		port := freePort(t)
		number, err := strconv.ParseInt(port, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		own.Image, own.Command, own.Port = "", []string{"./" + filepath.Base(own.Command[0]), "--port=" + port}, int32(number)
	}
	run.Spec.Blocks, run.Spec.Placement.Pinning = 2, v1alpha1.Preferred
	run.Spec.Loads[0].DurationSeconds = 1
	text, err := yaml.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "quick.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// checkStructure compares the structure of records and report with the file that end-to-end tests use for runs on a cluster.
func checkStructure(t *testing.T, results string) {
	t.Helper()
	folder, err := artifact.OpenFolder(filepath.Dir(results))
	if err != nil {
		t.Fatal(err)
	}
	data, err := publish.Read(t.Context(), folder, filepath.Base(results), "")
	if err != nil {
		t.Fatal(err)
	}
	o, err := publish.Make(t.Context(), folder, filepath.Base(results), "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := structure.Of(data, o.Files)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "test", "structure", "testdata", "quick.txt"), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(structure.Quick, got); diff != "" {
		t.Errorf("the structure of the run: -want +got:\n%s", diff)
	}
}
