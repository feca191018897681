package ladder

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell is how a process waits for a number in shared memory to change, and how the other one tells it that it has.
type bell interface {
	// wait returns when the number may have changed, or the other side may be gone. After the deadline it is
	// os.ErrDeadlineExceeded.
	wait(number *atomic.Uint32, was uint32) error
	ring(number *atomic.Uint32) error
	setDeadline(t time.Time) error
	Close() error
}

// glance is how long a futex is waited for before one looks whether the other side is there: its death wakes nobody.
const glance = 20 * time.Millisecond

const (
	futexWait = 0 // FUTEX_WAIT of linux/futex.h, between processes
	futexWake = 1
)

// futex is the number itself.
type futex struct {
	deadline atomic.Int64 // in nanoseconds since 1970; 0 for none
}

func (f *futex) wait(number *atomic.Uint32, was uint32) error {
	limit := glance
	if deadline := f.deadline.Load(); deadline != 0 {
		if limit = min(limit, time.Until(time.Unix(0, deadline))); limit <= 0 {
			return os.ErrDeadlineExceeded
		}
	}
	span := unix.NsecToTimespec(int64(limit))
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(number)), futexWait, uintptr(was), uintptr(unsafe.Pointer(&span)), 0, 0)
	if errno == 0 || errno == unix.EAGAIN || errno == unix.EINTR || errno == unix.ETIMEDOUT {
		return nil
	}
	return os.NewSyscallError("futex", errno)
}

func (f *futex) ring(number *atomic.Uint32) error {
	// It cannot block, so that the scheduler need not know.
	if _, _, errno := unix.RawSyscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(number)), futexWake, 1); errno != 0 {
		return os.NewSyscallError("futex", errno)
	}
	return nil
}

func (f *futex) setDeadline(t time.Time) error {
	if t.IsZero() {
		f.deadline.Store(0)
		return nil
	}
	f.deadline.Store(t.UnixNano())
	return nil
}

// Close does nothing: a wait ends by itself.
func (f *futex) Close() error { return nil }

// event is an eventfd, which the runtime's poller waits for.
type event struct {
	file  *os.File
	count [8]byte
}

// one is what rings.
var one = []byte{1, 0, 0, 0, 0, 0, 0, 0}

func (e *event) wait(*atomic.Uint32, uint32) error {
	_, err := e.file.Read(e.count[:])
	return err
}

func (e *event) ring(*atomic.Uint32) error {
	_, err := e.file.Write(one)
	return err
}

func (e *event) setDeadline(t time.Time) error { return e.file.SetReadDeadline(t) }

func (e *event) Close() error { return e.file.Close() }
