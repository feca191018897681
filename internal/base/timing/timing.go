// Package timing keeps appointments: a clock whose instants no step of the wall clock moves, and sleep that ends at an instant.
package timing

import (
	"context"
	"syscall"
	"time"
)

// Clock turns offsets from a start into instants of the monotonic clock, lest a step of the wall clock move the cells.
type Clock struct{ start time.Time }

// From makes a clock that starts at an instant of the wall clock.
func From(at time.Time) Clock {
	now := time.Now()
	return Clock{now.Add(at.Sub(now))}
}

// At is the instant that lies an offset after the start.
func (c Clock) At(offset time.Duration) time.Time { return c.start.Add(offset) }

// SleepUntil returns at an instant, or earlier with an error when ctx ends.
func SleepUntil(ctx context.Context, instant time.Time) error {
	timer := time.NewTimer(time.Until(instant))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Nap sleeps for less than a millisecond too, which a timer of the runtime does not. It holds a thread meanwhile.
func Nap(d time.Duration) {
	if d <= 0 {
		return
	}
	rest := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&rest, nil) // A signal ends it early, and its callers look at the clock.
}
