package ladder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Largest is the bytes of the longest message.
	Largest = 1 << 16
	// header is the length of a message, before its bytes. That of the end is 0.
	header = 4
)

var (
	// ErrEmpty refuses a message of no bytes, which is how the end is said.
	ErrEmpty = errors.New("a message needs at least one byte")
	// ErrTooLong says that a message does not fit in the buffer that is there for it. After one that was received nothing else can be.
	ErrTooLong = errors.New("a message of more than 64 KiB")
	// ErrTorn says that a message did not come or go as a whole.
	ErrTorn = errors.New("a part of a message")
)

// link moves bytes to another process, or packets: then each Write is one Read of the other side, which loses what does not fit.
//
// Read gives io.EOF when the other side is gone and all that it sent has been read. One goroutine may read while another writes, and a
// third one closes, which ends both.
type link interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// buffer has room for the longest message.
type buffer [header + Largest]byte

// buffers are those that no connection needs at the moment.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

// Conn exchanges messages over a link. One goroutine may send while another receives.
type Conn struct {
	link    link
	packets bool

	out    *buffer
	in     *buffer // nil while nothing of a message is held, and none is waited for
	begin  int     // of in, what was received and not yet delivered
	end    int
	broken error // why nothing more can be received
	torn   error // why nothing more can be sent
}

func newConn(l link, packets bool) *Conn {
	return &Conn{link: l, packets: packets, out: buffers.Get().(*buffer)}
}

// Send sends all of a message. It waits while there is no room.
func (c *Conn) Send(message []byte) error {
	switch {
	case len(message) == 0:
		return ErrEmpty
	case len(message) > Largest:
		return ErrTooLong
	}
	return c.send(message)
}

// End says that a conversation is over. Another may follow.
func (c *Conn) End() error { return c.send(nil) }

func (c *Conn) send(message []byte) error {
	binary.LittleEndian.PutUint32(c.out[:], uint32(len(message)))
	copy(c.out[header:], message)
	if c.torn != nil {
		return c.torn
	}
	n, err := c.link.Write(c.out[:header+len(message)])
	if err == nil {
		return nil
	}
	if n > 0 {
		c.torn = fmt.Errorf("sending a message after %w", ErrTorn)
	}
	return fmt.Errorf("sending a message: %w", err)
}

// Receive receives a message, which holds until the next call. The end of the conversation is io.EOF. If the other side goes without
// having said it, that is io.ErrUnexpectedEOF.
func (c *Conn) Receive() ([]byte, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	for {
		message, err := c.next()
		switch {
		case err != nil:
			c.broken = fmt.Errorf("receiving a message: %w", err)
			return nil, c.broken
		case message != nil && len(message) == 0:
			return nil, io.EOF
		case message != nil:
			return message, nil
		}
		if err := c.fill(); errors.Is(err, unix.EAGAIN) {
			return nil, err // It is no failure, and comes often: it allocates nothing.
		} else if err != nil {
			return nil, fmt.Errorf("receiving a message: %w", err)
		}
	}
}

// next takes a message out of what was received; nil if it is not yet whole.
func (c *Conn) next() ([]byte, error) {
	held := c.end - c.begin
	if held == 0 {
		return nil, nil
	}
	if held < header {
		return nil, c.part()
	}
	size := int(binary.LittleEndian.Uint32(c.in[c.begin:]))
	switch {
	case size > Largest:
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, size)
	case held < header+size, c.packets && held > header+size:
		return nil, c.part()
	}
	first := c.begin + header
	c.begin = first + size
	return c.in[first:c.begin:c.begin], nil
}

// part is what a part of a message is: usual in bytes, and wrong in packets.
func (c *Conn) part() error {
	if c.packets {
		return ErrTorn
	}
	return nil
}

// fill receives more. What is held moves to the beginning of the buffer, so that there is room for the whole message.
func (c *Conn) fill() error {
	if c.in == nil {
		c.in = buffers.Get().(*buffer)
	}
	c.end = copy(c.in[:], c.in[c.begin:c.end])
	c.begin = 0
	n, err := c.link.Read(c.in[c.end:])
	c.end += n
	switch {
	case n > 0:
		return nil // What went wrong after it goes wrong again.
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case errors.Is(err, unix.EAGAIN) && c.end == 0:
		c.release()
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// release gives the buffer away that messages are received into, until there is one.
func (c *Conn) release() {
	if c.in != nil {
		buffers.Put(c.in)
		c.in, c.begin, c.end = nil, 0, 0
	}
}

// SetDeadline sets when calls that wait end with os.ErrDeadlineExceeded.
func (c *Conn) SetDeadline(t time.Time) error { return c.link.SetDeadline(t) }

// Close ends the connection, and calls that wait. The other side receives what was sent before.
func (c *Conn) Close() error { return c.link.Close() }
