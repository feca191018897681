package server

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// heartbeat is how often a stream says that it is there, and minute how often pages are made again, since what they say of ages grows old.
	heartbeat = 20 * time.Second
	minute    = time.Minute
	// apart is the least time between two pieces of news: a page is not asked for more often, whatever happens.
	apart = time.Second
	// sendDeadline bounds how long a browser may take to read.
	sendDeadline = 10 * time.Second
)

// news tells all who listen that something has changed.
type news struct {
	mu        sync.Mutex
	listeners map[chan struct{}]bool
}

// listen returns a channel that has a value when something has changed since it was last read.
func (n *news) listen() (heard <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[chan struct{}]bool{}
	}
	n.listeners[c] = true
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, c)
	}
}

// tell tells everybody. It waits for nobody.
func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.listeners {
		select {
		case c <- struct{}{}:
		default: // They know already.
		}
	}
}

// stream tells a browser of news until one of them leaves.
func (n *news) stream(w http.ResponseWriter, q *http.Request) {
	ctx := q.Context()
	heard, leave := n.listen()
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	if q.Method == http.MethodHead {
		return
	}
	out := http.NewResponseController(w)
	send := func(text string) bool {
		err := out.SetWriteDeadline(time.Now().Add(sendDeadline))
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = out.Flush()
		}
		return err == nil // Otherwise nobody reads any more.
	}
	beat, old := time.NewTicker(heartbeat), time.NewTicker(minute)
	defer beat.Stop()
	defer old.Stop()
	there := send(fmt.Sprintf("retry: %d\n\n", (2 * apart).Milliseconds()))
	for there {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			there = send(": here\n\n")
			continue
		case <-old.C:
		case <-heard:
		}
		if there = send("event: changed\ndata: changed\n\n"); !there {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(apart):
		}
	}
}
