package ladder

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell lets a process wait for a change of a number in shared memory, and wake the other one.
type bell interface {
	// wait returns when the number may have changed, or the other side may be gone. After the deadline it returns os.ErrDeadlineExceeded.
	wait(number *atomic.Uint32, was uint32) error
	ring(number *atomic.Uint32) error
	setDeadline(t time.Time) error
	Close() error
}

// glance limits a futex wait before checking for the other side, whose death wakes no waiter.
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
	// It cannot block, so it bypasses the scheduler.
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

// event is an eventfd in the runtime's poller.
type event struct {
	file  *os.File
	count [8]byte
}

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
