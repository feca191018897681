package socket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Socket is an end of a pair that makes its system calls itself.
type Socket struct {
	fd     int
	alone  bool // Only one goroutine can run at a time.
	closed atomic.Bool
	out    half
	_      [64]byte // Avoids false sharing between sender and receiver.
	in     half
}

// half is the state of one direction. The lock's holder owns it, and the descriptor: it cannot be closed and its number reused during a call.
type half struct {
	lock    sync.Mutex
	header  unix.Msghdr
	vector  unix.Iovec
	control []byte
	skip    int // calls to make blocking without a try
	guess   int // their number the last time
}

// maxGuess bounds the calls without a try.
const maxGuess = 63

// Pair makes two connected sockets.
func Pair(kind Kind) (a, b *Socket, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, int(kind)|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	return New(fds[0]), New(fds[1]), nil
}

// New takes over a connected Unix socket's blocking descriptor, for example an inherited one.
func New(fd int) *Socket {
	s := &Socket{fd: fd, alone: runtime.GOMAXPROCS(0) == 1}
	for _, h := range []*half{&s.out, &s.in} {
		h.control = make([]byte, everything)
		h.header.Iov, h.header.Iovlen = &h.vector, 1
		h.header.Control = &h.control[0]
	}
	return s
}

// PassCred makes every later received message carry its sender's credentials.
func (s *Socket) PassCred() error {
	s.in.lock.Lock()
	defer s.in.lock.Unlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1))
}

// Detach gives up the descriptor for another process to inherit. The connection continues. It waits for calls in progress.
func (s *Socket) Detach() (*os.File, error) {
	s.out.lock.Lock()
	defer s.out.lock.Unlock()
	s.in.lock.Lock()
	defer s.in.lock.Unlock()
	if s.closed.Swap(true) {
		return nil, net.ErrClosed
	}
	return os.NewFile(uintptr(s.fd), "socket"), nil
}

// SendMsg sends all of b, with m at its first byte. It blocks while the receiver's queue is full.
func (s *Socket) SendMsg(b []byte, m Msg) error {
	if len(b) == 0 {
		return ErrEmpty
	}
	if len(m.Fds) > MaxFds {
		return ErrTooManyFds
	}
	h := &s.out
	h.lock.Lock()
	defer h.lock.Unlock()
	size := 0
	if len(m.Fds) > 0 || m.HasCred {
		size = len(appendControl(h.control[:0], m))
	}
	for {
		h.header.SetControllen(size)
		n, err := s.call(unix.SYS_SENDMSG, h, b, unix.MSG_NOSIGNAL)
		if err != nil {
			return fmt.Errorf("sending a message: %w", err)
		}
		if n == len(b) {
			return nil
		}
		b, size = b[n:], 0 // A stream may take a part; m went with the first.
	}
}

// RecvMsg receives a message or, on a stream, available bytes into b. It returns io.EOF after the other side has ended sending.
func (s *Socket) RecvMsg(b []byte) (int, Msg, error) {
	if len(b) == 0 {
		return 0, Msg{}, ErrEmpty
	}
	h := &s.in
	h.lock.Lock()
	defer h.lock.Unlock()
	h.header.SetControllen(len(h.control))
	n, err := s.call(unix.SYS_RECVMSG, h, b, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, Msg{}, fmt.Errorf("receiving a message: %w", err)
	}
	size, flags := int(h.header.Controllen), int(h.header.Flags)
	var m Msg
	if size > 0 || flags&(unix.MSG_CTRUNC|unix.MSG_TRUNC) != 0 {
		if m, err = deliver(h.control[:size], flags); err != nil {
			return 0, Msg{}, fmt.Errorf("receiving a message: %w", err)
		}
	}
	if n == 0 && len(m.Fds) == 0 {
		if s.closed.Load() {
			return 0, Msg{}, net.ErrClosed // Close has shut the connection down to end this call.
		}
		return 0, Msg{}, io.EOF
	}
	return n, m, nil
}

// call makes one system call for a message, and waits if necessary.
//
// Most calls need not wait, so it first makes a nonblocking one without telling Go's scheduler. (The kernel may still delay it briefly, for
// swapped pages or locks; other goroutines then have one CPU less.) If it would have to wait, the next step depends on how many goroutines can
// run in parallel.
//
// Several: the call waits in the kernel, known to the scheduler. Where one call waits the next will too: up to maxGuess calls then wait
// without a try.
//
// One: a goroutine waiting in the kernel blocks the others until the scheduler notices, up to 10 ms. So it yields first to this process's
// goroutines, then to other threads, since the kernel may have to run a thread before its goroutine can continue.
func (s *Socket) call(trap uintptr, h *half, b []byte, flags uintptr) (int, error) {
	if s.closed.Load() {
		return 0, net.ErrClosed
	}
	h.vector.Base = &b[0]
	h.vector.SetLen(len(b))
	defer func() { h.vector.Base = nil }()
	header, tries := unsafe.Pointer(&h.header), 1
	if s.alone {
		tries = 3
	} else if h.skip > 0 {
		h.skip--
		tries = 0
	}
	for attempt := 0; ; attempt++ {
		var n uintptr
		var errno unix.Errno
		if attempt < tries {
			n, _, errno = unix.RawSyscall(trap, uintptr(s.fd), uintptr(header), flags|unix.MSG_DONTWAIT)
		} else {
			n, _, errno = unix.Syscall(trap, uintptr(s.fd), uintptr(header), flags)
		}
		switch {
		case errno == 0:
			if attempt == 0 && tries > 0 {
				h.guess = 0
			}
			return int(n), nil
		case errno == unix.EAGAIN && !s.alone:
			h.guess = min(2*h.guess+1, maxGuess)
			h.skip = h.guess
		case errno == unix.EAGAIN:
			if attempt > 0 {
				_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			}
			runtime.Gosched()
		case errno == unix.EINTR:
		case s.closed.Load():
			return 0, net.ErrClosed
		default:
			return 0, errno
		}
	}
}

// CloseWrite ends sending: the other side receives io.EOF after data in flight.
func (s *Socket) CloseWrite() error {
	s.out.lock.Lock()
	defer s.out.lock.Unlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	return os.NewSyscallError("shutdown", unix.Shutdown(s.fd, unix.SHUT_WR))
}

// Close ends waiting calls, then closes the descriptor. It shuts the connection down for its copies, too.
func (s *Socket) Close() error {
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	down := unix.Shutdown(s.fd, unix.SHUT_RDWR)
	s.out.lock.Lock()
	defer s.out.lock.Unlock()
	s.in.lock.Lock()
	defer s.in.lock.Unlock()
	return errors.Join(os.NewSyscallError("shutdown", down), os.NewSyscallError("close", unix.Close(s.fd)))
}

// Kind is a socket pair's type.
type Kind int

const (
	// SeqPacket keeps message boundaries: a message arrives whole or not at all.
	SeqPacket Kind = unix.SOCK_SEQPACKET
	// Stream keeps only the order of bytes.
	Stream Kind = unix.SOCK_STREAM
)

var (
	// ErrEmpty refuses an empty message, which would look like the end.
	ErrEmpty = errors.New("a message needs at least one byte")
	// ErrTooManyFds refuses what the kernel would refuse.
	ErrTooManyFds = errors.New("more than 253 descriptors in a message")
	// ErrTruncated: a message exceeded the buffer. Its rest is lost, and its descriptors are closed.
	ErrTruncated = errors.New("the message does not fit in the buffer")
	// ErrControlTruncated: descriptors or credentials were lost for lack of room or free descriptors. Received ones are closed.
	ErrControlTruncated = errors.New("the message lost descriptors or credentials on its way")
	// ErrControl: control data is malformed or unexpected.
	ErrControl = errors.New("the message's control data is malformed")
)

// MaxFds is the kernel's maximum of descriptors per message.
const MaxFds = 253

// Msg is a message's ancillary data. Zero is none, which is usual and free.
type Msg struct {
	// Fds are open descriptors. The sender keeps its own open; the receiver must close received ones.
	Fds []int
	// Cred is the sender, if HasCred. The kernel refuses false ones, and delivers them only after PassCred.
	Cred    unix.Ucred
	HasCred bool
}

// Self returns this process's credentials.
func Self() unix.Ucred {
	return unix.Ucred{Pid: int32(os.Getpid()), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}
}

func (m *Msg) drop() {
	for _, fd := range m.Fds {
		_ = unix.Close(fd)
	}
	*m = Msg{}
}
