package httpcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// auditEvery is the least distance of two requests of an audit: 2,000 per second.
	auditEvery = 500 * time.Microsecond
	// auditPatience is how long an unanswered request must have waited at the end of an audit to count as failed, if others were answered. wrk
	// has the same timeout.
	auditPatience = 2 * time.Second
	auditPause    = 10 * time.Millisecond
)

// Auditor reads and compares answers during a load, on one connection at a time.
type Auditor struct {
	server Server
	// asks take turns and use one version of HTTP; turn is the index of the next.
	asks     []asked
	turn     int
	deadline time.Time
	session  *session
	found    record.Audit
	// measured is when the measured load began; zero in a warm-up.
	measured time.Time
}

type asked struct {
	message message
	expect  Expectation
}

// NewAuditor makes an auditor that sends the requests in turn until a deadline.
func NewAuditor(server Server, all []Expectation, deadline time.Time) (*Auditor, error) {
	a := &Auditor{server: server, deadline: deadline}
	for _, e := range all {
		m, err := request(server.Address, e.Request)
		if err != nil {
			return nil, WithoutURL(err)
		}
		a.asks = append(a.asks, asked{m, e})
	}
	return a, nil
}

// Warmup sends requests back to back until the deadline or the end of ctx.
func (a *Auditor) Warmup(ctx context.Context) *record.Audit {
	defer a.hangUp()
	for time.Now().Before(a.deadline) && ctx.Err() == nil {
		sent, pause := time.Now(), auditEvery
		if !a.try(ctx, sent) {
			pause = auditPause
		}
		timing.Nap(pause - time.Since(sent))
	}
	return &a.found
}

// Measured sends a request at each instant. began is the start of the load. A late answer delays the next request.
func (a *Auditor) Measured(ctx context.Context, began time.Time, instants []time.Time) *record.Audit {
	defer a.hangUp()
	a.measured = began
	for _, at := range instants {
		if timing.SleepUntil(ctx, at) != nil || !time.Now().Before(a.deadline) {
			break
		}
		a.try(ctx, time.Now())
	}
	return &a.found
}

// try sends one request. If there is no answer it counts a failure and returns false.
func (a *Auditor) try(ctx context.Context, sent time.Time) bool {
	defer a.next()
	err := a.once(ctx)
	if err == nil {
		return true
	}
	if ctx.Err() == nil {
		a.failed(err, time.Since(sent))
	}
	a.hangUp()
	return false
}

func (a *Auditor) own() asked { return a.asks[a.turn] }

func (a *Auditor) next() { a.turn = (a.turn + 1) % len(a.asks) }

// once sends one request and compares its answer. If the server closed the connection between two answers, it reconnects.
func (a *Auditor) once(ctx context.Context) error {
	used := a.session != nil
	err := a.ask(ctx)
	if used && closed(err) {
		a.hangUp()
		return a.ask(ctx)
	}
	return err
}

func (a *Auditor) ask(ctx context.Context) error {
	if a.session == nil {
		s, err := openSession(ctx, a.server, a.own().expect.Request.Protocol, a.deadline)
		if err != nil {
			return err
		}
		a.session = s
		a.found.Connections++
	}
	got, err := a.session.ask(a.own().message, io.Discard)
	if err != nil {
		return err
	}
	a.found.Requests++
	wrong := a.own().expect.compare(got)
	if _, ok := errors.AsType[wrongStatus](wrong); ok {
		a.found.WrongStatus++
	} else if wrong != nil {
		a.found.WrongBody++
	}
	a.example(wrong)
	if got.last {
		a.hangUp()
	}
	return nil
}

// closed reports whether the server had closed the connection before the request.
func closed(err error) bool {
	_, ended := errors.AsType[closedError](err)
	return ended || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failed counts a request without an answer. A request cut off by the end of the audit counts only if it waited for auditPatience, or if a
// warm-up got no answer at all: under load, an answer may take as long as a short cell.
func (a *Auditor) failed(err error, waited time.Duration) {
	answers := a.found.Requests > a.found.Failed || !a.measured.IsZero()
	if timedOut(err) && answers && waited < auditPatience {
		return
	}
	a.found.Requests++
	a.found.Failed++
	a.example(unanswered(a.own().expect.what(), err, waited.Round(time.Millisecond)))
}

// example keeps the first sentence, with its time in the measured time.
func (a *Auditor) example(err error) {
	if err == nil || a.found.Example != "" {
		return
	}
	a.found.Example = err.Error()
	if !a.measured.IsZero() {
		a.found.Example += fmt.Sprintf(" (%.1f s after the load began)", time.Since(a.measured).Seconds())
	}
}

func (a *Auditor) hangUp() {
	if a.session != nil {
		a.session.close()
		a.session = nil
	}
}
