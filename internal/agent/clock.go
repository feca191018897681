package agent

import (
	"context"
	"time"
)

// maxLate is how late a cell may begin: later, it is not measured.
const maxLate = 100 * time.Millisecond

// timetable turns offsets from a start into instants of the monotonic clock, lest a step of the wall clock move the cells.
type timetable struct{ at time.Time }

func newTimetable(at time.Time) timetable {
	now := time.Now()
	return timetable{now.Add(at.Sub(now))}
}

func (t timetable) instant(offset time.Duration) time.Time { return t.at.Add(offset) }

// sleepUntil returns at an instant, or earlier with an error when ctx ends.
func sleepUntil(ctx context.Context, instant time.Time) error {
	timer := time.NewTimer(time.Until(instant))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
