package folders

import (
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"
)

// A child may outlive its killed run. Until it ends, the run is not resumed.
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
	// A killed process's descriptors are closed, and nothing is removed.
	if err := errors.Join(first.processes.Close(), first.run.Close()); err != nil {
		t.Fatal(err)
	}
	second, err := ClaimRun(dir)
	if err != nil || second == nil {
		t.Fatalf("it is claimed as %v, %v", second, err)
	}
	defer second.End()
	waited := make(chan error, 1)
	var released atomic.Bool
	go func() {
		err := second.ClaimProcesses(Work(dir))
		if !released.Load() {
			err = errors.Join(err, errors.New("it did not wait for the process that is left"))
		}
		waited <- err
	}()
	time.Sleep(10 * leftPause)
	released.Store(true)
	if err := left.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = left.Wait() // It was killed.
	if err := <-waited; err != nil {
		t.Error(err)
	}
}
