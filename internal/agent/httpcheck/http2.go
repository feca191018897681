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

// client is one connection of HTTP/2.
type client interface {
	http.RoundTripper
	CanTakeNewRequest() bool
}

func newClient(conn net.Conn) (client, error) {
	//nolint:staticcheck // What net/http has in its place opens its connections itself, so that nobody can count what it reads.
	return (&http2.Transport{DisableCompression: true}).NewClientConn(conn)
}

// askHTTP2 sends a request over a connection of HTTP/2 and reads the answer to it. The whole body is written to digest too.
func (s *session) askHTTP2(asked *http.Request, digest io.Writer) (answer, error) {
	if !s.http2.CanTakeNewRequest() {
		return answer{}, s.over()
	}
	r := asked.Clone(context.Background()) // Whoever ends the session ends the request.
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

// over is why a connection of HTTP/2 takes no request any more: its time has passed, or the server has ended it between two answers.
func (s *session) over() error {
	if s.expired() {
		return os.ErrDeadlineExceeded
	}
	return io.EOF
}

// closedError is the error of a request on a connection that ended before an answer to it began.
type closedError struct{ error }

// Unwrap returns the error itself.
func (e closedError) Unwrap() error { return e.error }

// frameHead is the size of what heads each frame of HTTP/2: three bytes of length, one of kind, one of flags, four of the stream.
const frameHead = 9

// headCounter is a connection of HTTP/2 that counts the bytes of its answers' heads: the frames of headers, which are compressed. The client of the
// library does not tell them.
type headCounter struct {
	net.Conn
	// begun is the head of a frame of which a part has come, and left is how much of the frame after it is still to come.
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

// count looks at what has come, however it is cut.
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
