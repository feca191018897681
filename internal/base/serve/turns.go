package serve

import (
	"context"
	"sync"
)

// Turns limits requests that are served at once, in total and for each caller, so that one caller cannot take all turns.
type Turns struct {
	all  chan struct{}
	each int

	mu  sync.Mutex
	own map[string]*own
}

type own struct {
	turns chan struct{}
	refs  int
}

// NewTurns returns Turns for all requests at once, and at most each of one caller.
func NewTurns(all, each int) *Turns {
	return &Turns{all: make(chan struct{}, all), each: each, own: map[string]*own{}}
}

// Take waits for a turn of a caller until ctx ends, whose error it then returns. The request calls done when it is served.
func (t *Turns) Take(ctx context.Context, caller string) (done func(), err error) {
	o := t.of(caller)
	select {
	case o.turns <- struct{}{}:
	case <-ctx.Done():
		t.forget(caller, o)
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-o.turns
		t.forget(caller, o)
		return nil, ctx.Err()
	}
	return t.done(caller, o), nil
}

// Try takes a turn of a caller if there is one now.
func (t *Turns) Try(caller string) (done func(), ok bool) {
	o := t.of(caller)
	select {
	case o.turns <- struct{}{}:
	default:
		t.forget(caller, o)
		return nil, false
	}
	select {
	case t.all <- struct{}{}:
	default:
		<-o.turns
		t.forget(caller, o)
		return nil, false
	}
	return t.done(caller, o), true
}

// Taken returns the number of requests that are served now.
func (t *Turns) Taken() int { return len(t.all) }

func (t *Turns) done(caller string, o *own) func() {
	return func() {
		<-t.all
		<-o.turns
		t.forget(caller, o)
	}
}

func (t *Turns) of(caller string) *own {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.own[caller]
	if o == nil {
		o = &own{turns: make(chan struct{}, t.each)}
		t.own[caller] = o
	}
	o.refs++
	return o
}

func (t *Turns) forget(caller string, o *own) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.refs--; o.refs == 0 {
		delete(t.own, caller)
	}
}
