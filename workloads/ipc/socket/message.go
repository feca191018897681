package socket

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

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
