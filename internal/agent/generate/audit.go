package generate

import (
	"context"
	"math/rand/v2"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
)

const (
	auditLead = 100 * time.Millisecond
	// auditLeast is the minimum of requests of an audit in the measured time; auditShare limits an audit to one in so many requests of an
	// arrival rate. Each costs the generator's CPU 0.3 to 0.4 ms: two per second are less than 0.1 %.
	auditLeast, auditShare = 2, 1000
	// auditEnd is the time between the end of such an audit and the observer's look at connections: clocks differ by less.
	auditEnd = 50 * time.Millisecond
)

// beginAudit reads answers during the warm-up until a deadline, or until ctx ends. The returned function waits for the end.
func (g *Generator) beginAudit(ctx context.Context, r *cellRun, deadline time.Time) func() *record.Audit {
	auditor := g.auditor(r, deadline, "The answers of the warm-up are unknown: ")
	if auditor == nil {
		return func() *record.Audit { return nil }
	}
	return inBackground(func() *record.Audit { return auditor.Warmup(ctx) })
}

// beginMeasuredAudit reads some answers in the measured time, from the tool's first connection until shortly before the observer looks at
// connections, since its own does not belong to the load. The returned function waits for the end.
func (g *Generator) beginMeasuredAudit(ctx context.Context, clock timing.Clock, r *cellRun, first *connectionProbe) func() *record.Audit {
	deadline := clock.At(r.slot.SocketsAt() - auditEnd)
	auditor := g.auditor(r, deadline, "The answers of the measured time are unknown: ")
	if auditor == nil {
		return func() *record.Audit { return nil }
	}
	n, chance, began := audits(r.slot.Cell, r.run.Rate), chance(g.config.Trial, r.slot.Cell), r.run.Started
	return inBackground(func() *record.Audit {
		if at := first.wait(ctx); at != nil {
			began = *at
		}
		return auditor.Measured(ctx, began, instants(chance, n, time.Now(), deadline))
	})
}

// auditor returns an auditor of a cell, or nil. Only one generator audits, and never a script: its correct answers are unknown.
func (g *Generator) auditor(r *cellRun, deadline time.Time, unknown string) *httpcheck.Auditor {
	if g.config.Index != 0 || r.slot.Cell.Script != nil {
		return nil
	}
	// With fewer audits than requests of a mix, each trial begins with another request.
	all := r.slot.Cell.Requests()
	first := chance(g.config.Trial, r.slot.Cell).IntN(len(all))
	var expected []httpcheck.Expectation
	for i := range all {
		expected = append(expected, g.expected(all[(first+i)%len(all)].Request, r.run.Server))
	}
	auditor, err := httpcheck.NewAuditor(r.server, expected, deadline)
	if err != nil {
		r.unknown = append(r.unknown, unknown+err.Error()+".")
		return nil
	}
	return auditor
}

func inBackground[T any](do func() T) func() T {
	result := make(chan T, 1)
	go func() { result <- do() }()
	return func() T { return <-result }
}

// audits returns how many answers of a cell's measured time are read: one per second and at least auditLeast, but at most one in auditShare of
// an arrival rate. They never count as load.
func audits(c record.Cell, searched int32) int {
	n := max(c.DurationSeconds, auditLeast)
	if rate := max(c.RequestsPerSecond, searched); rate > 0 {
		n = min(n, max(int32(int64(rate)*int64(c.DurationSeconds)/auditShare), 1))
	}
	return int(n)
}

// instants returns one random instant in each of n equal intervals, so that audits do not follow the server's rhythm.
func instants(chance *rand.Rand, n int, from, until time.Time) []time.Time {
	var all []time.Time
	part := until.Sub(from) / time.Duration(n)
	for i := 0; i < n && part > 0; i++ {
		all = append(all, from.Add(time.Duration(i)*part+time.Duration(chance.Int64N(int64(part)))))
	}
	return all
}
