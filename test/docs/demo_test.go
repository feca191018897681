package docs_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/testbed"
)

// inconclusive is the exit code of a run without a verdict, which one block cannot have.
const inconclusive = 4

// TestTheDemoEndsInAReport leads what make demo leads, with its own programs, for a block instead of seven.
func TestTheDemoEndsInAReport(t *testing.T) {
	testbed.Programs(t, "go", "wrk")
	folder := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sample, err := os.ReadFile(filepath.Join(root, "config", "samples", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)blocks: .*$`).ReplaceAllString(strings.ReplaceAll(string(sample), "../../bin", bin(t)), "blocks: 1")
	spec, results := filepath.Join(folder, "demo.yaml"), filepath.Join(folder, "results")
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(ctx, filepath.Join(bin(t), "loadstone"), "run", "--out", results, spec).CombinedOutput()
	if code := (*exec.ExitError)(nil); !errors.As(err, &code) || code.ExitCode() != inconclusive {
		t.Errorf("it ended with %v, want %d", err, inconclusive)
	}
	found, globErr := filepath.Glob(filepath.Join(results, "reports", "*", "report.html"))
	if globErr != nil || len(found) != 1 || !strings.Contains(string(out), "report: "+found[0]) {
		t.Errorf("it left the reports %v, and said: %s", found, out)
	}
}
