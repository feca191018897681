package docs_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/testbed"
)

// inconclusive is the exit code of a run without a verdict.
const inconclusive = 4

// TestTheDemoEndsInAReport runs make demo. If other programs disturb it, it may end without a verdict and say so. Its ports are fixed, and
// no other test uses them.
func TestTheDemoEndsInAReport(t *testing.T) {
	t.Parallel()
	testbed.Programs(t, "go", "wrk")
	results := filepath.Join(t.TempDir(), "results")
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(root, "hack", "demo.sh"), "--out", results).CombinedOutput()
	code := (*exec.ExitError)(nil)
	undecided := errors.As(err, &code) && code.ExitCode() == inconclusive
	if err != nil && !undecided || undecided != strings.Contains(string(out), "There is no verdict: the report says why.") {
		t.Errorf("it ended with %v: %s", err, out)
	}
	found, globErr := filepath.Glob(filepath.Join(results, "reports", "*", "report.html"))
	if globErr != nil || len(found) == 0 || !strings.Contains(string(out), "report: "+found[len(found)-1]) {
		t.Errorf("it left the reports %v, and said: %s", found, out)
	}
}
