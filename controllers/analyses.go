package controllers

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/publish"
)

var (
	// ErrAnalyzing: a task is not finished.
	ErrAnalyzing = errors.New("the run is being analyzed")
	// ErrWaiting: a task has not begun, because the task of another run holds the turn.
	ErrWaiting = errors.New("another run is being analyzed")
	// ErrDied: the process of a task died. Its text has the cause.
	ErrDied = errors.New("the process that analyzes the run died")
)

// Analyses does tasks of runs one after the other, outside of the passes: passes of other runs do not wait for a slow store. Safe for
// concurrent use.
type Analyses struct {
	// do does one task until ctx ends.
	do    func(ctx context.Context, t publish.Task) (publish.Result, error)
	turn  chan struct{}
	ended chan event.GenericEvent

	mu  sync.Mutex
	own map[types.UID]*underway
}

// underway is the task of a run. found and err are set when ended is closed.
type underway struct {
	what   string
	cancel context.CancelFunc
	ended  chan struct{}
	found  publish.Result
	err    error
}

// NewAnalyses returns Analyses that do tasks by do.
func NewAnalyses(do func(ctx context.Context, t publish.Task) (publish.Result, error)) *Analyses {
	return &Analyses{do: do, turn: make(chan struct{}, 1), ended: make(chan event.GenericEvent), own: map[types.UID]*underway{}}
}

// Do starts a task of a run and returns ErrAnalyzing until it has ended; the run is queued then. Another task of the run replaces the first.
func (a *Analyses) Do(run *v1alpha1.BenchmarkRun, t publish.Task) (publish.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	what := describeTask(t)
	if u := a.own[run.UID]; u != nil && u.what == what {
		select {
		case <-u.ended:
			delete(a.own, run.UID)
			return u.found, u.err
		default:
			return publish.Result{}, ErrAnalyzing
		}
	}
	a.drop(run.UID)
	ctx, cancel := context.WithCancel(context.Background())
	u := &underway{what: what, cancel: cancel, ended: make(chan struct{})}
	a.own[run.UID] = u
	go a.run(ctx, u, run.DeepCopy(), t)
	return publish.Result{}, ErrAnalyzing
}

// Waits reports whether a run must wait for the task of another.
func (a *Analyses) Waits(run types.UID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own[run] != nil {
		return false
	}
	for _, u := range a.own {
		select {
		case <-u.ended:
		default:
			return true
		}
	}
	return false
}

// describeTask tells the tasks of a run apart. A manifest so far has an entry for each ended trial.
func describeTask(t publish.Task) string {
	what := string(t.Act) + t.SHA256
	if t.Manifest != nil {
		for _, e := range t.Manifest.Trials {
			if e.Manifest != nil {
				what += " " + e.Manifest.SHA256
			}
		}
	}
	return what
}

// Drop cancels the task of a run.
func (a *Analyses) Drop(run types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(run)
}

func (a *Analyses) drop(run types.UID) {
	if u := a.own[run]; u != nil {
		u.cancel()
		delete(a.own, run)
	}
}

func (a *Analyses) run(ctx context.Context, u *underway, run *v1alpha1.BenchmarkRun, t publish.Task) {
	defer u.cancel()
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	u.found, u.err = a.do(ctx, t)
	<-a.turn
	close(u.ended)
	select {
	case a.ended <- event.GenericEvent{Object: run}:
	case <-ctx.Done(): // The run was deleted, or has another task.
	}
}
