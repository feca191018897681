package httpcheck

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const awaitPause = 20 * time.Millisecond

// Await asks a server until it answers rightly, and returns when it did. After the deadline or the end of ctx it returns the last try's error.
func Await(ctx context.Context, server Server, r record.Request, deadline time.Time) (time.Time, error) {
	var why error
	for {
		_, err := askUntil(ctx, server, Expect(r), deadline)
		now := time.Now()
		if err == nil {
			return now, nil
		}
		if why == nil || now.Before(deadline) {
			why = err // A request cut off by the deadline says nothing about the server.
		}
		if ctx.Err() != nil || now.Add(awaitPause).After(deadline) {
			return time.Time{}, why
		}
		time.Sleep(awaitPause)
	}
}

// Counted sends a number of requests over some connections, and compares every answer. It ends early at the deadline or with ctx; unsent
// requests are not counted.
func Counted(ctx context.Context, server Server, r record.Request, requests int64, connections int, deadline time.Time) (record.Audit, error) {
	parts, errs := make([]record.Audit, connections), make([]error, connections)
	var group sync.WaitGroup
	for i := range connections {
		share := requests / int64(connections)
		if int64(i) < requests%int64(connections) {
			share++
		}
		group.Go(func() { parts[i], errs[i] = counted(ctx, server, Expect(r), share, deadline) })
	}
	group.Wait()
	var sum record.Audit
	for i, part := range parts {
		if errs[i] != nil {
			return sum, errs[i]
		}
		sum.Requests, sum.Failed, sum.Connections = sum.Requests+part.Requests, sum.Failed+part.Failed, sum.Connections+part.Connections
		sum.WrongStatus, sum.WrongBody = sum.WrongStatus+part.WrongStatus, sum.WrongBody+part.WrongBody
		if sum.Example == "" {
			sum.Example = part.Example
		}
	}
	return sum, nil
}

// counted is one connection's share. It ends at an unanswered request: the server is gone, or hangs.
func counted(ctx context.Context, server Server, e Expectation, requests int64, deadline time.Time) (record.Audit, error) {
	a, err := NewAuditor(server, []Expectation{e}, deadline)
	if err != nil {
		return record.Audit{}, fmt.Errorf("%s cannot be sent: %w", e.what(), err)
	}
	defer a.hangUp()
	for range requests {
		sent := time.Now()
		if ctx.Err() != nil || !sent.Before(deadline) {
			break
		}
		if err := a.once(ctx); err != nil {
			if a.found.Requests > 0 && timedOut(err) && !time.Now().Before(deadline) && time.Since(sent) < auditPatience {
				break // The deadline cut it off.
			}
			a.found.Requests++
			a.found.Failed++
			a.example(unanswered(e.what(), err, time.Since(sent).Round(time.Millisecond)))
			break
		}
	}
	return a.found, nil
}

func askUntil(ctx context.Context, server Server, e Expectation, deadline time.Time) (answer, error) {
	m, err := request(server.Address, e.Request)
	if err != nil {
		return answer{}, fmt.Errorf("%s cannot be sent: %w", e.what(), WithoutURL(err))
	}
	s, err := openSession(ctx, server, e.Request.Protocol, deadline)
	if err != nil {
		return answer{}, unanswered(e.what(), err, time.Until(deadline))
	}
	defer s.close()
	a, err := s.ask(m, io.Discard)
	if err != nil {
		return answer{}, unanswered(e.what(), err, time.Until(deadline))
	}
	return a, e.compare(a)
}
