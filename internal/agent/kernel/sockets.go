package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/record"
)

// From linux/inet_diag.h, linux/sock_diag.h and net/tcp_states.h.
const (
	// diagRequestBytes is the size of inet_diag_req_v2; diagMessageBytes that of inet_diag_msg, followed by attributes.
	diagRequestBytes = 56
	diagMessageBytes = 72
	// diagPort is the local port's offset in a request.
	diagPort = 8
	// diagInfo is INET_DIAG_INFO, the attribute with a tcp_info.
	diagInfo = 2
	// stateEstablished is TCP_ESTABLISHED, which includes connections waiting to be accepted.
	stateEstablished = 1
	// diagLimit bounds the wait for a part of the answer, in seconds. The kernel answers at once.
	diagLimit  = 1
	diagBuffer = 32 << 10
)

// Offsets in a tcp_info. Kernels before 4.19 have a shorter one, without bytesSent.
const (
	acked    = unsafe.Offsetof(unix.TCPInfo{}.Bytes_acked)
	received = unsafe.Offsetof(unix.TCPInfo{}.Bytes_received)
	sent     = unsafe.Offsetof(unix.TCPInfo{}.Bytes_sent)
	// sinceSent and sinceReceived are milliseconds.
	sinceSent     = unsafe.Offsetof(unix.TCPInfo{}.Last_data_sent)
	sinceReceived = unsafe.Offsetof(unix.TCPInfo{}.Last_data_recv)
	infoEnd       = sent + unsafe.Sizeof(unix.TCPInfo{}.Bytes_sent)
)

// ErrOldKernel: the kernel reports too little about a connection.
var ErrOldKernel = errors.New("the kernel does not count the bytes that a connection sent: it is older than 4.19")

// ReadSockets asks the kernel for established connections to a port in this network namespace. A connection that waits for an answer longer
// than patience counts as hung. It needs no privileges.
//
// The answer is parsed in place: 10,000 connections take 4 MB, and only five numbers of each are needed.
func ReadSockets(port int, patience time.Duration) (*record.Sockets, error) {
	sum := connections{patience: patience}
	if err := askKernel(sum.connection, diagRequest(syscall.AF_INET, port), diagRequest(syscall.AF_INET6, port)); err != nil {
		return nil, err
	}
	return sum.sockets(), nil
}

func askKernel(take func(message []byte) error, requests ...[]byte) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return fmt.Errorf("asking the kernel for connections: %w", err)
	}
	defer func() { _ = syscall.Close(fd) }() // Nothing is written.
	limit := syscall.Timeval{Sec: diagLimit}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return fmt.Errorf("asking the kernel for connections: %w", err)
	}
	buffer := make([]byte, diagBuffer)
	for _, r := range requests {
		if err := syscall.Sendto(fd, r, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
			return fmt.Errorf("asking the kernel for connections: %w", err)
		}
		if err := receive(fd, buffer, take); err != nil {
			return fmt.Errorf("reading the kernel's connections: %w", err)
		}
	}
	return nil
}

// diagRequest asks for established connections of a family and local port, each with a tcp_info.
func diagRequest(family byte, port int) []byte {
	r, body := newRequest(diagRequestBytes)
	body[0], body[1], body[2] = family, syscall.IPPROTO_TCP, 1<<(diagInfo-1)
	binary.NativeEndian.PutUint32(body[4:], 1<<stateEstablished)
	binary.BigEndian.PutUint16(body[diagPort:], uint16(port))
	return r
}

func newRequest(bytes int) (request, body []byte) {
	r := make([]byte, syscall.NLMSG_HDRLEN+bytes)
	binary.NativeEndian.PutUint32(r[0:], uint32(len(r)))
	binary.NativeEndian.PutUint16(r[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(r[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	return r, r[syscall.NLMSG_HDRLEN:]
}

func receive(fd int, buffer []byte, take func(message []byte) error) error {
	for {
		n, _, err := syscall.Recvfrom(fd, buffer, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if done, err := messages(buffer[:n], take); done || err != nil {
			return err
		}
	}
}

type connections struct {
	// patience is how long an answer may be missing before its connection counts as hung.
	patience                 time.Duration
	number, unanswered, hung int64
	// bytes and squares are sums of the bytes received per connection, and of their squares.
	bytes, squares float64
}

// messages passes the sockets of one part of an answer to take. done means that no part follows.
func messages(part []byte, take func(message []byte) error) (done bool, err error) {
	for len(part) >= syscall.NLMSG_HDRLEN {
		size := int(binary.NativeEndian.Uint32(part))
		if size < syscall.NLMSG_HDRLEN || size > len(part) {
			return true, fmt.Errorf("a message of %d bytes lies in %d: %w", size, len(part), syscall.EBADMSG)
		}
		body := part[syscall.NLMSG_HDRLEN:size]
		switch binary.NativeEndian.Uint16(part[4:]) {
		case syscall.NLMSG_DONE:
			return true, nil
		case syscall.NLMSG_ERROR:
			if len(body) < 4 {
				return true, syscall.EBADMSG
			}
			return true, syscall.Errno(-int32(binary.NativeEndian.Uint32(body)))
		case unix.SOCK_DIAG_BY_FAMILY:
			if err := take(body); err != nil {
				return true, err
			}
		}
		part = part[min(align(size), len(part)):]
	}
	return false, nil
}

func (c *connections) connection(message []byte) error {
	if len(message) < diagMessageBytes {
		return syscall.EBADMSG
	}
	info := attribute(message[diagMessageBytes:], diagInfo)
	if len(info) < int(infoEnd) {
		return ErrOldKernel
	}
	c.number++
	if binary.NativeEndian.Uint64(info[received:]) > 0 && binary.NativeEndian.Uint64(info[sent:]) == 0 {
		c.unanswered++
	}
	if c.hangs(info) {
		c.hung++
	}
	bytes := float64(binary.NativeEndian.Uint64(info[acked:]))
	c.bytes += bytes
	c.squares += bytes * bytes
	return nil
}

// hangs reports whether a connection was answered before and now waits too long. If the last answer was sent after the last request came, the
// server owes nothing. Both times are in milliseconds from a clock of 1 to 10 ms, so such a client is recognized only if its last answer took
// longer than that.
func (c *connections) hangs(info []byte) bool {
	answered := time.Duration(binary.NativeEndian.Uint32(info[sinceSent:])) * time.Millisecond
	asked := time.Duration(binary.NativeEndian.Uint32(info[sinceReceived:])) * time.Millisecond
	return binary.NativeEndian.Uint64(info[sent:]) > 0 && answered > c.patience && asked <= answered
}

func attribute(list []byte, kind uint16) []byte {
	const header = 4
	for len(list) >= header {
		size := int(binary.NativeEndian.Uint16(list))
		if size < header || size > len(list) {
			return nil
		}
		if binary.NativeEndian.Uint16(list[2:]) == kind {
			return list[header:size]
		}
		list = list[min(align(size), len(list)):]
	}
	return nil
}

// align rounds a size up: messages and attributes begin at multiples of 4.
func align(size int) int { return (size + 3) &^ 3 }

func (c connections) sockets() *record.Sockets {
	s := &record.Sockets{Established: c.number, Unanswered: c.unanswered, Hung: &c.hung}
	if c.squares > 0 {
		s.Jain = c.bytes * c.bytes / (float64(c.number) * c.squares)
	}
	return s
}
