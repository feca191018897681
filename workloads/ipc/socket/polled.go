package socket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Polled is an end of a pair that uses the net package. Its descriptor is in the runtime's epoll set: the kernel notifies it of each message,
// and a waiting goroutine costs no thread.
type Polled struct {
	conn    *net.UnixConn
	out, in struct {
		lock    sync.Mutex
		control []byte
	}
}

// PolledPair makes two connected ends.
func PolledPair(kind Kind) (a, b *Polled, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, int(kind)|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	a, err = newPolled(fds[0])
	b, err2 := newPolled(fds[1])
	if err = errors.Join(err, err2); err != nil {
		for _, p := range []*Polled{a, b} {
			if p != nil {
				err = errors.Join(err, p.Close())
			}
		}
		return nil, nil, err
	}
	return a, b, nil
}

func newPolled(fd int) (*Polled, error) {
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close() // FileConn makes a copy.
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("making a connection of a descriptor: %w", err)
	}
	p := &Polled{conn: conn.(*net.UnixConn)}
	p.out.control, p.in.control = make([]byte, everything), make([]byte, everything)
	return p, nil
}

// SendMsg is as Socket's.
func (p *Polled) SendMsg(b []byte, m Msg) error {
	if len(b) == 0 {
		return ErrEmpty
	}
	if len(m.Fds) > MaxFds {
		return ErrTooManyFds
	}
	p.out.lock.Lock()
	defer p.out.lock.Unlock()
	control := appendControl(p.out.control[:0], m)
	for {
		n, _, err := p.conn.WriteMsgUnix(b, control, nil)
		if err != nil {
			return fmt.Errorf("sending a message: %w", err)
		}
		if n == len(b) {
			return nil
		}
		b, control = b[n:], nil
	}
}

// RecvMsg is as Socket's.
func (p *Polled) RecvMsg(b []byte) (int, Msg, error) {
	if len(b) == 0 {
		return 0, Msg{}, ErrEmpty
	}
	p.in.lock.Lock()
	defer p.in.lock.Unlock()
	n, size, flags, _, err := p.conn.ReadMsgUnix(b, p.in.control)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return 0, Msg{}, io.EOF
		}
		return 0, Msg{}, fmt.Errorf("receiving a message: %w", err)
	}
	m, err := deliver(p.in.control[:size], flags)
	if err != nil {
		return 0, Msg{}, fmt.Errorf("receiving a message: %w", err)
	}
	if n == 0 && len(m.Fds) == 0 {
		return 0, Msg{}, io.EOF
	}
	return n, m, nil
}

// CloseWrite is as Socket's.
func (p *Polled) CloseWrite() error {
	return p.conn.CloseWrite()
}

// Close is as Socket's.
func (p *Polled) Close() error {
	return p.conn.Close()
}
