// Package reexectest has helpers for tests of local runs' processes: waits, CPUs and files.
package reexectest

import (
	"os"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
)

// Patience bounds a test's wait on a busy machine.
const Patience = 2 * time.Minute

// Await waits until something has happened.
func Await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it was waited in vain until %s", what)
		}
	}
}

// OwnCPUs returns the CPUs that the test may use.
func OwnCPUs(t *testing.T) []int {
	t.Helper()
	cpus := util.ParseCPUs(kernel.OwnCPUsAllowed())
	if len(cpus) == 0 {
		t.Fatalf("the kernel lists %q", kernel.OwnCPUsAllowed())
	}
	return cpus
}

// Write makes a file and returns its path.
func Write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
