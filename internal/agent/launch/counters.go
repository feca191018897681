package launch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

// Kernel opens a counter of a thread like perf_event_open, and returns its descriptor.
type Kernel func(attr *unix.PerfEventAttr, thread, cpu, group, flags int) (int, error)

type event struct {
	name   string
	kind   uint32
	config uint64
	// inKernel marks events that happen only in the kernel: user-only counting would give 0.
	inKernel bool
}

var opened = []event{
	{"cpu-migrations", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_MIGRATIONS, true},
	{perfstat.Instructions, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS, false},
	{"cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, false},
	{"branches", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
	{"branch-misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES, false},
	{"cache-misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES, false},
}

// Counters count the next program that a thread starts.
type Counters []counter

type counter struct {
	name string
	file *os.File
	why  string
}

// Open opens counters on the calling thread. The thread must be locked and start the program. Counting begins with the program and includes
// its children.
func Open(open Kernel) Counters {
	var all Counters
	for _, e := range opened {
		all = append(all, e.open(open))
	}
	return all
}

// open opens an event's counter, including kernel time if the kernel allows that.
func (e event) open(open Kernel) counter {
	attr := unix.PerfEventAttr{
		Type: e.kind, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec,
	}
	c := counter{name: e.name}
	descriptor, err := open(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.EACCES) && !e.inKernel {
		c.name += perfstat.UserOnly
		attr.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
		descriptor, err = open(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err != nil {
		return counter{name: e.name, why: reason(err)}
	}
	c.file = os.NewFile(uintptr(descriptor), c.name)
	return c
}

// reason explains why the kernel refuses a counter.
func reason(err error) string {
	var code syscall.Errno
	switch {
	case !errors.As(err, &code):
		return err.Error()
	case code == unix.ENOENT, code == unix.EOPNOTSUPP, code == unix.ENODEV:
		return fmt.Sprintf("this machine has no such counter (%s)", unix.ErrnoName(code))
	}
	return fmt.Sprintf("%s (%s)", code.Error(), unix.ErrnoName(code))
}

// Read reads and closes the counters after the program has ended.
func (c Counters) Read() []perfstat.Counter {
	var all []perfstat.Counter
	for _, one := range c {
		all = append(all, one.read())
	}
	return all
}

func (c counter) read() perfstat.Counter {
	out := perfstat.Counter{Event: c.name, Why: c.why}
	if c.file == nil {
		return out
	}
	defer c.file.Close() //nolint:errcheck // It is only read.
	var text [24]byte
	if n, err := c.file.Read(text[:]); err != nil || n != len(text) {
		out.Why = fmt.Sprintf("the counter cannot be read: %v", err)
		return out
	}
	word := func(i int) float64 { return float64(binary.NativeEndian.Uint64(text[8*i:])) }
	value, enabled, running := word(0), word(1), word(2)
	if running == 0 {
		out.Why = "not counted"
		return out
	}
	out.Share = min(running/enabled, 1)
	value /= out.Share
	out.Value = &value
	return out
}

// Accounted returns the counters that the kernel keeps for each process, of a program and the children it waited for.
func Accounted(u *syscall.Rusage) []perfstat.Counter {
	clock := time.Duration(u.Utime.Nano()+u.Stime.Nano()).Seconds() * 1000
	switches, faults := float64(u.Nvcsw+u.Nivcsw), float64(u.Minflt+u.Majflt)
	return []perfstat.Counter{
		{Event: perfstat.TaskClock, Value: &clock, Unit: "msec", Share: 1},
		{Event: "context-switches", Value: &switches, Share: 1},
		{Event: "page-faults", Value: &faults, Share: 1},
	}
}

// count opens counters for the program that this thread starts next. The returned function writes them to a file after its end. An empty file
// name disables it.
func count(file string) func(*os.ProcessState) error {
	if file == "" {
		return func(*os.ProcessState) error { return nil }
	}
	own := Open(unix.PerfEventOpen)
	return func(s *os.ProcessState) error {
		read := own.Read()
		if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
			read = append(Accounted(usage), read...)
		}
		return write(file, read)
	}
}

func write(file string, read []perfstat.Counter) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing the counters: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return perfstat.Write(f, read)
}
