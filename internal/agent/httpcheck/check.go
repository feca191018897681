package httpcheck

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const checkLimit = 5 * time.Second

// Answer is the right answer to one request of a check.
type Answer struct {
	Response record.Response
	Again    Expectation
}

// Check sends all requests, concurrently, and then those again whose body is compared with the first one: a body that differs each time would
// void every cell. The error is that of the first wrong answer in the list, as a sentence.
func Check(ctx context.Context, server Server, requests []record.Request) ([]Answer, error) {
	all, errs := make([]Answer, len(requests)), make([]error, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() { all[i], errs[i] = ask(ctx, server, Expect(r)) })
	}
	group.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for i, a := range all {
		group.Go(func() { errs[i] = askAgain(ctx, server, a) })
	}
	group.Wait()
	return all, cmp.Or(errs...)
}

// askAgain sends a request again, unless its load says what the body is or that it may be any. The body must be that of the first answer.
func askAgain(ctx context.Context, server Server, first Answer) error {
	if expect := first.Again.Request.Expect; expect.AnyBody || expect.Body != nil {
		return nil
	}
	_, err := ask(ctx, server, first.Again)
	if wrong := (wrongBody{}); errors.As(err, &wrong) {
		return fmt.Errorf("%w: for a body that differs each time, set expect: {bodies: Any}", wrong)
	}
	return err
}

func ask(ctx context.Context, server Server, e Expectation) (Answer, error) {
	m, err := request(server.Address, e.Request)
	if err != nil {
		return Answer{}, fmt.Errorf("%s cannot be sent: %w", e.what(), WithoutURL(err))
	}
	s, err := reach(ctx, server, e.Request.Protocol, time.Now().Add(checkLimit))
	if err != nil {
		return Answer{}, unanswered(e.what(), err, checkLimit)
	}
	defer s.close()
	digest := sha256.New()
	a, err := s.ask(m, digest)
	if err != nil {
		return Answer{}, unanswered(e.what(), err, checkLimit)
	}
	if err := e.compare(a); err != nil {
		return Answer{}, plainly(server, a, err)
	}
	e.known, e.body, e.bytes = true, bytes.Clone(a.body), a.bytes
	response := record.Response{
		Path: e.Request.Path, Status: int32(a.status), BodyBytes: a.bytes, BodySHA256: hex.EncodeToString(digest.Sum(nil)), HeaderBytes: a.head,
	}
	if !e.Request.Plain() {
		response.Request = e.Request.Key()
	}
	return Answer{Again: e, Response: response}, nil
}

func unanswered(what string, err error, limit time.Duration) error {
	switch {
	case timedOut(err) && Unreachable(err):
		return fmt.Errorf("%s was not sent: no connection within %v: %w", what, limit, err)
	case timedOut(err):
		return fmt.Errorf("%s got no answer within %v", what, limit)
	case untrusted(err):
		return fmt.Errorf("%s was not sent: %w", what, err)
	case errors.Is(err, errSurplus), errors.Is(err, errFrames):
		return fmt.Errorf("%s got a wrong answer: %w", what, err)
	}
	return fmt.Errorf("%s got no answer: %w", what, err)
}

func timedOut(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

// WithoutURL returns a failed request's reason without its address, which may be secret.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

const maxShown = 80

// Expectation is a request and its expected answer.
type Expectation struct {
	Request record.Request
	status  int
	// body is compared if known is true, unless any body is allowed. Of a long body it holds the beginning; bytes is the full size.
	known bool
	body  []byte
	bytes int64
}

// Expect returns a load's own expectation of its answer.
func Expect(r record.Request) Expectation {
	e := Expectation{Request: r, status: int(r.Expect.Status)}
	if r.Expect.Body != nil {
		e.known, e.body, e.bytes = true, []byte(*r.Expect.Body), int64(len(*r.Expect.Body))
	}
	return e
}

// OrBodyOf expects the body of another answer if the load specifies none.
func (e Expectation) OrBodyOf(seen Expectation) Expectation {
	if !e.known {
		e.known, e.body, e.bytes = true, seen.body, seen.bytes
	}
	return e
}

func (e Expectation) what() string { return e.Request.Verb() + " " + e.Request.Path }

// Errors of an unexpected answer; both are sentences.
type (
	wrongStatus struct{ error }
	wrongBody   struct{ error }
)

// compare returns nil, a wrongStatus or a wrongBody.
func (e Expectation) compare(a answer) error {
	if a.status != e.status {
		return wrongStatus{fmt.Errorf("%s answered %d instead of %d", e.what(), a.status, e.status)}
	}
	if e.known && !e.Request.Expect.AnyBody && (a.bytes != e.bytes || !bytes.Equal(a.body, e.body)) {
		return wrongBody{fmt.Errorf("%s answered the body %s instead of %s", e.what(), show(a.body, a.bytes), show(e.body, e.bytes))}
	}
	return nil
}

func show(body []byte, size int64) string {
	if size <= maxShown && int64(len(body)) == size {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%q... (%d bytes)", body[:min(maxShown, len(body))], size)
}
