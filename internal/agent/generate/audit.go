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
	// auditLead is how much before the end of a warm-up its audit ends.
	auditLead = 100 * time.Millisecond
	// auditLeast is the least number of requests of an audit in the measured time, and auditShare says of how many requests of an
	// arrival rate one may be an audit's. Each costs the generator's CPU 0.3 to 0.4 ms: two in a second are less than 0.1 % of it.
	auditLeast, auditShare = 2, 1000
	// auditEnd is how much before the observer's look at the connections such an audit ends: clocks differ by less.
	auditEnd = 50 * time.Millisecond
)

// beginAudit reads answers during the warm-up until a deadline, or until ctx ends. The function that it returns waits for the end.
func (g *Generator) beginAudit(ctx context.Context, r *cellRun, deadline time.Time) func() *record.Audit {
	auditor := g.auditor(r, deadline, "The answers of the warm-up are unknown: ")
	if auditor == nil {
		return func() *record.Audit { return nil }
	}
	return inBackground(func() *record.Audit { return auditor.Warmup(ctx) })
}

// beginMeasuredAudit reads some answers in the measured time, from the tool's first connection on, until shortly before the observer
// looks at the server's connections: its own is none of the load's. The function that it returns waits for the end.
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

// auditor audits a cell's answers; nil if they are not audited. One generator audits, and none can tell what a script's requests should
// be answered.
func (g *Generator) auditor(r *cellRun, deadline time.Time, unknown string) *httpcheck.Auditor {
	if g.config.Index != 0 || r.slot.Cell.Script != nil {
		return nil
	}
	// Where there are fewer audits than requests of a mix, another trial begins with another one.
	all := r.slot.Cell.Requests()
	first := chance(g.config.Trial, r.slot.Cell).IntN(len(all))
	var expected []httpcheck.Expectation
	for i := range all {
		expected = append(expected, g.expected(all[(first+i)%len(all)].Request))
	}
	auditor, err := httpcheck.NewAuditor(r.server, expected, deadline)
	if err != nil {
		r.unknown = append(r.unknown, unknown+err.Error()+".")
		return nil
	}
	return auditor
}

// inBackground begins something and returns a function that waits for its result.
func inBackground[T any](do func() T) func() T {
	result := make(chan T, 1)
	go func() { result <- do() }()
	return func() T { return <-result }
}

// audits is how many answers of a cell's measured time are read: one a second and at least auditLeast, but of an arrival rate no more
// than one in auditShare. They are never counted as the load's own.
func audits(c record.Cell, searched int32) int {
	n := max(c.DurationSeconds, auditLeast)
	if rate := max(c.RequestsPerSecond, searched); rate > 0 {
		n = min(n, max(int32(int64(rate)*int64(c.DurationSeconds)/auditShare), 1))
	}
	return int(n)
}

// instants are spread over a time: one in each of n equal parts, at random within it, so that they do not meet the server's own rhythm.
func instants(chance *rand.Rand, n int, from, until time.Time) []time.Time {
	var all []time.Time
	part := until.Sub(from) / time.Duration(n)
	for i := 0; i < n && part > 0; i++ {
		all = append(all, from.Add(time.Duration(i)*part+time.Duration(chance.Int64N(int64(part)))))
	}
	return all
}
