package observe

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

func TestTheObserverPutsItsServerOnTheOneCPUOfADuet(t *testing.T) {
	own := util.ParseCPUs(kernel.OwnCPUsAllowed())
	cpu := int32(own[len(own)-1])
	// The observer leaves that CPU with the test's own process.
	t.Cleanup(func() {
		if err := kernel.Proc("/proc").SetCPUs(os.Getpid(), own); err != nil {
			t.Error(err)
		}
	})
	server := child(t)
	start := starting(100*time.Millisecond, cell(1))
	start.ServerCPU = &cpu
	result := seen(t, observing(t, "/proc", server.Process.Pid), start, nothing)
	if c := result.Cells[0]; c.Error != "" || c.CPUsAllowed != strconv.Itoa(int(cpu)) {
		t.Errorf("the server was on %s, want %d: %s", c.CPUsAllowed, cpu, c.Error)
	}
	tasks, err := os.ReadDir(kernel.Proc("/proc").Path(server.Process.Pid, "task"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		status, err := os.ReadFile(kernel.Proc("/proc").Path(server.Process.Pid, "task", task.Name(), "status"))
		if err == nil && !strings.Contains(string(status), fmt.Sprintf("\nCpus_allowed_list:\t%d\n", cpu)) {
			t.Errorf("thread %s may run elsewhere:\n%s", task.Name(), status)
		}
	}
}

func TestTheObserverLooksAtTheConnectionsOfADuetNearItsEnd(t *testing.T) {
	var looked atomic.Int64
	server := child(t)
	o := observing(t, "/proc", server.Process.Pid)
	o.sockets = func(int, time.Duration) (*record.Sockets, error) {
		looked.Store(time.Now().UnixNano())
		return &record.Sockets{Established: 1}, nil
	}
	start := starting(100*time.Millisecond, duetCell())
	start.Targets = append(start.Targets, "127.0.0.1:81")
	seen(t, o, start, nothing)
	// A late observer does not look at all.
	if at := time.Unix(0, looked.Load()); looked.Load() != 0 && at.Before(start.At.Add(1900*time.Millisecond)) {
		t.Errorf("it looked %v after the start of two seconds", at.Sub(start.At))
	}
}

func TestACPUThatTheServerMayNotHaveIsSaid(t *testing.T) {
	server, cpu := child(t), int32(1000)
	start := starting(50*time.Millisecond, cell(1))
	start.ServerCPU = &cpu
	result := seen(t, observing(t, "/proc", server.Process.Pid), start, nothing)
	if got := result.Cells[0].Error; !strings.HasPrefix(got, "putting the server on CPU 1000: setting the CPUs of thread ") || !strings.HasSuffix(got, "invalid argument") {
		t.Errorf("the cell says %q", got)
	}
}
