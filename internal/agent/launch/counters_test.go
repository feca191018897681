package launch_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

func reads(t *testing.T, value, enabled, running uint64) launch.Kernel {
	t.Helper()
	path := filepath.Join(t.TempDir(), "counter")
	var text []byte
	for _, n := range []uint64{value, enabled, running} {
		text = binary.NativeEndian.AppendUint64(text, n)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(*unix.PerfEventAttr, int, int, int, int) (int, error) { return unix.Open(path, unix.O_RDONLY, 0) }
}

func refuses(err error) launch.Kernel {
	return func(*unix.PerfEventAttr, int, int, int, int) (int, error) { return -1, err }
}

func guarded(open launch.Kernel) launch.Kernel {
	return func(attr *unix.PerfEventAttr, thread, cpu, group, flags int) (int, error) {
		if attr.Bits&unix.PerfBitExcludeKernel == 0 {
			return -1, unix.EACCES
		}
		return open(attr, thread, cpu, group, flags)
	}
}

func find(t *testing.T, all []perfstat.Counter, event string) perfstat.Counter {
	t.Helper()
	for _, c := range all {
		if c.Event == event {
			return c
		}
	}
	t.Fatalf("there is no %s in %+v", event, all)
	return perfstat.Counter{}
}

func TestWhatTheKernelRefusesIsNotMeasuredForItsReason(t *testing.T) {
	for name, tc := range map[string]struct {
		open  launch.Kernel
		event string
		want  float64
		why   string
	}{
		"a machine with counters":                      {reads(t, 900, 10, 10), "instructions", 900, ""},
		"one with too few of them":                     {reads(t, 900, 10, 5), "instructions", 1800, ""},
		"one that never had one to spare":              {reads(t, 0, 10, 0), "instructions", 0, "not counted"},
		"a machine without counters":                   {refuses(unix.ENOENT), "instructions", 0, "this machine has no such counter (ENOENT)"},
		"a virtual machine without them":               {refuses(unix.EOPNOTSUPP), "cycles", 0, "this machine has no such counter (ENOTSUP)"},
		"a pod whose seccomp profile refuses the call": {refuses(unix.EPERM), "instructions", 0, "operation not permitted (EPERM)"},
		"an administrator who allows nothing":          {refuses(unix.EACCES), "instructions", 0, "permission denied (EACCES)"},
		"one who guards the kernel":                    {guarded(reads(t, 900, 10, 10)), "instructions:u", 900, ""},
		"migrations, which the kernel does":            {guarded(reads(t, 0, 10, 10)), "cpu-migrations", 0, "permission denied (EACCES)"},
		"a kernel without the call":                    {refuses(unix.ENOSYS), "cpu-migrations", 0, "function not implemented (ENOSYS)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := find(t, launch.Open(tc.open).Read(), tc.event)
			if tc.why != "" {
				if c.Value != nil || c.Why != tc.why {
					t.Errorf("it is %+v, want no value and %q", c, tc.why)
				}
				return
			}
			if c.Value == nil || *c.Value != tc.want || c.Why != "" {
				t.Errorf("it is %+v, want %v", c, tc.want)
			}
		})
	}
}

// The kernel's accounting works even if counters are refused.
func TestEveryProgramHasItsAccounts(t *testing.T) {
	u := syscall.Rusage{Utime: syscall.Timeval{Usec: 1500}, Stime: syscall.Timeval{Sec: 1}, Nvcsw: 3, Nivcsw: 4, Minflt: 50, Majflt: 6}
	for event, want := range map[string]float64{"task-clock": 1001.5, "context-switches": 7, "page-faults": 56} {
		if c := find(t, launch.Accounted(&u), event); c.Value == nil || *c.Value != want {
			t.Errorf("%s is %+v, want %v", event, c, want)
		}
	}
}

// On a real kernel each counter has a value or a reason, and counts the program but not the starting thread.
func TestCountersOfThisKernel(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := launch.Open(func(attr *unix.PerfEventAttr, thread, cpu, group, flags int) (int, error) {
		attr.Type, attr.Config = unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS
		return unix.PerfEventOpen(attr, thread, cpu, group, flags)
	})
	if err := exec.Command("/bin/true").Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range own.Read() {
		if (c.Value == nil) != (c.Why != "") || c.Value != nil && *c.Value < 10 {
			t.Errorf("page faults of a program are %+v", c)
		}
		t.Logf("%s: %+v", c.Event, c)
	}
}
