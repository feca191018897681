package ladder

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// connection wraps a connected socket's descriptor, through the runtime's poller like net's connections. It takes ownership.
func connection(fd int) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close() // FileConn makes a copy.
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("making a connection of a descriptor: %w", err)
	}
	return conn, nil
}

// pollable wraps a descriptor for the runtime's poller, and takes ownership.
func pollable(fd int) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), "descriptor"), nil
}

type pipes struct{ in, out *os.File }

func newPipes(in, out int) (link, error) {
	a, err := pollable(in)
	b, err2 := pollable(out)
	return pipes{a, b}, errors.Join(err, err2)
}

func (p pipes) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

func (p pipes) SetDeadline(t time.Time) error {
	return errors.Join(p.in.SetDeadline(t), p.out.SetDeadline(t))
}

// datagrams is a link over a datagram socket, which does not tell its reader when the other side goes.
type datagrams struct {
	*net.UnixConn
	life *lifeline
}

func newDatagrams(fd, lifelineFD int) (link, error) {
	conn, err := connection(fd)
	if err != nil {
		return nil, err
	}
	life, err := watch(lifelineFD, func() { _ = conn.SetReadDeadline(past) }) // A closed one has no waiting reader.
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return datagrams{conn.(*net.UnixConn), life}, nil
}

func (d datagrams) Read(p []byte) (int, error) {
	n, err := d.UnixConn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && d.life.gone.Load() {
		return d.left(p)
	}
	return n, err
}

// left reads what was sent before the other side went; the expired deadline stops Read from it.
func (d datagrams) left(p []byte) (n int, err error) {
	raw, err := d.SyscallConn()
	if err != nil {
		return 0, err
	}
	look := raw.Control(func(fd uintptr) { n, _, err = unix.Recvfrom(int(fd), p, unix.MSG_DONTWAIT) })
	if errors.Is(err, unix.EAGAIN) {
		return 0, io.EOF
	}
	return n, errors.Join(look, err)
}

// SetDeadline only matters while the other side is there.
func (d datagrams) SetDeadline(t time.Time) error {
	err := d.UnixConn.SetDeadline(t)
	if d.life.gone.Load() {
		err = errors.Join(err, d.SetReadDeadline(past))
	}
	return err
}

func (d datagrams) Close() error { return errors.Join(d.UnixConn.Close(), d.life.Close()) }

// polled is a link for programs that wait for many with poll: Read returns unix.EAGAIN instead of waiting. Write waits.
type polled struct {
	fd       int
	deadline time.Time
}

func newPolled(fd int) (*polled, error) {
	return &polled{fd: fd}, os.NewSyscallError("fcntl", unix.SetNonblock(fd, true))
}

func (p *polled) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(p.fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (p *polled) Write(b []byte) (int, error) {
	for sent := 0; ; {
		n, err := unix.Write(p.fd, b[sent:])
		sent += max(n, 0)
		switch {
		case errors.Is(err, unix.EAGAIN):
			err = poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLOUT}}, p.deadline)
		case errors.Is(err, unix.EINTR):
			err = nil
		}
		if err != nil || sent == len(b) {
			return sent, err
		}
	}
}

func (p *polled) SetDeadline(t time.Time) error {
	p.deadline = t
	return nil
}

func (p *polled) Close() error { return os.NewSyscallError("close", unix.Close(p.fd)) }

func poll(fds []unix.PollFd, deadline time.Time) error {
	for {
		limit := -1
		if !deadline.IsZero() {
			left := time.Until(deadline)
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			limit = int(left/time.Millisecond) + 1
		}
		n, err := unix.Poll(fds, limit)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n > 0:
			return nil
		}
	}
}
