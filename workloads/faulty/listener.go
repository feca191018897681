package main

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// shorten reduces a listener's queue with another listen(2), whose last number counts.
func shorten(listener net.Listener, backlog int) error {
	socket, ok := listener.(syscall.Conn)
	if !ok {
		return fmt.Errorf("shortening the queue: a %T has no socket", listener)
	}
	raw, err := socket.SyscallConn()
	if err == nil {
		var refused error
		err = raw.Control(func(fd uintptr) { refused = syscall.Listen(int(fd), backlog) })
		err = errors.Join(err, refused)
	}
	if err != nil {
		return fmt.Errorf("shortening the queue: %w", err)
	}
	return nil
}

type slowListener struct {
	net.Listener
	pause time.Duration
}

// Accept implements net.Listener.
func (l slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		time.Sleep(l.pause)
	}
	return c, err // Unwrapped: http.Server inspects it.
}

// limitedListener accepts every connection, but answers on a limited number at a time. A connection takes a place with its first byte, so that
// port checks take none, and returns it when closed. Without a free place its input is discarded and never answered.
type limitedListener struct {
	net.Listener
	limit   int64
	ignored *atomic.Uint64

	mu     sync.Mutex
	served int64
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err // Unwrapped: http.Server inspects it.
	}
	return &limitedConn{Conn: c, listener: l}, nil
}

func (l *limitedListener) admit() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.served >= l.limit {
		l.ignored.Add(1)
		return false
	}
	l.served++
	return true
}

func (l *limitedListener) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.served--
}

type limitedConn struct {
	net.Conn
	listener *limitedListener

	mu sync.Mutex
	// spoke is true after the first byte; holds while the connection has a place.
	spoke, holds, closed bool
}

// Read implements net.Conn. Without a place it returns when the client is gone.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 || c.placed() {
		return n, err
	}
	for err == nil {
		_, err = c.Conn.Read(p)
	}
	return 0, err
}

// placed reports whether the connection has a place, and requests one the first time.
func (c *limitedConn) placed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.spoke && !c.closed {
		c.spoke, c.holds = true, c.listener.admit()
	}
	return c.holds
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.mu.Lock()
	if c.holds {
		c.holds = false
		c.listener.release()
	}
	c.closed = true
	c.mu.Unlock()
	return c.Conn.Close()
}
