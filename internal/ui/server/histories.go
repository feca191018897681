package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/history"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/ui"
)

const (
	// readDeadline bounds the reading of a history, whose reports are read one after the other.
	readDeadline = 2 * time.Minute
	// waitAtMost is how long a page waits for a history: it is shown without it then, and again when it has been read.
	waitAtMost = time.Second
	// failedFor is how long a history that could not be read is not read again.
	failedFor = 30 * time.Second
)

// histories are those of suites, each of which is read once for the same rounds.
type histories struct {
	ctx  context.Context
	read func(ctx context.Context, s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) (history.History, error)
	// told is called when one has been read.
	told func()

	mu    sync.Mutex
	known map[types.UID]*reading
}

// reading is a history that is read, or was.
type reading struct {
	// of names the rounds that it is of.
	of   string
	done chan struct{}
	// course and at are what was read, and when; they stand when done is closed.
	course ui.Course
	at     time.Time
}

// of is the history of a suite, as far as it has been read.
func (h *histories) of(ctx context.Context, s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) ui.Course {
	r := h.reading(s, runs)
	select {
	case <-r.done:
		return r.course
	case <-ctx.Done():
	case <-time.After(waitAtMost):
	}
	return ui.Course{Reading: true}
}

// reading is the one of a suite's rounds, which is begun if there is none.
func (h *histories) reading(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) *reading {
	of := fmt.Sprint(suite.MeasuredBy(s, runs))
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.known[s.UID]; r != nil && r.of == of && !r.isOld() {
		return r
	}
	r := &reading{of: of, done: make(chan struct{})}
	if h.known == nil {
		h.known = map[types.UID]*reading{}
	}
	h.known[s.UID] = r
	go func() {
		defer h.told()
		defer close(r.done)
		ctx, cancel := context.WithTimeout(h.ctx, readDeadline)
		defer cancel()
		r.course.History, r.course.Err = h.read(ctx, s, runs)
		r.at = time.Now()
	}()
	return r
}

// isOld reports whether a history could not be read some time ago.
func (r *reading) isOld() bool {
	select {
	case <-r.done:
		return r.course.Err != nil && time.Since(r.at) > failedFor
	default:
		return false
	}
}
