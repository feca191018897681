package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
)

const (
	requestTicks = 10  // For the first byte, the rest of a begun request, and the end after a refusal.
	idleTicks    = 120 // Between two requests.
	answerTicks  = 30  // To take its answers.
)

type timer struct {
	deadline atomic.Int64 // the tick with which it is up
	begun    bool         // It applies to the rest of a request.
}

// clock counts ticks, and wakes expired connections. It runs in its own goroutine.
type clock struct {
	ticks  atomic.Int64
	mu     sync.Mutex
	timers map[gnet.Conn]*timer
}

func (k *clock) add(c gnet.Conn, t *timer) {
	k.allow(t, requestTicks)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timers == nil {
		k.timers = map[gnet.Conn]*timer{}
	}
	k.timers[c] = t
}

func (k *clock) remove(c gnet.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.timers, c)
}

// allow sets a deadline after some ticks, plus the rest of the current one.
func (k *clock) allow(t *timer, ticks int64) { t.deadline.Store(k.ticks.Load() + ticks + 1) }

// await sets the time for a client's next input. answered: some requests were answered; part: a part of another is there. A request's time
// starts once, however many pieces it has.
func (k *clock) await(t *timer, answered, part bool) {
	switch {
	case !part:
		k.allow(t, idleTicks)
	case answered || !t.begun:
		k.allow(t, requestTicks)
	}
	t.begun = part
}

func (k *clock) late(t *timer) bool { return t.deadline.Load() <= k.ticks.Load() }

// OnTick counts a tick, however long it took: a client is not blamed for a stalled server.
func (s *server) OnTick() (time.Duration, gnet.Action) {
	k := &s.clock
	k.ticks.Add(1)
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, t := range k.timers {
		if k.late(t) {
			_ = c.Wake(nil) // Waking an ended connection does nothing.
		}
	}
	return time.Second, gnet.None
}
