package server

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// heartbeat is the interval of keep-alive events; each minute pages are refreshed, since displayed ages change.
	heartbeat = 20 * time.Second
	minute    = time.Minute
	// apart is the least time between two change events, which limits page requests.
	apart        = time.Second
	sendDeadline = 10 * time.Second
)

type news struct {
	mu        sync.Mutex
	listeners map[chan struct{}]bool
}

// listen returns a channel with a value if something changed since the last read.
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
		return err == nil // Otherwise the reader is gone.
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
