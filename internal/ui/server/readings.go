package server

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	readDeadline = 2 * time.Minute
	// waitAtMost is how long a page waits for reports. Then it is shown without them, and updated later.
	waitAtMost = time.Second
	// failedFor delays the retry of a failed reading.
	failedFor = 30 * time.Second
	// gapsFor delays the retry of a reading with missing reports: a restored store may have them.
	gapsFor = 5 * time.Minute
)

// readings cache what pages show of reports; each set of reports is read once.
type readings[T any] struct {
	ctx  context.Context
	told func()
	gaps func(T) bool

	mu    sync.Mutex
	known map[types.UID]*reading[T]
}

type reading[T any] struct {
	of    string
	done  chan struct{}
	value T
	err   error
	at    time.Time
	// before is an earlier, incomplete reading of the same reports, shown during a retry; or nil.
	before *T
}

// of returns the reading of some reports for a key. there is false while they are being read.
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

func (r *readings[T]) begun(somebody types.UID, reports string, read func(context.Context) (T, error)) *reading[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.known[somebody]
	if old != nil && old.of == reports && !r.isOld(old) {
		return old
	}
	one := &reading[T]{of: reports, done: make(chan struct{})}
	if old != nil && old.of == reports && old.err == nil {
		before := old.value // Drop older readings.
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

func (r *readings[T]) isOld(one *reading[T]) bool {
	select {
	case <-one.done:
		since := time.Since(one.at)
		return one.err != nil && since > failedFor || one.err == nil && since > gapsFor && r.gaps(one.value)
	default:
		return false
	}
}

func (r *readings[T]) forget(but func(types.UID) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.known, func(somebody types.UID, _ *reading[T]) bool { return !but(somebody) })
}
