package server

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// readDeadline bounds the reading of the reports that a page shows.
	readDeadline = 2 * time.Minute
	// waitAtMost is how long a page waits for them: it is shown without them then, and again when they have been read.
	waitAtMost = time.Second
	// failedFor is how long what could not be read is not read again.
	failedFor = 30 * time.Second
	// gapsFor is how long what was read without some reports is not read again: a store that is restored has them then.
	gapsFor = 5 * time.Minute
)

// readings are what pages show of reports, each of which is read once for the same reports.
type readings[T any] struct {
	ctx context.Context
	// told is called when something has been read.
	told func()
	// gaps reports whether reports are missing in what was read.
	gaps func(T) bool

	mu    sync.Mutex
	known map[types.UID]*reading[T]
}

// reading is something that is read, or was.
type reading[T any] struct {
	// of names the reports that it is of.
	of   string
	done chan struct{}
	// value, err and at are what was read, and when; they stand when done is closed.
	value T
	err   error
	at    time.Time
	// before is what was read of the same reports before, with gaps; it is shown while they are read again. Nil if nothing was.
	before *T
}

// of is what is read for somebody of some reports. There is false if it is still being read.
func (r *readings[T]) of(ctx context.Context, somebody types.UID, reports string, read func(context.Context) (T, error)) (value T, there bool, err error) {
	one := r.begun(somebody, reports, read)
	select {
	case <-one.done:
		return one.value, true, one.err
	case <-ctx.Done():
	case <-time.After(waitAtMost):
	}
	if one.before != nil {
		return *one.before, true, nil
	}
	return value, false, nil
}

// begun is the reading of some reports, which begins if it has not.
func (r *readings[T]) begun(somebody types.UID, reports string, read func(context.Context) (T, error)) *reading[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.known[somebody]
	if old != nil && old.of == reports && !r.isOld(old) {
		return old
	}
	one := &reading[T]{of: reports, done: make(chan struct{})}
	if old != nil && old.of == reports && old.err == nil {
		before := old.value // Of what was read before that nothing is kept.
		one.before = &before
	}
	if r.known == nil {
		r.known = map[types.UID]*reading[T]{}
	}
	r.known[somebody] = one
	go func() {
		defer r.told()
		defer close(one.done)
		ctx, cancel := context.WithTimeout(r.ctx, readDeadline)
		defer cancel()
		one.value, one.err = read(ctx)
		one.at = time.Now()
	}()
	return one
}

// isOld reports whether something could not be read some time ago, or not all of it.
func (r *readings[T]) isOld(one *reading[T]) bool {
	select {
	case <-one.done:
		since := time.Since(one.at)
		return one.err != nil && since > failedFor || one.err == nil && since > gapsFor && r.gaps(one.value)
	default:
		return false
	}
}

// forget forgets what was read for all but some.
func (r *readings[T]) forget(but func(types.UID) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.known, func(somebody types.UID, _ *reading[T]) bool { return !but(somebody) })
}
