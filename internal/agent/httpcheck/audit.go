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
	// auditEvery is the least distance of two requests of an audit: 2,000 a second.
	auditEvery = 500 * time.Microsecond
	// auditPatience is how long a request must have waited at the end of an audit to have failed, if others were answered. It is
	// the time after which wrk too gives up.
	auditPatience = 2 * time.Second
	// auditPause follows a connection that could not be opened.
	auditPause = 10 * time.Millisecond
)

// Auditor reads answers beside a tool and compares them, on one connection at a time.
type Auditor struct {
	server Server
	// asks are its requests, which take turns and are all in one version of HTTP; turn is whose it is.
	asks     []asked
	turn     int
	deadline time.Time
	session  *session
	found    record.Audit
	// measured is when the measured load began; zero in a warm-up.
	measured time.Time
}

// asked is a request as it is sent, and what its answer must be.
type asked struct {
	message message
	expect  Expectation
}

// NewAuditor makes an auditor that asks a server until a deadline, each request in its turn.
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

// Warmup sends requests until the deadline or the end of ctx, each as soon as the one before is answered.
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

// Measured sends a request at each instant, under a load that began at another. One that is not answered in time delays the next.
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

// try sends one request, and counts it if nobody answers; false then.
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

// own is the request whose turn it is, and next lets the one after it have its turn.
func (a *Auditor) own() asked { return a.asks[a.turn] }

func (a *Auditor) next() { a.turn = (a.turn + 1) % len(a.asks) }

// once sends one request and compares its answer. A server may close a connection between two answers; then the request goes
// over a new one.
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

// closed is true for the errors of a request on a connection that the server had closed before.
func closed(err error) bool {
	_, ended := errors.AsType[closedError](err)
	return ended || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failed counts a request without an answer. The one that the end of the audit cuts off has not failed, unless the server has let it
// wait for long, or answers nothing at all in a warm-up: under the measured load an answer may take as long as a short cell.
func (a *Auditor) failed(err error, waited time.Duration) {
	answers := a.found.Requests > a.found.Failed || !a.measured.IsZero()
	if timedOut(err) && answers && waited < auditPatience {
		return
	}
	a.found.Requests++
	a.found.Failed++
	a.example(unanswered(a.own().expect.what(), err, waited.Round(time.Millisecond)))
}

// example keeps the first sentence, with when it was in the measured time.
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
