package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Handover opens the TCP sockets of a child process, and keeps a duplicate of each. A filter (seccomp) turns the child's socket() into a question
// to this process. Unlike pidfd_getfd, it works with a container's default seccomp profile. It needs Linux 5.14.
type Handover struct {
	start   chan func() error
	started chan error
	// ended is closed after the child's end.
	ended chan struct{}
	// listener receives the questions; child is the process's descriptor.
	listener, child int
	process         int
	opened, spent   atomic.Int64

	mu sync.Mutex
	// held are duplicates by their number in the child, which may have closed it. highest is the highest number so far.
	held    map[int]int
	highest int
	failed  error
}

// NewHandover prepares the start of one child.
func NewHandover() (*Handover, error) {
	h := &Handover{start: make(chan func() error), started: make(chan error), ended: make(chan struct{}), held: map[int]int{}}
	listening := make(chan error)
	go h.filtered(listening)
	return h, <-listening
}

// filtered starts the child, which inherits this thread's filter and dies with this thread. So the thread may not open sockets itself.
func (h *Handover) filtered(listening chan<- error) {
	runtime.LockOSThread() // Without an unlock, the thread ends with this function.
	var err error
	h.listener, err = filterSockets()
	listening <- err
	if err == nil {
		h.started <- (<-h.start)()
		<-h.ended
	}
}

// Start starts the child.
func (h *Handover) Start(cmd *exec.Cmd) error {
	h.start <- cmd.Start
	err := <-h.started
	if err == nil {
		h.process = cmd.Process.Pid
		if h.child, err = unix.PidfdOpen(h.process, 0); err != nil {
			err = errors.Join(fmt.Errorf("opening the process (pidfd_open): %w", err), cmd.Process.Kill(), cmd.Wait())
		}
	}
	if err != nil {
		_ = unix.Close(h.listener) // It holds no data.
		close(h.ended)
		return err
	}
	go h.serve()
	return nil
}

// Wait returns when the child has ended and its connections are closed.
func (h *Handover) Wait() error {
	<-h.ended
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// Spent returns how many sockets were opened so far, and this process's CPU time for it.
func (h *Handover) Spent() (sockets int64, cpu time.Duration) {
	return h.opened.Load(), time.Duration(h.spent.Load())
}

func (h *Handover) serve() {
	runtime.LockOSThread() // The CPU time is that of the thread.
	defer runtime.UnlockOSThread()
	defer h.end()
	before, err := ThreadCPUNanos()
	polled := []unix.PollFd{{Fd: int32(h.listener), Events: unix.POLLIN}, {Fd: int32(h.child), Events: unix.POLLIN}}
	for err == nil {
		if _, err = unix.Poll(polled, -1); errors.Is(err, unix.EINTR) {
			err = nil
			continue
		}
		if err != nil || polled[1].Revents != 0 {
			break
		}
		if err = h.answer(); err == nil {
			var now int64
			now, err = ThreadCPUNanos()
			h.spent.Store(now - before)
		}
	}
	h.mu.Lock()
	h.failed = err
	h.mu.Unlock()
}

// end closes everything. A child that still runs then cannot open sockets (ENOSYS).
func (h *Handover) end() {
	h.mu.Lock()
	for _, own := range h.held {
		_ = unix.Close(own) // A duplicate holds no data.
	}
	h.held = nil
	h.mu.Unlock()
	_, _ = unix.Close(h.listener), unix.Close(h.child) // They hold no data.
	close(h.ended)
}

// These are from linux/seccomp.h.
type (
	notification struct {
		id         uint64
		pid, flags uint32
		call       int32
		arch       uint32
		address    uint64
		args       [6]uint64
	}
	response struct {
		id           uint64
		value        int64
		error, flags int32
	}
	addition struct {
		id                                uint64
		flags, source, number, numberFlag uint32
	}
)

// answer opens a socket. If it cannot, the child tries it itself, and sees the error.
func (h *Handover) answer() error {
	var n notification
	if _, err := h.control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
		return nil // A signal has interrupted the child's call.
	} else if err != nil {
		return fmt.Errorf("receiving a system call of the process: %w", err)
	}
	kind := int(int32(n.args[1]))
	own, err := unix.Socket(int(int32(n.args[0])), kind|unix.SOCK_CLOEXEC, int(int32(n.args[2])))
	if err == nil {
		var number int
		number, err = h.control(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&addition{
			id: n.id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, source: uint32(own), numberFlag: uint32(kind & unix.SOCK_CLOEXEC),
		}))
		if err == nil {
			h.keep(number, own)
			return nil
		}
		_ = unix.Close(own) // It holds no data.
	}
	_, err = h.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}))
	if errors.Is(err, unix.ENOENT) {
		return nil // A signal has interrupted the child's call.
	}
	return err
}

func (h *Handover) control(request uintptr, argument unsafe.Pointer) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h.listener), request, uintptr(argument))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// keep remembers a duplicate. A number that is used again was closed before.
func (h *Handover) keep(number, own int) {
	h.opened.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if old, ok := h.held[number]; ok {
		_ = unix.Close(old) // A duplicate holds no data.
	}
	h.held[number], h.highest = own, max(h.highest, number)
}

func (h *Handover) limits() (descriptors, tries int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.highest + 1, h.highest + 1
}

// duplicate duplicates a socket that the child has not closed.
func (h *Handover) duplicate(number int) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own, ok := h.held[number]
	if !ok {
		return 0, unix.EBADF
	}
	var s unix.Stat_t
	if err := unix.Fstat(own, &s); err != nil {
		return 0, err
	}
	link, err := os.Readlink(Proc("/proc").Path(h.process, "fd/"+strconv.Itoa(number)))
	if err != nil || link != "socket:["+strconv.FormatUint(s.Ino, 10)+"]" {
		delete(h.held, number)
		return 0, errors.Join(unix.EBADF, unix.Close(own))
	}
	return unix.FcntlInt(uintptr(own), unix.F_DUPFD_CLOEXEC, 0)
}

// Offsets in struct seccomp_data on little-endian machines.
const (
	callNumber, callArch, callFamily, callKind = 0, 4, 16, 24
	// socketKind are the bits of a socket's type without its flags.
	socketKind = 0xf
)

func openingTCP(arch uint32) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	return []unix.SockFilter{
		load(callArch), equal(arch, 0, 9),
		load(callNumber), equal(unix.SYS_SOCKET, 0, 7),
		load(callFamily), equal(unix.AF_INET, 1, 0), equal(unix.AF_INET6, 0, 4),
		load(callKind),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: socketKind},
		equal(unix.SOCK_STREAM, 0, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
}

// filterSockets sets the filter for this thread and for the children that it starts, and returns the listener.
func filterSockets() (int, error) {
	arch, known := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !known {
		return 0, errors.New("there is no filter for " + runtime.GOARCH)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("giving up new privileges: %w", err)
	}
	filter := openingTCP(arch)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Without SPEC_ALLOW, older kernels slow the child down against Spectre.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, fmt.Errorf("the kernel refuses a listener (seccomp): %w", errno)
	}
	// No call has this ID. Older kernels do not get that far.
	unknown := addition{flags: unix.SECCOMP_ADDFD_FLAG_SEND, source: uint32(listener)}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_ADDFD, uintptr(unsafe.Pointer(&unknown))); errno != unix.ENOENT {
		return 0, errors.Join(fmt.Errorf("the kernel cannot hand over sockets, which needs Linux 5.14: %w", errno), unix.Close(int(listener)))
	}
	return int(listener), nil
}
