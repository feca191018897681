package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Turns is a way to load servers that live at the same time, one at a time: each has a wrk of its own, and all but one wrk are
// stopped. What a machine does slowly, it does to all of them alike.
type Turns struct {
	// Warmup is how long each server is loaded before.
	Warmup time.Duration
	// Slices is how many turns each has, and Slice how long they are.
	Slices int
	Slice  time.Duration
	// Random orders the servers anew each time.
	Random *rand.Rand
}

// Loaded is what was measured of one server.
type Loaded struct {
	record.Measurement
	// CPU is what the server and its children used, Wall how long it was under load.
	CPU, Wall time.Duration
}

// SideError says of which server an error is.
type SideError struct {
	Side int
	Err  error
}

// Error is that of the side.
func (e *SideError) Error() string { return e.Err.Error() }

// Unwrap lets errors.Is see it.
func (e *SideError) Unwrap() error { return e.Err }

// side is one server with its wrk.
type side struct {
	*Server
	wrk    *Child
	family []int
	before time.Duration
	// stopped is how long wrk was stopped between its turns, since is when it was stopped last.
	stopped time.Duration
	since   time.Time
}

// Load loads servers in turns; w says with how much. Its seconds do not matter.
func (t Turns) Load(ctx context.Context, dir string, servers []*Server, w Wrk) ([]Loaded, error) {
	w.Seconds = int32(2*time.Duration(t.Slices*len(servers))*t.Slice/time.Second) + int32(Patience/time.Second)
	for _, i := range t.Random.Perm(len(servers)) {
		if err := w.Warm(ctx, dir, servers[i].Target(), t.Warmup); err != nil {
			return nil, &SideError{i, err}
		}
	}
	sides := make([]*side, len(servers))
	for i, s := range servers {
		sides[i] = &side{Server: s}
		if err := sides[i].begin(ctx, dir, w); err != nil {
			return nil, &SideError{i, err}
		}
		defer sides[i].wrk.End()
	}
	for range t.Slices {
		for _, i := range t.Random.Perm(len(sides)) {
			if err := sides[i].turn(ctx, t.Slice); err != nil {
				return nil, &SideError{i, err}
			}
		}
	}
	loaded := make([]Loaded, len(sides))
	for _, i := range t.Random.Perm(len(sides)) {
		var err error
		if loaded[i], err = sides[i].finish(); err != nil {
			return nil, &SideError{i, err}
		}
	}
	return loaded, nil
}

// begin starts a wrk that is stopped before it can do anything.
func (s *side) begin(ctx context.Context, dir string, w Wrk) (err error) {
	if s.family, err = Family(s.Pid()); err != nil {
		return err
	}
	if s.before, err = CPUTimes(s.family); err != nil {
		return err
	}
	if s.wrk, err = w.Start(ctx, dir, s.Target(), tool.Measure); err != nil {
		return err
	}
	if err := s.wrk.Signal(syscall.SIGSTOP); err != nil {
		s.wrk.End()
		return fmt.Errorf("stopping wrk: %w", err)
	}
	return nil
}

// proceed lets a stopped wrk run. Its own time does not begin before its first turn.
func (s *side) proceed() error {
	if !s.since.IsZero() {
		s.stopped += time.Since(s.since)
	}
	if err := s.wrk.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("letting wrk run: %w", err)
	}
	return nil
}

func (s *side) turn(ctx context.Context, d time.Duration) error {
	if err := s.proceed(); err != nil {
		return err
	}
	if err := Rest(ctx, d); err != nil {
		return err
	}
	if err := s.wrk.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stopping wrk: %w", err)
	}
	s.since = time.Now()
	return nil
}

// finish ends a stopped wrk as an interrupt does. That must get to its first thread, which sleeps until its time is over; the others
// would end, but not wrk, and who gets the signal of a process that was stopped is left to chance.
func (s *side) finish() (l Loaded, err error) {
	if err := unix.Tgkill(s.wrk.Pid(), s.wrk.Pid(), unix.SIGINT); err != nil {
		return l, fmt.Errorf("ending wrk: %w", err)
	}
	if err := s.proceed(); err != nil {
		return l, err
	}
	if l.Measurement, err = Measured(s.wrk, Patience/2); err != nil {
		return l, err
	}
	after, err := CPUTimes(s.family)
	if err != nil {
		return l, err
	}
	l.CPU, l.Wall = after-s.before, time.Duration(l.DurationMicros)*time.Microsecond-s.stopped
	if l.Wall <= 0 {
		return l, fmt.Errorf("%w: it ran for %s, of which it was stopped for %s", ErrSpoiled, time.Duration(l.DurationMicros)*time.Microsecond, s.stopped)
	}
	return l, nil
}
