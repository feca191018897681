package httpcheck

import (
	"bytes"
	"fmt"

	"loadstone.dev/loadstone/internal/record"
)

// maxShown is how much of a body a sentence shows, in bytes.
const maxShown = 80

// Expectation is a request, and what answers to it must be.
type Expectation struct {
	// Request is what is asked.
	Request record.Request
	status  int
	// body is compared if known is true, unless any body will do; of a long one its beginning, and bytes is the size of all of it.
	known bool
	body  []byte
	bytes int64
}

// Expect is what a load's request says of its answer.
func Expect(r record.Request) Expectation {
	e := Expectation{Request: r, status: int(r.Expect.Status)}
	if r.Expect.Body != nil {
		e.known, e.body, e.bytes = true, []byte(*r.Expect.Body), int64(len(*r.Expect.Body))
	}
	return e
}

// OrBodyOf expects the body of another answer where the load says nothing of it.
func (e Expectation) OrBodyOf(seen Expectation) Expectation {
	if !e.known {
		e.known, e.body, e.bytes = true, seen.body, seen.bytes
	}
	return e
}

// what names the request in sentences, such as "GET /".
func (e Expectation) what() string { return e.Request.Verb() + " " + e.Request.Path }

// Errors of an answer that is not as expected; both are sentences.
type (
	wrongStatus struct{ error }
	wrongBody   struct{ error }
)

// compare is nil for an answer that is as expected, or a wrongStatus or wrongBody.
func (e Expectation) compare(a answer) error {
	if a.status != e.status {
		return wrongStatus{fmt.Errorf("%s answered %d instead of %d", e.what(), a.status, e.status)}
	}
	if e.known && !e.Request.Expect.AnyBody && (a.bytes != e.bytes || !bytes.Equal(a.body, e.body)) {
		return wrongBody{fmt.Errorf("%s answered the body %s instead of %s", e.what(), show(a.body, a.bytes), show(e.body, e.bytes))}
	}
	return nil
}

// show quotes a body, the beginning of a long one.
func show(body []byte, size int64) string {
	if size <= maxShown {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%q... (%d bytes)", body[:maxShown], size)
}
