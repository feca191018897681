package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"loadstone.dev/loadstone/internal/record"
)

// threadCounts are the counters of one thread.
type threadCounts struct {
	voluntary, involuntary int64
	// ran and waited are the times on a CPU and ready for one, in nanoseconds. A thread that has never run says that the kernel does
	// not count them.
	ran, waited int64
}

// threadCounts reads the counters of all threads, by thread.
func (s *server) threadCounts() (map[int]threadCounts, error) {
	found := map[int]threadCounts{}
	for _, pid := range s.pids {
		tasks, err := os.ReadDir(s.proc.path(pid, "task"))
		if err != nil && pid == s.root {
			return nil, fmt.Errorf("listing the server's threads: %w", err)
		}
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			if c, ok := s.proc.thread(pid, t.Name()); ok {
				found[id] = c
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("reading the context switches of the server's threads: %w", errNoNumber)
	}
	return found, nil
}

// thread reads the counters of one thread; false if it has ended.
func (p procfs) thread(pid int, id string) (threadCounts, bool) {
	var c threadCounts
	status, err := os.ReadFile(p.path(pid, "task", id, "status"))
	if err != nil {
		return c, false
	}
	var okVoluntary, okInvoluntary bool
	c.voluntary, okVoluntary = field(status, "voluntary_ctxt_switches")
	c.involuntary, okInvoluntary = field(status, "nonvoluntary_ctxt_switches")
	if schedstat, err := os.ReadFile(p.path(pid, "task", id, "schedstat")); err == nil {
		c.ran, c.waited = parseSchedstat(schedstat)
	}
	return c, okVoluntary && okInvoluntary
}

// parseSchedstat reads "ran waited slices"; zeros if it is something else.
func parseSchedstat(text []byte) (ran, waited int64) {
	first, rest, _ := bytes.Cut(text, []byte{' '})
	ran, okRan := number(first)
	waited, okWaited := number(rest)
	if !okRan || !okWaited {
		return 0, 0
	}
	return ran, waited
}

// errNoSchedstat says that the kernel does not count what threads wait.
var errNoSchedstat = errors.New("the kernel has no schedstat")

// waitsKnown is nil when the kernel counts what threads wait, or else what is wrong.
func waitsKnown(threads map[int]threadCounts, err error) error {
	if err != nil {
		return err
	}
	for _, t := range threads {
		if t.ran > 0 {
			return nil
		}
	}
	return errNoSchedstat
}

// pressure is how long some task waited for a CPU, in microseconds: of the server's container with cgroup version 2, of the machine
// with version 1; nil where the kernel does not account for it.
func (s *server) pressure() *int64 {
	file := s.machinePressure
	if s.group != nil && s.group.pressure != nil {
		file = s.group.pressure
	}
	if file == nil {
		return nil
	}
	text, err := file.read()
	if err != nil {
		// A kernel that was started without the accounting has the file and refuses to read it.
		return nil
	}
	total, ok := parsePressure(text)
	if !ok {
		return nil
	}
	return &total
}

// parsePressure reads the total of the line "some avg10=0.00 avg60=0.00 avg300=0.00 total=12".
func parsePressure(text []byte) (int64, bool) {
	l, _, _ := bytes.Cut(text, []byte{'\n'})
	l, ok := bytes.CutPrefix(l, []byte("some "))
	_, total, found := bytes.Cut(l, []byte("total="))
	if !ok || !found {
		return 0, false
	}
	return number(total)
}

// traffic is what the server's network namespace has counted so far.
func (s *server) traffic() (record.Network, error) {
	if s.network == nil {
		return record.Network{}, s.networkError
	}
	return s.network.read()
}

// selfCPUNanos is the CPU time of the agent itself so far, without its children's, in nanoseconds.
func selfCPUNanos() (int64, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("reading the agent's CPU time: %w", err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano(), nil
}
