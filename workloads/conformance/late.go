package conformance

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// endless exceeds every server's timeouts, of half a minute at most.
const endless = 4 * time.Minute

// CheckTimeouts fails the test unless all servers (name to HOST:PORT) disconnect idle clients. All clients run at once, since they mostly
// wait.
func CheckTimeouts(t *testing.T, addresses map[string]string) {
	t.Helper()
	type attempt struct {
		name string
		err  chan error
	}
	var attempts []attempt
	for server, address := range addresses {
		for name, try := range map[string]func(address string) error{
			"half a request": half, "a request without an end": drip, "answers that nobody reads": neverRead,
		} {
			a := attempt{name: server + " and " + name, err: make(chan error, 1)}
			go func() { a.err <- try(address) }()
			attempts = append(attempts, a)
		}
	}
	for _, a := range attempts {
		if err := <-a.err; err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
	}
}

// half sends half a request and waits for the end of the connection, with or without an answer.
func half(address string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := write(c, []string{plain, plain[:len(plain)/2]}); err != nil {
		return err
	}
	return untilEnd(c)
}

func drip(address string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := write(c, []string{plain[:len(plain)-2] + "X: "}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- untilEnd(c) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(500 * time.Millisecond):
			_, _ = io.WriteString(c, "a") // The server may have ended its side.
		}
	}
}

func untilEnd(c client) error {
	if err := c.SetReadDeadline(time.Now().Add(endless)); err != nil {
		return fmt.Errorf("setting a deadline: %w", err)
	}
	if _, err := io.Copy(io.Discard, c.TCPConn); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the server is still waiting after %v", endless)
	}
	return nil
}

// neverRead sends requests without reading answers until the connection breaks.
func neverRead(address string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := errors.Join(c.SetReadBuffer(64<<10), c.SetWriteBuffer(64<<10), c.SetWriteDeadline(time.Now().Add(endless))); err != nil {
		return fmt.Errorf("setting buffers and a deadline: %w", err)
	}
	text := strings.Repeat(plain, 100)
	for {
		if _, err := io.WriteString(c.TCPConn, text); errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("the server is still waiting after %v", endless)
		} else if err != nil {
			return nil
		}
	}
}
