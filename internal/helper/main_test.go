package helper

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/kernel"
)

// TestMain makes the test's own program be the parts that a run starts, since a run starts its own program again.
func TestMain(m *testing.M) {
	if !Is(os.Args[1:]) {
		os.Exit(m.Run())
	}
	status, err := Help(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadstone:", err)
	}
	os.Exit(status)
}

// patience bounds how long a test waits for what must happen, on a machine that is busy.
const patience = 2 * time.Minute

// await waits until something has happened.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it was waited in vain until %s", what)
		}
	}
}

// ownCPUs are the CPUs on which this test may run.
func ownCPUs(t *testing.T) []int {
	t.Helper()
	cpus := cpuset.Parse(kernel.OwnCPUsAllowed())
	if len(cpus) == 0 {
		t.Fatalf("the kernel lists %q", kernel.OwnCPUsAllowed())
	}
	return cpus
}

// write makes a file and returns its path.
func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
