package agent

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// auditEvery is the least distance of two requests of an audit: 2,000 a second.
	auditEvery = 500 * time.Microsecond
	// auditLead is how much before the end of a warm-up its audit ends.
	auditLead = 100 * time.Millisecond
	// auditPatience is how long a request must have waited at the end of an audit to have failed, if others were answered. It is
	// the time after which wrk too gives up.
	auditPatience = 2 * time.Second
	// auditPause follows a connection that could not be opened.
	auditPause = 10 * time.Millisecond
)

// auditor reads answers beside a tool and compares them, on one connection at a time.
type auditor struct {
	target   string
	request  []byte
	expect   expectation
	deadline time.Time
	session  *session
	found    record.Audit
}

// audit sends requests until the deadline, each as soon as the one before is answered.
func audit(ctx context.Context, target string, request []byte, e expectation, deadline time.Time) *record.Audit {
	a := &auditor{target: target, request: request, expect: e, deadline: deadline}
	defer a.hangUp()
	for time.Now().Before(deadline) && ctx.Err() == nil {
		sent, pause := time.Now(), auditEvery
		if err := a.once(ctx); err != nil {
			if ctx.Err() == nil {
				a.failed(err, time.Since(sent))
			}
			a.hangUp()
			pause = auditPause
		}
		nap(pause - time.Since(sent))
	}
	return &a.found
}

// once sends one request and compares its answer. A server may close a connection between two answers; then the request goes
// over a new one.
func (a *auditor) once(ctx context.Context) error {
	used := a.session != nil
	err := a.ask(ctx)
	if used && closed(err) {
		a.hangUp()
		return a.ask(ctx)
	}
	return err
}

func (a *auditor) ask(ctx context.Context) error {
	if a.session == nil {
		s, err := openSession(ctx, a.target, a.deadline)
		if err != nil {
			return err
		}
		a.session = s
	}
	got, err := a.session.ask(a.request, io.Discard)
	if err != nil {
		return err
	}
	a.found.Requests++
	wrong := a.expect.compare(got)
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
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failed counts a request without an answer. The one that the end of the audit cuts off has not failed, unless the server answers
// nothing at all or has let it wait for long.
func (a *auditor) failed(err error, waited time.Duration) {
	if timedOut(err) && a.found.Requests > a.found.Failed && waited < auditPatience {
		return
	}
	a.found.Requests++
	a.found.Failed++
	a.example(unanswered(a.expect.what, err, waited.Round(time.Millisecond)))
}

// example keeps the first sentence.
func (a *auditor) example(err error) {
	if err != nil && a.found.Example == "" {
		a.found.Example = err.Error()
	}
}

func (a *auditor) hangUp() {
	if a.session != nil {
		a.session.close()
		a.session = nil
	}
}

// nap sleeps for less than a millisecond too, which a timer of the runtime does not. It holds a thread meanwhile.
func nap(d time.Duration) {
	if d <= 0 {
		return
	}
	rest := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&rest, nil) // A signal ends it early, and its callers look at the clock.
}
