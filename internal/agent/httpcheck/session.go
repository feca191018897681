package httpcheck

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// maxBody bounds the kept bytes of a body; no expected body is longer.
	maxBody = 64<<10 + 1
	// maxHead bounds a status line with its headers, maxLine each line, in bytes.
	maxHead = 256 << 10
	maxLine = 64 << 10
)

var (
	errSurplus = errors.New("the server sent more bytes than the answer has")
	// errFrames: an HTTP/1.1 request was answered with HTTP/2 frames, whose first byte is 0.
	errFrames = errors.New("the answer looks like HTTP/2, but the load uses HTTP/1.1: set its protocol to HTTP2 (needs TLS, and k6 or h2load), or use HTTP/1.1 in the server")
)

// session is one connection for sequential requests. It counts bytes on the wire, which the standard library's client does not report.
type session struct {
	conn net.Conn
	in   *bufio.Reader
	// parser reads an answer: the head already read from in, then the rest of in.
	parser *bufio.Reader
	body   bytes.Buffer
	stop   func() bool
	// until is the deadline of the connection.
	until time.Time
	// http2 replaces in and parser on an HTTP/2 connection, and heads is its input; both nil in HTTP/1.1.
	http2 client
	heads *headCounter
}

type answer struct {
	status int
	head   int64
	// body holds up to maxBody bytes, valid until the next request; bytes is the full size.
	body  []byte
	bytes int64
	last  bool
}

type message struct {
	text   []byte
	framed *http.Request
}

// request makes a message with only its own headers and those that HTTP requires, as wrk does.
func request(target string, asked record.Request) (message, error) {
	scheme := "http"
	if asked.Protocol == record.HTTP2 {
		scheme = "https" // The HTTP/1.1 text has no scheme.
	}
	r, err := http.NewRequest(asked.Verb(), scheme+"://"+target+asked.Path, strings.NewReader(asked.Body))
	if err != nil {
		return message{}, err
	}
	r.Header.Set("User-Agent", "")
	for _, h := range asked.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	if asked.Protocol == record.HTTP2 {
		return message{framed: r}, nil
	}
	var text bytes.Buffer
	if err := r.Write(&text); err != nil {
		return message{}, err
	}
	return message{text: text.Bytes()}, nil
}

// openSession connects with a version of HTTP. Everything on the connection ends at the deadline, or with ctx.
func openSession(ctx context.Context, server Server, p record.Protocol, deadline time.Time) (*session, error) {
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.DialContext(ctx, "tcp", server.Address)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if server.TLS != nil {
		encrypted, err := secure(ctx, conn, *server.TLS, p)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		conn = encrypted
	}
	s := &session{conn: conn, until: deadline}
	if p == record.HTTP2 {
		s.heads = &headCounter{Conn: conn}
		if s.http2, err = newClient(s.heads); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	} else {
		s.in, s.parser = bufio.NewReaderSize(conn, maxLine), bufio.NewReader(conn)
	}
	s.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) }) // A closed connection has ended too.
	return s, nil
}

// againEvery is the pause between attempts to connect through a network that refuses.
const againEvery = 50 * time.Millisecond

// reach connects to a server that is known to listen. A network may learn of new pods later than their agents, so it retries refused
// connections until the deadline.
func reach(ctx context.Context, server Server, p record.Protocol, deadline time.Time) (*session, error) {
	began := time.Now()
	var why error
	for {
		left := time.Until(deadline)
		s, err := openSession(ctx, server, p, deadline)
		if err == nil {
			// The network's delay does not count against the server.
			s.until = deadline.Add(time.Since(began))
			return s, s.conn.SetDeadline(s.until)
		}
		if why == nil || left > time.Second || !timedOut(err) {
			why = err // The last attempt may have had no time.
		}
		if !Unreachable(err) && !errors.Is(err, syscall.ECONNREFUSED) || time.Until(deadline) < againEvery {
			return nil, why
		}
		select {
		case <-time.After(againEvery):
		case <-ctx.Done():
			return nil, why
		}
	}
}

// Unreachable reports whether the network, not the server, prevented a connection. A dropped one ends with its timeout.
func Unreachable(err error) bool {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" && e.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM}, func(e error) bool { return errors.Is(err, e) })
}

func (s *session) close() {
	s.stop()
	_ = s.conn.Close() // No reader waits for the last bytes.
}

func (s *session) expired() bool { return !time.Now().Before(s.until) }

// ask sends a request and reads the answer. The whole body is also written to digest.
func (s *session) ask(m message, digest io.Writer) (answer, error) {
	if s.http2 != nil {
		return s.askHTTP2(m.framed, digest)
	}
	if _, err := s.conn.Write(m.text); err != nil {
		return answer{}, err
	}
	switch first, err := s.in.Peek(1); {
	case err != nil:
		return answer{}, err
	case first[0] == 0:
		return answer{}, errFrames
	}
	head, response, err := s.readHead()
	for err == nil && response.StatusCode < http.StatusOK && response.StatusCode != http.StatusSwitchingProtocols {
		head, response, err = s.readHead()
	}
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, head: head, last: response.Close}
	if err := s.keep(&a, response.Body, digest); err != nil {
		return a, err
	}
	if s.in.Buffered() > 0 || s.parser.Buffered() > 0 {
		return a, errSurplus
	}
	return a, nil
}

func (s *session) keep(a *answer, body io.Reader, digest io.Writer) error {
	s.body.Reset()
	all := io.TeeReader(body, digest)
	kept, err := io.Copy(&s.body, io.LimitReader(all, maxBody))
	if err != nil {
		return err
	}
	rest, err := io.Copy(io.Discard, all)
	if err != nil {
		return err
	}
	a.body, a.bytes = s.body.Bytes(), kept+rest
	return nil
}

func (s *session) readHead() (int64, *http.Response, error) {
	var head []byte
	for {
		l, err := s.in.ReadSlice('\n')
		head = append(head, l...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || len(head) > maxHead:
			return 0, nil, fmt.Errorf("the headers are longer than %d bytes, or one of them than %d", maxHead, maxLine)
		case errors.Is(err, io.EOF) && len(head) > 0:
			return 0, nil, io.ErrUnexpectedEOF
		case err != nil:
			return 0, nil, err
		}
		if len(bytes.TrimRight(l, "\r\n")) == 0 {
			break
		}
	}
	s.parser.Reset(io.MultiReader(bytes.NewReader(head), s.in))
	response, err := http.ReadResponse(s.parser, nil)
	return int64(len(head)), response, err
}
