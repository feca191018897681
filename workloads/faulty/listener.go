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

// shorten makes the queue of a listener shorter than the standard library makes it: the kernel takes the number of the last listen(2).
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

// slowListener pauses after each connection.
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
	return c, err // As it is: http.Server looks at it.
}

// limitedListener accepts every connection, but answers on a limited number of them at a time. A connection takes one of those
// places with its first byte, so that one which only looks whether the port is open takes none, and gives it back when it is
// closed. A connection that finds no place then is never answered: its bytes are read and thrown away.
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
		return nil, err // As it is: http.Server looks at it.
	}
	return &limitedConn{Conn: c, listener: l}, nil
}

// admit takes a place if there is one.
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
	// spoke is true from the first byte on; holds is true while the connection has a place.
	spoke, holds, closed bool
}

// Read implements net.Conn. On a connection without a place it returns when the client has gone.
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

// placed says whether the connection has a place, for which it asks the first time.
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
