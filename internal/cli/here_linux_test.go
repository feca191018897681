package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/local/reexec"
)

func isHelper() bool { return reexec.Is(os.Args[1:]) }

// skipUnmeasured does nothing: here_other_test.go skips tests that measure.
func skipUnmeasured(*testing.T, error) {}

// killed starts a command, kills it after some time, and checks that every process that it had started ends, too. It is false if the command had
// ended by itself.
func killed(t *testing.T, cmd *exec.Cmd, after time.Duration) bool {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	all, err := kernel.Proc("/proc").Processes()
	if err != nil {
		t.Fatal(err)
	}
	family := kernel.Family(all, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	_ = cmd.Wait() // It was killed, or two blocks gave no verdict.
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		t.Fatalf("it has ended as %T", cmd.ProcessState.Sys())
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var left []string
		for _, pid := range family {
			if p, err := kernel.Proc("/proc").Process(pid); err == nil {
				left = append(left, fmt.Sprintf("%d: %+v", pid, p))
			}
		}
		if len(left) == 0 {
			return status.Signaled()
		}
		if time.Now().After(deadline) {
			t.Fatalf("these are left: %s", strings.Join(left, "; "))
		}
	}
}

// naming are the command lines of processes that name a folder.
func naming(t *testing.T, dir string) []string {
	t.Helper()
	all, err := kernel.Proc("/proc").Processes()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range all {
		text, err := os.ReadFile(kernel.Proc("/proc").Path(p.PID, "cmdline"))
		cwd, _ := os.Readlink(kernel.Proc("/proc").Path(p.PID, "cwd")) // A process that has just ended has none.
		line := string(bytes.ReplaceAll(text, []byte{0}, []byte(" ")))
		if err == nil && p.PID != os.Getpid() && (strings.Contains(line, dir) || strings.HasPrefix(cwd, dir)) {
			out = append(out, line)
		}
	}
	return out
}

// mountSmall mounts a small file system for the test.
func mountSmall(t *testing.T, folder string) {
	t.Helper()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("this test mounts a small disk: %s", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
}
