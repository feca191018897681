package observe

import (
	"os"
	"os/exec"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

func TestAServerIsTheOldestChildOfWhatHasStartedIt(t *testing.T) {
	first := exec.CommandContext(t.Context(), "sleep", "60")
	if err := first.Start(); err != nil {
		t.Skipf("there is no sleep: %v", err)
	}
	defer func() {
		_ = first.Process.Kill() // It only sleeps.
		_ = first.Wait()
	}()
	if pid, err := OldestChildOf(os.Getpid())("/proc"); err != nil || pid != first.Process.Pid {
		t.Errorf("found %d with %v, want %d", pid, err, first.Process.Pid)
	}
	if _, err := OldestChildOf(first.Process.Pid)("/proc"); err == nil {
		t.Error("a process without children has one")
	}
}

func TestAServerWithoutACgroupHasTheTimeOfItsClock(t *testing.T) {
	s, err := openServer("/proc", os.Getpid(), Config{SharedNetwork: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	own, err := kernel.OwnCPUNanos()
	if err != nil {
		t.Fatal(err)
	}
	if nanos, err := s.cpuNanos(); err != nil || nanos < own {
		t.Errorf("it has used %d ns with %v, and this process %d", nanos, err, own)
	}
	var cell record.CellObservation
	difference(&cell, s.snapshot(), s.snapshot())
	if cell.Network.Handshakes != nil || cell.Network.PassiveOpens != 0 || len(cell.Unknown) < 2 {
		t.Errorf("handshakes of anybody are taken for the server's: %+v", cell)
	}
}
