package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"loadstone.dev/loadstone/internal/helper"
	"loadstone.dev/loadstone/internal/protocol"
)

func scriptOf(load, text string) protocol.Script {
	return protocol.Script{Load: load, Text: []byte(text)}
}

func TestARunIsLedByOneProcess(t *testing.T) {
	dir := t.TempDir()
	first, err := claimRun(dir)
	if err != nil || first == nil {
		t.Fatalf("it is claimed as %v, %v", first, err)
	}
	if second, err := claimRun(dir); second != nil || err != nil {
		t.Errorf("a second process claims it as %v, %v", second, err)
	}
	r := &Run{options: Options{Out: dir}}
	refused(t, r.openFolder(t.Context()), "another loadstone run is at work in the folder "+dir)
	first.end()
	if err := r.openFolder(t.Context()); err != nil {
		t.Errorf("a run that has ended is still claimed: %v", err)
	}
	r.claim.end()
	if _, err := os.Stat(workOf(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of its processes is left: %v", err)
	}
}

// A child goes on after its run was killed, as long as it does not end. Meanwhile its run is not resumed.
func TestAResumedRunWaitsForTheProcessesOfItsPredecessor(t *testing.T) {
	dir := t.TempDir()
	first, err := claimRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.claimProcesses(workOf(dir)); err != nil {
		t.Fatal(err)
	}
	own := assembled(t)
	log, err := own.openLog(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	left, err := helper.Start([]string{helper.KeeperCommand, "--cpus", helper.CPUList(ownCPUs(t)), "--dir", dir, "--log", filepath.Join(dir, "output"), "--", "/bin/sleep", "1000"}, ownCPUs(t), log, first.held(), syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	// The descriptors of a killed process are closed, and nothing is removed.
	if err := errors.Join(first.processes.Close(), first.run.Close()); err != nil {
		t.Fatal(err)
	}
	second, err := claimRun(dir)
	if err != nil || second == nil {
		t.Fatalf("it is claimed as %v, %v", second, err)
	}
	defer second.end()
	waited := make(chan error, 1)
	go func() { waited <- second.claimProcesses(workOf(dir)) }()
	for range 5 {
		if busy, err := os.Open(workOf(dir)); err != nil || lock(busy) {
			t.Fatalf("it does not wait for the process that is left: %v", err)
		} else if err := busy.Close(); err != nil {
			t.Fatal(err)
		}
	}
	left.End()
	if err := <-waited; err != nil {
		t.Error(err)
	}
}
