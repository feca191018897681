package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// patience bounds every wait for a server that does nothing.
const patience = time.Minute

// client applies patience to each single read and write, so that slow progress is allowed.
type client struct{ *net.TCPConn }

func dial(address string) (client, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return client{}, fmt.Errorf("connecting: %w", err)
	}
	return client{c.(*net.TCPConn)}, nil
}

// Read reads some bytes.
func (c client) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.TCPConn.Read(p)
}

// Write writes all of p.
func (c client) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.TCPConn.Write(p)
}

// exchange writes pieces one by one, and reads a number of answers. closed says whether the server then closed the connection.
func exchange(address string, pieces []string, answers int) (got []string, closed bool, err error) {
	c, err := dial(address)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = c.Close() }()
	written := make(chan error, 1)
	go func() { written <- write(c, pieces) }()
	r := bufio.NewReader(c)
	for i := range answers {
		response, body, err := receive(r, http.MethodGet)
		if err != nil {
			return nil, false, fmt.Errorf("answer %d of %d: %w", i+1, answers, err)
		}
		text := fmt.Sprint(response.StatusCode)
		if response.StatusCode == http.StatusOK {
			text += fmt.Sprintf(" %s %d %s", response.Header.Get("Content-Type"), response.ContentLength, body)
		}
		got = append(got, text)
		closed = response.Close
	}
	if err := <-written; err != nil && !closed {
		return nil, false, err
	}
	if closed {
		if _, err := r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, false, fmt.Errorf("the server said that it would close the connection, and did not: %w", err)
		}
	}
	return got, closed, nil
}

func write(w io.Writer, pieces []string) error {
	for _, p := range pieces {
		if _, err := io.WriteString(w, p); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}

func receive(r *bufio.Reader, method string) (*http.Response, []byte, error) {
	response, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the head: %w", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the body: %w", err)
	}
	return response, body, nil
}

// converse sends text, ends sending, and returns all answers. methods are those of the requests; the last one repeats.
func converse(address, text string, methods ...string) (answers []*http.Response, err error) {
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err := write(c, []string{text}); err != nil {
		return nil, err
	}
	if err := c.CloseWrite(); err != nil {
		return nil, fmt.Errorf("ending the sending direction: %w", err)
	}
	r := bufio.NewReader(c)
	for {
		if _, err := r.Peek(1); errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("the server does not end its side after %d answers: %w", len(answers), err)
		} else if err != nil {
			return answers, nil
		}
		response, _, err := receive(r, methods[min(len(answers), len(methods)-1)])
		if err != nil {
			return nil, fmt.Errorf("answer %d: %w", len(answers)+1, err)
		}
		answers = append(answers, response)
	}
}
