package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Listener accepts connections to an abstract name: it is in no folder, and disappears with the socket's last descriptor. Any process of the
// same network namespace may connect or take a free name; PassCred identifies senders.
type Listener struct {
	fd     int
	closed atomic.Bool
	lock   sync.Mutex // The holder uses the descriptor, so it cannot be closed meanwhile.
}

// ErrBadName: an abstract socket cannot have this name.
var ErrBadName = errors.New("a name has 1 to 106 bytes")

// listening is the accept queue's length.
const listening = 64

// address returns a name's address. Package unix writes "@" for the byte 0 that starts abstract names.
func address(name string) (*unix.SockaddrUnix, error) {
	if name == "" || len(name) > 106 {
		return nil, ErrBadName
	}
	return &unix.SockaddrUnix{Name: "@" + name}, nil
}

// Listen gives a new socket a name. A used name is an error: unix.EADDRINUSE.
func Listen(kind Kind, name string) (*Listener, error) {
	at, err := address(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, int(kind)|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, at); err != nil {
		return nil, errors.Join(fmt.Errorf("taking the name %q: %w", name, err), unix.Close(fd))
	}
	if err := unix.Listen(fd, listening); err != nil {
		return nil, errors.Join(os.NewSyscallError("listen", err), unix.Close(fd))
	}
	return &Listener{fd: fd}, nil
}

// Accept waits for the next connection. It returns net.ErrClosed after Close.
func (l *Listener) Accept() (*Socket, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for !l.closed.Load() {
		fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC)
		if err == nil {
			return New(fd), nil
		}
		if !errors.Is(err, unix.EINTR) && !l.closed.Load() {
			return nil, os.NewSyscallError("accept", err)
		}
	}
	return nil, net.ErrClosed
}

// Close ends a waiting Accept and frees the name. Accepted connections continue; others end.
func (l *Listener) Close() error {
	if l.closed.Swap(true) {
		return net.ErrClosed
	}
	down := unix.Shutdown(l.fd, unix.SHUT_RDWR)
	l.lock.Lock()
	defer l.lock.Unlock()
	return errors.Join(os.NewSyscallError("shutdown", down), os.NewSyscallError("close", unix.Close(l.fd)))
}

// Dial connects to a name. It waits while the queue is full. If the name is unused it returns unix.ECONNREFUSED.
func Dial(kind Kind, name string) (*Socket, error) {
	at, err := address(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, int(kind)|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	for {
		err := unix.Connect(fd, at)
		if err == nil {
			return New(fd), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("connecting to the name %q: %w", name, err), unix.Close(fd))
		}
	}
}
