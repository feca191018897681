//go:build !linux

package cli

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func isHelper() bool { return false }

// skipUnmeasured skips a test whose command was refused because it measures.
func skipUnmeasured(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "needs Linux") {
		t.Skip(err)
	}
}

func killed(t *testing.T, _ *exec.Cmd, _ time.Duration) bool {
	t.Helper()
	t.Skip("measuring needs Linux")
	return false
}

func naming(*testing.T, string) []string { return nil }

func mountSmall(t *testing.T, _ string) {
	t.Helper()
	t.Skip("small file systems for tests need Linux")
}

func TestMeasuringCommandsSayInOneLineThatTheyNeedLinux(t *testing.T) {
	for _, args := range [][]string{
		{"run", filepath.Join("..", "..", "config", "samples", "local.yaml")},
		{"vs", "./a --port={port}", "./b --port={port}"},
		{"compare-refs", "main", "HEAD", "--", "./a"},
		{"calibrate"},
		{"doctor"},
	} {
		var out bytes.Buffer
		root := New("loadstone")
		root.SetArgs(args)
		root.SetOut(&out)
		err := root.ExecuteContext(t.Context())
		if err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "needs Linux") || !strings.Contains(err.Error(), "--cluster") || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%q prints %q and ends with %v", args, out.String(), err)
		}
	}
}
