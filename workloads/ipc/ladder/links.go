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
