package httpcheck

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"golang.org/x/net/http2"
)

type client interface {
	http.RoundTripper
	CanTakeNewRequest() bool
}

func newClient(conn net.Conn) (client, error) {
	//nolint:staticcheck // What net/http has in its place opens its connections itself, so that nobody can count what it reads.
	return (&http2.Transport{DisableCompression: true}).NewClientConn(conn)
}

// askHTTP2 sends a request over HTTP/2 and reads the answer. The whole body is also written to digest.
func (s *session) askHTTP2(asked *http.Request, digest io.Writer) (answer, error) {
	if !s.http2.CanTakeNewRequest() {
		return answer{}, s.over()
	}
	r := asked.Clone(context.Background()) // The session's end ends the request.
	body, err := asked.GetBody()
	if err != nil {
		return answer{}, err
	}
	r.Body = body
	before := s.heads.bytes.Load()
	response, err := s.http2.RoundTrip(r)
	switch {
	case err == nil:
	case !timedOut(err) && !s.http2.CanTakeNewRequest():
		return answer{}, closedError{err}
	default:
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, head: s.heads.bytes.Load() - before}
	if err := s.keep(&a, response.Body, digest); err != nil {
		return a, err
	}
	a.last = !s.http2.CanTakeNewRequest()
	return a, nil
}

// over returns why an HTTP/2 connection takes no more requests: it expired, or the server ended it between two answers.
func (s *session) over() error {
	if s.expired() {
		return os.ErrDeadlineExceeded
	}
	return io.EOF
}

// closedError: the connection ended before an answer began.
type closedError struct{ error }

// Unwrap returns the wrapped error.
func (e closedError) Unwrap() error { return e.error }

// frameHead is the size of an HTTP/2 frame header: 3 bytes of length, 1 of type, 1 of flags, 4 of stream.
const frameHead = 9

// headCounter counts the bytes of header frames on an HTTP/2 connection; headers are compressed, and the library does not report their size.
type headCounter struct {
	net.Conn
	// begun is a partly received frame header; left is the rest of the frame after it.
	begun []byte
	left  int
	bytes atomic.Int64
}

// Read implements net.Conn.
func (h *headCounter) Read(into []byte) (int, error) {
	n, err := h.Conn.Read(into)
	h.count(into[:n])
	return n, err
}

func (h *headCounter) count(came []byte) {
	for len(came) > 0 {
		if h.left > 0 {
			n := min(h.left, len(came))
			h.left, came = h.left-n, came[n:]
			continue
		}
		n := min(frameHead-len(h.begun), len(came))
		h.begun, came = append(h.begun, came[:n]...), came[n:]
		if len(h.begun) < frameHead {
			continue
		}
		h.left = int(h.begun[0])<<16 | int(h.begun[1])<<8 | int(h.begun[2])
		if kind := http2.FrameType(h.begun[3]); kind == http2.FrameHeaders || kind == http2.FrameContinuation {
			h.bytes.Add(int64(frameHead + h.left))
		}
		h.begun = h.begun[:0]
	}
}
