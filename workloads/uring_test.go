package workloads_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestUringSaysThatTheKernelRefuses(t *testing.T) {
	if !haveUring(t) {
		t.Skip("there is nothing to refuse")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", "uring", "OUT="+dir).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(dir, "uring"), "--port=1")
	said := &strings.Builder{}
	command.Stderr = said
	err := withoutUring(command.Run)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(said.String(), "the kernel refuses io_uring (Operation not permitted)") {
		t.Errorf("it ended with %v, and said: %s", err, said)
	}
}

// withoutUring runs do and its children under a seccomp filter that refuses io_uring, as in containers.
func withoutUring(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // The filter stays for the thread's life, which ends with this function.
		// By system call number: io_uring_setup fails, others pass.
		filter := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_IO_URING_SETUP},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			done <- fmt.Errorf("giving up privileges: %w", err)
			return
		}
		if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program))); errno != 0 {
			done <- fmt.Errorf("setting the filter: %w", errno)
			return
		}
		done <- do()
	}()
	return <-done
}
