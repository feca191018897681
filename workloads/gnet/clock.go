package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
)

// How long a client may take, in ticks of a second.
const (
	requestTicks = 10  // For the first byte of all, for the rest of a request that has begun, and for the end after a refusal.
	idleTicks    = 120 // Between two requests.
	answerTicks  = 30  // To take its answers.
)

// timer is the time that a client has left.
type timer struct {
	deadline atomic.Int64 // the tick with which it is up
	begun    bool         // It is that for the rest of a request.
}

// clock counts ticks, and wakes the connections whose time is up. Its goroutine is not that of the event loop.
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

// allow gives a client so many ticks, and the rest of the one that has begun.
func (k *clock) allow(t *timer, ticks int64) { t.deadline.Store(k.ticks.Load() + ticks + 1) }

// await gives a client the time for what it has to send next, after some of its requests were answered or none, and with a part of another
// one there or not. That of a request begins once, however many pieces it comes in.
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

// OnTick counts a second, however long it took: a client is not blamed for what keeps the server from running.
func (s *server) OnTick() (time.Duration, gnet.Action) {
	k := &s.clock
	k.ticks.Add(1)
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, t := range k.timers {
		if k.late(t) {
			_ = c.Wake(nil) // Waking a connection that has ended does nothing.
		}
	}
	return time.Second, gnet.None
}
