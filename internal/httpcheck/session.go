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
	// maxBody is how much is kept of a body, in bytes; no expected body is longer.
	maxBody = 64<<10 + 1
	// maxHead bounds a status line with its headers, and maxLine each of their lines, in bytes.
	maxHead = 256 << 10
	maxLine = 64 << 10
)

// errSurplus is the error of a server that sends what nobody asked for.
var errSurplus = errors.New("more bytes came than the answer has")

// session is one connection to the server, over which requests are sent one after the other. It counts bytes on the wire, which
// a client of the standard library does not tell.
type session struct {
	conn net.Conn
	in   *bufio.Reader
	// parser reads an answer: the head that was read from in already, then the rest of in.
	parser *bufio.Reader
	body   bytes.Buffer
	// answers is the number of answers so far.
	answers int64
	stop    func() bool
}

// answer is what a server answered to one request.
type answer struct {
	status int
	// head is the size of status line and headers on the wire.
	head int64
	// body is the beginning of the body, up to maxBody bytes, valid until the next request; bytes is the size of all of it.
	body  []byte
	bytes int64
	// last is true when the server takes no other request on this connection.
	last bool
}

// request is a request as it goes over the wire, with no headers but its own and those that HTTP demands: what wrk sends.
func request(target string, asked record.Request) ([]byte, error) {
	r, err := http.NewRequest(asked.Verb(), "http://"+target+asked.Path, strings.NewReader(asked.Body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "")
	for _, h := range asked.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	var text bytes.Buffer
	if err := r.Write(&text); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// openSession connects to the server. Everything on the connection ends at the deadline, or with ctx.
func openSession(ctx context.Context, server Server, deadline time.Time) (*session, error) {
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.DialContext(ctx, "tcp", server.Address)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if server.TLS != nil {
		encrypted, err := secure(ctx, conn, *server.TLS)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		conn = encrypted
	}
	s := &session{conn: conn, in: bufio.NewReaderSize(conn, maxLine), parser: bufio.NewReader(conn)}
	s.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) }) // A connection that is closed already has ended too.
	return s, nil
}

// againEvery is how often a server is connected to that the network does not let through.
const againEvery = 50 * time.Millisecond

// reach connects to a server that is known to listen. Networks learn of new pods a little later than their agents do: until the deadline a connection that
// is refused is tried again.
func reach(ctx context.Context, server Server, deadline time.Time) (*session, error) {
	began := time.Now()
	for {
		s, err := openSession(ctx, server, deadline)
		if err == nil {
			// The time that the network took is not the server's.
			return s, s.conn.SetDeadline(deadline.Add(time.Since(began)))
		}
		if !Unreachable(err) && !errors.Is(err, syscall.ECONNREFUSED) || time.Until(deadline) < againEvery {
			return nil, err
		}
		select {
		case <-time.After(againEvery):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Unreachable reports whether the network, and not the server, keeps a connection from being opened. One that is dropped on the way ends with its time.
func Unreachable(err error) bool {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" && e.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM}, func(e error) bool { return errors.Is(err, e) })
}

func (s *session) close() {
	s.stop()
	_ = s.conn.Close() // Nobody waits for what was sent last.
}

// ask sends a request and reads the answer to it. The whole body is written to digest too.
func (s *session) ask(request []byte, digest io.Writer) (answer, error) {
	if _, err := s.conn.Write(request); err != nil {
		return answer{}, err
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
	s.body.Reset()
	all := io.TeeReader(response.Body, digest)
	kept, err := io.Copy(&s.body, io.LimitReader(all, maxBody))
	if err != nil {
		return a, err
	}
	rest, err := io.Copy(io.Discard, all)
	if err != nil {
		return a, err
	}
	if s.in.Buffered() > 0 || s.parser.Buffered() > 0 {
		return a, errSurplus
	}
	a.body, a.bytes = s.body.Bytes(), kept+rest
	s.answers++
	return a, nil
}

// readHead reads one status line with its headers, and returns their size and what they say.
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
