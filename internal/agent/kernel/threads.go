package kernel

import (
	"bytes"
	"os"
	"strconv"
)

// Thread holds the counters of one thread.
type Thread struct {
	Voluntary, Involuntary int64
	// Ran and Waited are the times on a CPU and ready for one, in nanoseconds. A thread that has never run says that the kernel does
	// not count them.
	Ran, Waited int64
}

// Threads reads the counters of all threads of a process, by thread. One that ends meanwhile is left out.
func (p Proc) Threads(pid int) (map[int]Thread, error) {
	tasks, err := os.ReadDir(p.Path(pid, "task"))
	found := map[int]Thread{}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if c, ok := p.thread(pid, t.Name()); ok {
			found[id] = c
		}
	}
	return found, err
}

// thread reads the counters of one thread; false if it has ended.
func (p Proc) thread(pid int, id string) (Thread, bool) {
	var c Thread
	status, err := os.ReadFile(p.Path(pid, "task", id, "status"))
	if err != nil {
		return c, false
	}
	var okVoluntary, okInvoluntary bool
	c.Voluntary, okVoluntary = field(status, "voluntary_ctxt_switches")
	c.Involuntary, okInvoluntary = field(status, "nonvoluntary_ctxt_switches")
	if schedstat, err := os.ReadFile(p.Path(pid, "task", id, "schedstat")); err == nil {
		c.Ran, c.Waited = parseSchedstat(schedstat)
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
