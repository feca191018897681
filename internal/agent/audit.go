package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
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
	// auditLeast is the least number of requests of an audit in the measured time, and auditShare says of how many requests of an
	// arrival rate one may be an audit's. Each costs the generator's CPU 0.3 to 0.4 ms: two in a second are less than 0.1 % of it.
	auditLeast, auditShare = 2, 1000
	// auditEnd is how much before the observer's look at the connections such an audit ends: clocks differ by less.
	auditEnd = 50 * time.Millisecond
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
	// measured is when the measured load began, or its tool if the load was not seen to; zero in a warm-up.
	measured time.Time
}

// beginAudit reads answers beside the warm-up until a deadline, or until ctx ends. The function that it returns waits for the end.
func (g *Generator) beginAudit(ctx context.Context, a *attempt, deadline time.Time) func() *record.Audit {
	text := g.auditRequest(a, "The answers of the warm-up are unknown: ")
	if text == nil {
		return func() *record.Audit { return nil }
	}
	return inBackground(func() *record.Audit { return audit(ctx, a.target, text, g.expected(a.slot.Cell.Request), deadline) })
}

// beginMeasuredAudit reads some answers in the measured time, from the tool's first connection on, until shortly before the observer
// looks at the server's connections: its own is none of the load's. The function that it returns waits for the end.
func (g *Generator) beginMeasuredAudit(ctx context.Context, clock timetable, a *attempt, first *opening) func() *record.Audit {
	text := g.auditRequest(a, "The answers of the measured time are unknown: ")
	if text == nil {
		return func() *record.Audit { return nil }
	}
	deadline := clock.instant(protocol.SocketsAt(a.slot) - auditEnd)
	w := &auditor{target: a.target, request: text, expect: g.expected(a.slot.Cell.Request), deadline: deadline, measured: a.run.Started}
	n, chance := audits(a.slot.Cell, a.run.Rate), chance(g.config.Trial, a.slot.Cell)
	return inBackground(func() *record.Audit {
		defer w.hangUp()
		if at := first.wait(ctx); at != nil {
			w.measured = *at
		}
		w.at(ctx, instants(chance, n, time.Now(), deadline))
		return &w.found
	})
}

// auditRequest is the request by which a cell's answers are audited; nil if they are not. One generator audits, and none can tell what
// a script's requests should be answered.
func (g *Generator) auditRequest(a *attempt, unknown string) []byte {
	if g.config.Index != 0 || a.slot.Cell.Script != nil {
		return nil
	}
	text, err := request(a.target, pathOf(a.slot.Cell.Request))
	if err != nil {
		a.unknown = append(a.unknown, unknown+withoutURL(err).Error()+".")
		return nil
	}
	return text
}

// inBackground begins something and returns a function that waits for its result.
func inBackground[T any](do func() T) func() T {
	result := make(chan T, 1)
	go func() { result <- do() }()
	return func() T { return <-result }
}

// audits is how many answers of a cell's measured time are read: one a second and at least auditLeast, but of an arrival rate no more
// than one in auditShare. They are never counted as the load's own.
func audits(c v1alpha1.Cell, searched int32) int {
	n := max(c.DurationSeconds, auditLeast)
	if rate := max(c.RequestsPerSecond, searched); rate > 0 {
		n = min(n, max(int32(int64(rate)*int64(c.DurationSeconds)/auditShare), 1))
	}
	return int(n)
}

// instants are spread over a time: one in each of n equal parts, at random within it, lest they meet the server's own rhythm.
func instants(chance *rand.Rand, n int, from, until time.Time) []time.Time {
	var all []time.Time
	part := until.Sub(from) / time.Duration(n)
	for i := 0; i < n && part > 0; i++ {
		all = append(all, from.Add(time.Duration(i)*part+time.Duration(chance.Int64N(int64(part)))))
	}
	return all
}

// at sends a request at each instant. One that is not answered in time delays the next.
func (a *auditor) at(ctx context.Context, instants []time.Time) {
	for _, at := range instants {
		if sleepUntil(ctx, at) != nil || !time.Now().Before(a.deadline) {
			return
		}
		sent := time.Now()
		if err := a.once(ctx); err != nil {
			if ctx.Err() == nil {
				a.failed(err, time.Since(sent))
			}
			a.hangUp()
		}
	}
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
		a.found.Connections++
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

// failed counts a request without an answer. The one that the end of the audit cuts off has not failed, unless the server has let it
// wait for long, or answers nothing at all in a warm-up: under the measured load an answer may take as long as a short cell.
func (a *auditor) failed(err error, waited time.Duration) {
	answers := a.found.Requests > a.found.Failed || !a.measured.IsZero()
	if timedOut(err) && answers && waited < auditPatience {
		return
	}
	a.found.Requests++
	a.found.Failed++
	a.example(unanswered(a.expect.what, err, waited.Round(time.Millisecond)))
}

// example keeps the first sentence, with when it was in the measured time.
func (a *auditor) example(err error) {
	if err == nil || a.found.Example != "" {
		return
	}
	a.found.Example = err.Error()
	if !a.measured.IsZero() {
		a.found.Example += fmt.Sprintf(" (%.1f s after the load began)", time.Since(a.measured).Seconds())
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
