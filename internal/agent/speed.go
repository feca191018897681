package agent

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// workRounds and workSteps are the fixed work: five rounds of about a millisecond at 2.6 GHz, of which the fastest counts. An
	// interrupt or a hypervisor hits a round; a slow clock and a neighbour on the core hit all of them.
	workRounds, workSteps = 5, 500_000
	// workTime is the time that is kept free for it.
	workTime = 12 * time.Millisecond
	// maxFrequencies bounds the CPUs whose frequencies are read with each sample, at some microseconds each.
	maxFrequencies = 8
)

// errNoFrequency says that the kernel does not show how fast the server's CPUs run.
var errNoFrequency = errors.New("the kernel shows no frequency")

// work does the fixed work on the server's CPU, where the server has but one and the observer may run there, and where enough time is
// left until the load begins.
//
// On a CPU that the kubelet gave to the server alone it may not: the kernel refuses a CPU outside of the observer's cpuset (EINVAL), and
// nobody without privileges enters another container's.
func (o *Observer) work(until time.Time) (*record.Work, error) {
	if o.config.Beside {
		return nil, errors.New("the other server's observer does the work for both")
	}
	if err := o.locate(); err != nil {
		return nil, err
	}
	status, err := os.ReadFile(o.proc.path(o.server, "status"))
	if err != nil {
		return nil, errGone
	}
	cpus := protocol.ParseCPUs(line(status, "Cpus_allowed_list"))
	if len(cpus) != 1 {
		return nil, fmt.Errorf("the server may run on %d CPUs", len(cpus))
	}
	if time.Until(until) < workTime {
		return nil, errors.New("the observer was late")
	}
	return workOn(cpus[0])
}

// workOn does the fixed work on a CPU, in a thread that runs there meanwhile and nowhere else.
func workOn(cpu int) (*record.Work, error) {
	runtime.LockOSThread()
	var before, there unix.CPUSet
	there.Set(cpu)
	if err := errors.Join(unix.SchedGetaffinity(0, &before), unix.SchedSetaffinity(0, &there)); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("the observer may not run on CPU %d: %w", cpu, err)
	}
	done, err := rounds()
	if errBack := unix.SchedSetaffinity(0, &before); errBack != nil {
		return nil, fmt.Errorf("leaving CPU %d: %w", cpu, errBack) // The thread stays locked, so that nothing else runs in it there.
	}
	runtime.UnlockOSThread()
	return done, err
}

// rounds does the fixed work.
func rounds() (*record.Work, error) {
	var done record.Work
	began := time.Now()
	for range workRounds {
		from, err := threadNanos()
		if err != nil {
			return nil, err
		}
		if steps(workSteps) == 0 {
			return nil, errNoNumber // It never is; but the compiler does not know, and so cannot leave the loop out.
		}
		to, err := threadNanos()
		if err != nil {
			return nil, err
		}
		if took := to - from; done.CPUNanos == 0 || took < done.CPUNanos {
			done.CPUNanos = took
		}
	}
	done.WallNanos = time.Since(began).Nanoseconds()
	return &done, nil
}

// steps is a chain in which each step needs the result of the one before (xorshift64, which never reaches 0).
func steps(n int) uint64 {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// threadNanos is the CPU time of the calling thread.
func threadNanos() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of a thread: %w", err)
	}
	return t.Nano(), nil
}

// describeSpeed says what is not known of the speed of the server's CPUs: nothing while there is either of its two measures. Of a duet the
// other observer says it.
func (o *Observer) describeSpeed(cell *record.CellObservation, noWork error) {
	known := cell.WorkAfter != nil || cell.Series != nil && len(cell.Series.KHz) > 0
	if cell.Error == "" && !known && !o.config.Beside {
		missing(cell, nameSpeed, fmt.Errorf("%w, and %w", errNoFrequency, noWork))
	}
}

// frequencies are the files that show how fast some CPUs run.
type frequencies []*counterFile

// openFrequencies opens those of the given CPUs below /sys; none if the kernel does not show all of them, or if they are too many.
func openFrequencies(sys string, cpus map[int64]bool) frequencies {
	if len(cpus) > maxFrequencies {
		return nil
	}
	var files frequencies
	for _, cpu := range slices.Sorted(maps.Keys(cpus)) {
		f, err := openCounter(filepath.Join(sys, "devices/system/cpu/cpu"+strconv.FormatInt(cpu, 10), "cpufreq/scaling_cur_freq"))
		if err != nil {
			files.close()
			return nil
		}
		files = append(files, f)
	}
	return files
}

// mean is their mean in kHz; 0 if it is not known.
func (f frequencies) mean() int64 {
	var sum int64
	for _, file := range f {
		text, err := file.read()
		if err != nil {
			return 0
		}
		n, ok := number(text)
		if !ok {
			return 0
		}
		sum += n
	}
	return sum / max(int64(len(f)), 1)
}

func (f frequencies) close() {
	for _, file := range f {
		file.close()
	}
}
