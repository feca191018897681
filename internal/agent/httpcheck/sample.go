package httpcheck

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// Sampler compares answers on the load's own connections with the expected ones. They are seen in passing: an answer counts if it is complete
// and fills the connection, or if its beginning is already wrong. The rest is ambiguous.
type Sampler struct {
	expect []Expectation
	began  time.Time
	found  record.Audit
	// seen are the connections' numbers; the caller bounds them.
	seen map[int]bool
}

// NewSampler makes a sampler for a load that sends some requests in HTTP/1.1 without TLS. began is the start of the load.
func NewSampler(all []Expectation, began time.Time) *Sampler {
	return &Sampler{expect: all, began: began, seen: map[int]bool{}}
}

// See compares the bytes that wait in a connection.
func (s *Sampler) See(connection int, waiting []byte) {
	got, complete := parseAnswer(waiting)
	if got.status == 0 {
		return
	}
	wrong := s.compare(got, complete)
	if wrong == nil && !complete {
		return
	}
	s.seen[connection] = true
	s.found.Requests++
	if _, ok := errors.AsType[wrongStatus](wrong); ok {
		s.found.WrongStatus++
	} else if wrong != nil {
		s.found.WrongBody++
	}
	if wrong != nil && s.found.Example == "" {
		s.found.Example = fmt.Sprintf("%v (%.1f s after the load began, on a connection of the load)", wrong, time.Since(s.began).Seconds())
	}
}

// Found returns the result so far, or nil if no answer counted.
func (s *Sampler) Found() *record.Audit {
	if s.found.Requests == 0 {
		return nil
	}
	s.found.Connections = int64(len(s.seen))
	return &s.found
}

// compare returns nil if the answer suits one of the requests: which one it answers is not known. Otherwise the error is that of the last
// request, or that of the body if the status suits one.
func (s *Sampler) compare(got answer, complete bool) (wrong error) {
	for _, e := range s.expect {
		err := e.compare(got)
		if !complete {
			err = e.compareBeginning(got)
		}
		if err == nil {
			return nil
		}
		if _, body := errors.AsType[wrongBody](wrong); !body {
			wrong = err
		}
	}
	return wrong
}

// compareBeginning compares as much as has arrived. The size is that of the head; negative if unknown.
func (e Expectation) compareBeginning(a answer) error {
	if a.status != e.status || !e.known || e.Request.Expect.AnyBody {
		return e.compare(answer{status: a.status, body: e.body, bytes: e.bytes})
	}
	seen := int64(len(a.body))
	n := min(len(a.body), len(e.body))
	if bytes.Equal(a.body[:n], e.body[:n]) && seen <= e.bytes && (a.bytes < 0 || a.bytes == e.bytes) {
		return nil
	}
	return wrongBody{fmt.Errorf("%s answered a body that begins with %s instead of %s", e.what(), show(a.body, max(a.bytes, seen)), show(e.body, e.bytes))}
}

// parseAnswer parses bytes that begin with an answer of HTTP/1. The status is 0 if they do not, or if the head is not whole. complete means
// that they end with the answer, as on every connection without pipelining. Otherwise body is its beginning and bytes its announced size, or -1.
func parseAnswer(waiting []byte) (a answer, complete bool) {
	if !bytes.HasPrefix(waiting, []byte("HTTP/1.")) {
		return answer{}, false
	}
	in := bufio.NewReader(bytes.NewReader(waiting))
	response, err := http.ReadResponse(in, nil)
	for err == nil && response.StatusCode < http.StatusOK && response.StatusCode != http.StatusSwitchingProtocols {
		response, err = http.ReadResponse(in, nil)
	}
	if err != nil {
		return answer{}, false
	}
	defer response.Body.Close()
	// Without a size, an answer ends with its connection, whose end is not seen here.
	sized := response.ContentLength >= 0 || len(response.TransferEncoding) > 0
	body, err := io.ReadAll(response.Body)
	a = answer{status: response.StatusCode, body: body[:min(len(body), maxBody)], bytes: response.ContentLength}
	if err != nil || !sized {
		return a, false
	}
	if a.bytes < 0 {
		a.bytes = int64(len(body))
	}
	if _, err := in.Peek(1); err == nil {
		return answer{}, false // What follows does not belong to it: it may be anything.
	}
	return a, true
}
