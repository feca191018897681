package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
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

// merged has a value when a watch has had an event since it was last read, and is closed when the watch has ended.
func merged(ctx context.Context, w watch.Interface) <-chan struct{} {
	c := make(chan struct{}, 1)
	go func() {
		defer close(c)
		defer w.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case _, open := <-w.ResultChan():
				if !open {
					return
				}
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
	}()
	return c
}

// stream tells a browser of news until one of them leaves. own, which may be nil, are news of its own; the stream ends with them.
func (n *news) stream(w http.ResponseWriter, q *http.Request, own <-chan struct{}) {
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
		case _, open := <-own:
			if !open {
				return
			}
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
