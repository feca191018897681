// Package timing has a clock that is immune to wall clock steps, and sleeps until an instant.
package timing

import (
	"context"
	"syscall"
	"time"
)

// Clock converts offsets from a start to monotonic instants, so that wall clock steps do not move cells.
type Clock struct{ start time.Time }

// From makes a clock that starts at a wall clock instant.
func From(at time.Time) Clock {
	now := time.Now()
	return Clock{now.Add(at.Sub(now))}
}

// At returns the instant at an offset from the start.
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

// Nap sleeps for less than a millisecond, which the runtime's timers cannot. It blocks a thread.
func Nap(d time.Duration) {
	if d <= 0 {
		return
	}
	rest := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&rest, nil) // A signal ends it early; callers check the clock.
}
