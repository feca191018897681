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
	_      [64]byte // Whoever sends and whoever receives do not fight for a cache line.
	in     half
}

// half is what one direction needs for its system calls. All of it belongs to whoever holds the lock; so does the descriptor, which
// therefore cannot be closed, and its number given to another file, in the middle of a call.
type half struct {
	lock    sync.Mutex
	header  unix.Msghdr
	vector  unix.Iovec
	control []byte
	skip    int // calls that will go to the kernel to wait without having been tried
	guess   int // how many that were the last time
}

// maxGuess bounds the calls that are not tried first.
const maxGuess = 63

// Pair makes two connected sockets.
func Pair(kind Kind) (a, b *Socket, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, int(kind)|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	return New(fds[0]), New(fds[1]), nil
}

// New takes over an open descriptor of a connected Unix socket in blocking mode, for instance one that was inherited.
func New(fd int) *Socket {
	s := &Socket{fd: fd, alone: runtime.GOMAXPROCS(0) == 1}
	for _, h := range []*half{&s.out, &s.in} {
		h.control = make([]byte, everything)
		h.header.Iov, h.header.Iovlen = &h.vector, 1
		h.header.Control = &h.control[0]
	}
	return s
}

// PassCred makes every message that is received from now on carry its sender's credentials.
func (s *Socket) PassCred() error {
	s.in.lock.Lock()
	defer s.in.lock.Unlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1))
}

// Detach gives the descriptor away, to be inherited by another process. The connection goes on, without this Socket. It waits for calls
// that are under way.
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

// SendMsg sends all of b, and m beside its first byte. It waits while the receiver's queue is full.
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
		b, size = b[n:], 0 // A stream may take a part. What travels beside it has gone with the first.
	}
}

// RecvMsg receives a message into b, or on a stream as many bytes as there are. At the end, when the other side has closed its
// sending direction, it returns io.EOF.
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

// call makes one system call for a message, and waits if it must.
//
// Most calls need not wait. They are made without telling Go's scheduler, as those may be that cannot block. (The kernel may hold one up
// for a moment all the same, for a page that was swapped out or a lock of the other side's; other goroutines then have one CPU less.)
// What follows on one that would have to wait depends on how many goroutines can run at once.
//
// If it is several, the call waits in the kernel, which the scheduler is told. Where one call waits the next will too: up to
// maxGuess calls then go to the kernel to wait without having been tried.
//
// If it is one, a goroutine that waits in the kernel keeps the others from running until the scheduler notices, which takes it up
// to 10 ms. So others run first: those of this process, and then, since the kernel may have to run a thread before its goroutine can,
// other threads.
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

// CloseWrite says that nothing more will be sent: the other side receives io.EOF after what is on its way.
func (s *Socket) CloseWrite() error {
	s.out.lock.Lock()
	defer s.out.lock.Unlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	return os.NewSyscallError("shutdown", unix.Shutdown(s.fd, unix.SHUT_WR))
}

// Close ends all calls that wait, and then gives the descriptor back. It shuts the connection down for copies of it, too.
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

// Kind is how a socket pair treats its messages.
type Kind int

const (
	// SeqPacket keeps messages apart: one is received as it was sent, or not at all.
	SeqPacket Kind = unix.SOCK_SEQPACKET
	// Stream keeps only the order of bytes.
	Stream Kind = unix.SOCK_STREAM
)

var (
	// ErrEmpty refuses a message of no bytes: its receiver could not tell it from the end.
	ErrEmpty = errors.New("a message needs at least one byte")
	// ErrTooManyFds refuses what the kernel would refuse.
	ErrTooManyFds = errors.New("more than 253 descriptors in a message")
	// ErrTruncated says that a message was longer than the buffer. The rest of it is lost, and its descriptors are closed.
	ErrTruncated = errors.New("the message does not fit in the buffer")
	// ErrControlTruncated says that not all descriptors or credentials arrived, for want of room or of free descriptors. Those
	// that did are closed.
	ErrControlTruncated = errors.New("the message lost descriptors or credentials on its way")
	// ErrControl says that what came beside a message makes no sense, or that nobody asked for it.
	ErrControl = errors.New("the message's control data is malformed")
)

// MaxFds is how many descriptors the kernel takes in a message.
const MaxFds = 253

// Msg is what travels beside the bytes of a message. The zero value is nothing, which is usual and costs nothing.
type Msg struct {
	// Fds are open descriptors. Sent ones stay open, and the sender's; received ones are the receiver's to close.
	Fds []int
	// Cred says who sends, if HasCred. The kernel refuses a false one, and delivers one only after PassCred.
	Cred    unix.Ucred
	HasCred bool
}

// Self is the credentials of this process.
func Self() unix.Ucred {
	return unix.Ucred{Pid: int32(os.Getpid()), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}
}

// drop closes what came with a message that cannot be delivered.
func (m *Msg) drop() {
	for _, fd := range m.Fds {
		_ = unix.Close(fd)
	}
	*m = Msg{}
}
