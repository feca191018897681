package runfolder

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// A child goes on after its run was killed, as long as it does not end. Meanwhile its run is not resumed.
func TestAResumedRunWaitsForTheProcessesOfItsPredecessor(t *testing.T) {
	dir := t.TempDir()
	first, err := ClaimRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.ClaimProcesses(Work(dir)); err != nil {
		t.Fatal(err)
	}
	left := exec.CommandContext(t.Context(), "/bin/sleep", "1000")
	left.ExtraFiles = []*os.File{first.Held()}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	// The descriptors of a killed process are closed, and nothing is removed.
	if err := errors.Join(first.processes.Close(), first.run.Close()); err != nil {
		t.Fatal(err)
	}
	second, err := ClaimRun(dir)
	if err != nil || second == nil {
		t.Fatalf("it is claimed as %v, %v", second, err)
	}
	defer second.End()
	waited := make(chan error, 1)
	go func() { waited <- second.ClaimProcesses(Work(dir)) }()
	for range 5 {
		if busy, err := os.Open(Work(dir)); err != nil || lock(busy) {
			t.Fatalf("it does not wait for the process that is left: %v", err)
		} else if err := busy.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := left.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = left.Wait() // It was killed.
	if err := <-waited; err != nil {
		t.Error(err)
	}
}
