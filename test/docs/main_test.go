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

// built is the folder of built programs; empty if there are none.
var built string

// programs builds the programs of bin when the first test needs them.
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

func pages(t *testing.T) map[string]string {
	t.Helper()
	var files []string
	for folder, least := range map[string]int{".": 5, "tutorials": 2, "how-to": 5, "reference": 5, "explanation": 3, "decisions": 30} {
		found, err := filepath.Glob(filepath.Join(root, "docs", folder, "*.md"))
		if err != nil || len(found) < least {
			t.Fatalf("docs/%s has %d pages, want at least %d: %v", folder, len(found), least, err)
		}
		files = append(files, found...)
	}
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
