package reexec

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func threadCPUs(t *testing.T) unix.CPUSet {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestNothingIsStartedWithoutACPU(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPUs(t)
	cmd := exec.CommandContext(t.Context(), "/bin/true")
	if err := startOn(cmd, nil); err == nil || !strings.Contains(err.Error(), "setting its CPUs []") || cmd.Process != nil {
		t.Errorf("it ends with %v", err)
	}
	if after := threadCPUs(t); after != before {
		t.Errorf("the thread has moved from %v to %v", before, after)
	}
}
