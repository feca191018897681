package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Server is a running server.
type Server struct {
	*Child
	Port int
}

// Target is where the server listens.
func (s *Server) Target() string { return Address("127.0.0.1", s.Port) }

// Address is host and port.
func Address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// FreePort finds a port on which nobody listens. It lies below those that the kernel gives to clients: among them, one that was
// free a moment ago may be some client's now.
func FreePort() (int, error) {
	const first, n, tries = 20_000, 10_000, 100
	var err error
	for range tries {
		port := first + rand.IntN(n)
		var l net.Listener
		if l, err = net.Listen("tcp", Address("", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("finding a free port: %w", err)
}

// StartServer starts an argument vector that makes a server listen on a port, and waits until it does.
func StartServer(ctx context.Context, dir string, port int, args []string) (*Server, error) {
	// A master among servers must be able to end its workers.
	c, err := start(ctx, dir, ServerCPU, args, syscall.SIGTERM)
	if err != nil {
		return nil, err
	}
	s := &Server{c, port}
	for deadline := time.Now().Add(Patience); ; {
		conn, err := net.Dial("tcp", s.Target())
		if err == nil {
			return s, conn.Close()
		}
		select {
		case <-c.ended:
			return nil, fmt.Errorf("starting %s: it ended before it listened: %w: %s", c.name, errors.Join(c.err, ctx.Err()), c.said())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			c.End()
			return nil, fmt.Errorf("starting %s: it does not listen: %w: %s", c.name, err, c.said())
		}
	}
}

// Stop asks the server to end, so that it can wait for its own children, and kills it if it does not. It may be called twice.
func (s *Server) Stop() {
	_ = s.Signal(syscall.SIGTERM) // An error means that it has ended by itself.
	select {
	case <-s.ended:
	case <-time.After(Patience / 5):
	}
	s.End()
}
