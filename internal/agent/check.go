package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// checkLimit is how long a server may take to answer one request of a check.
	checkLimit = 5 * time.Second
	// maxShown is how much of a body a sentence shows, in bytes.
	maxShown = 80
)

// checked is the result of a check.
type checked struct {
	// verdict is protocol.CheckedOK or a sentence, and fault says whose fault it is then.
	verdict   string
	fault     protocol.Fault
	responses []record.Response
}

// expectation is what answers to a request must be.
type expectation struct {
	// what names the request in sentences, such as "GET /".
	what   string
	status int
	// body is compared if known is true; of a long one its beginning, and bytes is the size of all of it.
	known bool
	body  []byte
	bytes int64
}

// expect is what a load's request says of its answer.
func expect(r v1alpha1.Request) expectation {
	e := expectation{what: "GET " + pathOf(r), status: int(r.Expect.Status)}
	if e.status == 0 {
		e.status = http.StatusOK
	}
	if r.Expect.Body != nil {
		e.known, e.body, e.bytes = true, []byte(*r.Expect.Body), int64(len(*r.Expect.Body))
	}
	return e
}

func pathOf(r v1alpha1.Request) string {
	if r.Path == "" {
		return "/"
	}
	return r.Path
}

// Errors of an answer that is not as expected; both are sentences.
type (
	wrongStatus struct{ error }
	wrongBody   struct{ error }
)

// compare is nil for an answer that is as expected, or a wrongStatus or wrongBody.
func (e expectation) compare(a answer) error {
	if a.status != e.status {
		return wrongStatus{fmt.Errorf("%s answered %d instead of %d", e.what, a.status, e.status)}
	}
	if e.known && (a.bytes != e.bytes || !bytes.Equal(a.body, e.body)) {
		return wrongBody{fmt.Errorf("%s answered the body %s instead of %s", e.what, show(a.body, a.bytes), show(e.body, e.bytes))}
	}
	return nil
}

// asked is one request's answer of a check.
type asked struct {
	err      error
	response record.Response
	// seen is what further answers to the same request must be like.
	seen expectation
}

// checkAll sends every request once, at the same time. The error is the first one's that was answered wrongly.
func checkAll(ctx context.Context, c protocol.Check) ([]asked, error) {
	all := make([]asked, len(c.Request))
	var group sync.WaitGroup
	for i, r := range c.Request {
		group.Go(func() { all[i] = checkOne(ctx, c.Target, r) })
	}
	group.Wait()
	for _, a := range all {
		if a.err != nil {
			return nil, a.err
		}
	}
	return all, nil
}

// checkBeside does the same with the second server of a duet; it finds nothing outside one.
func checkBeside(ctx context.Context, c protocol.Check) ([]asked, error) {
	if c.Beside == "" {
		return nil, nil
	}
	c.Target = c.Beside
	return checkAll(ctx, c)
}

func checkOne(ctx context.Context, target string, r v1alpha1.Request) asked {
	e := expect(r)
	text, err := request(target, pathOf(r))
	if err != nil {
		return asked{err: fmt.Errorf("%s cannot be sent: %w", e.what, withoutURL(err))}
	}
	s, err := openSession(ctx, target, time.Now().Add(checkLimit))
	if err != nil {
		return asked{err: unanswered(e.what, err, checkLimit)}
	}
	defer s.close()
	digest := sha256.New()
	a, err := s.ask(text, digest)
	if err != nil {
		return asked{err: unanswered(e.what, err, checkLimit)}
	}
	if err := e.compare(a); err != nil {
		return asked{err: err}
	}
	e.known, e.body, e.bytes = true, bytes.Clone(a.body), a.bytes
	return asked{seen: e, response: record.Response{
		Path: pathOf(r), Status: int32(a.status), BodyBytes: a.bytes, BodySHA256: hex.EncodeToString(digest.Sum(nil)), HeaderBytes: a.head,
	}}
}

// unanswered says why a request has no answer.
func unanswered(what string, err error, limit time.Duration) error {
	switch {
	case timedOut(err):
		return fmt.Errorf("%s was not answered: no answer within %v", what, limit)
	case errors.Is(err, errSurplus):
		return fmt.Errorf("%s was answered wrongly: %w", what, err)
	}
	return fmt.Errorf("%s was not answered: %w", what, err)
}

func timedOut(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

// withoutURL is the reason of a failed request, without its address.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// show quotes a body, the beginning of a long one.
func show(body []byte, size int64) string {
	if size <= maxShown {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%q... (%d bytes)", body[:maxShown], size)
}
