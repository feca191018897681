package observe

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// workRounds and workSteps define the fixed work: five rounds of about 1 ms at 2.6 GHz; the fastest counts. An interrupt or hypervisor
	// disturbs one round; a slow clock or a neighbor on the core disturbs all.
	workRounds, workSteps = 5, 500_000
	workTime              = 12 * time.Millisecond
)

var errNoFrequency = errors.New("the kernel shows no frequency")

// work does the fixed work on the server's CPU, if the server has only one, the observer may run there, and enough time remains before the
// load.
//
// On a CPU that the kubelet assigned exclusively it fails: the kernel refuses CPUs outside the observer's cpuset (EINVAL), and entering
// another container's cpuset needs privileges.
func (o *Observer) work(until time.Time) (*record.Work, error) {
	if o.config.Server > 0 {
		return nil, errors.New("the other server's observer does the work for both")
	}
	if err := o.locate(); err != nil {
		return nil, err
	}
	list, err := o.proc.CPUsAllowed(o.server)
	if err != nil {
		return nil, errGone
	}
	cpus := util.ParseCPUs(list)
	if len(cpus) != 1 {
		return nil, fmt.Errorf("the server may run on %d CPUs", len(cpus))
	}
	if time.Until(until) < workTime {
		return nil, errors.New("the observer was late")
	}
	return workOn(cpus[0])
}

// workOn does the fixed work in a thread that is pinned to a CPU meanwhile.
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
		return nil, fmt.Errorf("leaving CPU %d: %w", cpu, errBack) // The thread stays locked, so that no other goroutine runs on it.
	}
	runtime.UnlockOSThread()
	return done, err
}

func rounds() (*record.Work, error) {
	var done record.Work
	began := time.Now()
	for range workRounds {
		from, err := kernel.ThreadCPUNanos()
		if err != nil {
			return nil, err
		}
		if steps(workSteps) == 0 {
			return nil, kernel.ErrNoNumber // It never is, but the compiler cannot know, so it keeps the loop.
		}
		to, err := kernel.ThreadCPUNanos()
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

// steps is a dependency chain (xorshift64, which never reaches 0).
func steps(n int) uint64 {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// describeSpeed names the unknowns about the speed of the server's CPUs; none if one of two measures exists. In a duet the first
// server's observer reports it.
func (o *Observer) describeSpeed(cell *record.CellObservation, noWork error) {
	known := cell.WorkAfter != nil || cell.Series != nil && len(cell.Series.KHz) > 0
	if cell.Error == "" && !known && o.config.Server == 0 {
		missing(cell, nameSpeed, fmt.Errorf("%w, and %w", errNoFrequency, noWork))
	}
}
