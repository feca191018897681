package main

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// look is the number of operations between two clock reads, and between complete checks of messages. The C peer uses the same.
const look = 256

// run is the task and the result of one execution of a case.
type run struct {
	size  int           // bytes of a message
	limit uint64        // operations to do; if 0, as many as the time allows
	least time.Duration // the time
	// begin and end are called when all parts of a case are ready, and when the last is done.
	begin, end func()

	deadline  time.Time
	otherCPUs time.Duration // CPU time of other processes that took part
}

func (r *run) more(done uint64) bool {
	if r.limit > 0 {
		return done < r.limit
	}
	return done%look != 0 || done == 0 || time.Now().Before(r.deadline)
}

// together times parts that run in parallel: from the moment all goroutines are ready until the last is done. If one fails, abort ends the
// others.
func (r *run) together(abort func(), parts ...func() error) error {
	var ready sync.WaitGroup
	start, results := make(chan struct{}), make(chan error, len(parts))
	for _, part := range parts {
		ready.Add(1)
		go func() {
			ready.Done()
			<-start
			results <- part()
		}()
	}
	ready.Wait()
	r.begin()
	r.deadline = time.Now().Add(r.least)
	close(start)
	var first error
	for range parts {
		if err := <-results; err != nil && first == nil {
			first = err
			abort()
		}
	}
	r.end()
	return first
}

func cpuTime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU clock: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
