package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"loadstone.dev/loadstone/internal/testbed"
)

const root = "../.."

// built is where programs has put what it has built; empty if nothing was.
var built string

// programs builds the programs that the pages call bin, when the first test needs them.
var programs = sync.OnceValue(func() (err error) {
	if built, err = os.MkdirTemp("", "loadstone-bin-"); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", built+"/", "./cmd/loadstone", "./workloads/gohttp", "./workloads/gnet")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	return nil
})

// bin is the folder of these programs.
func bin(t *testing.T) string {
	t.Helper()
	if err := programs(); err != nil {
		t.Fatal(err)
	}
	return built
}

func TestMain(m *testing.M) {
	testbed.AtOnce(4) // Most commands wait.
	code := testbed.Main(m)
	if err := os.RemoveAll(built); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// pages are the texts that readers begin with, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) < 5 {
		t.Fatalf("there are %d pages: %v", len(files), err)
	}
	decisions, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "*.md"))
	if err != nil || len(decisions) < 40 {
		t.Fatalf("there are %d decisions: %v", len(decisions), err)
	}
	files = append(files, decisions...)
	for _, other := range []string{"README.md", "CONTRIBUTING.md", "charts/loadstone/README.md", "hack/cluster/README.md"} {
		files = append(files, filepath.Join(root, other))
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}
