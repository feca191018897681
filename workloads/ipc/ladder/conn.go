package ladder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// Largest is the maximum message in bytes.
	Largest = 1 << 16
	// header is the length before a message; 0 marks the end.
	header = 4
)

var (
	// ErrEmpty refuses an empty message, which would mean the end.
	ErrEmpty = errors.New("a message needs at least one byte")
	// ErrTooLong: a message exceeds its buffer. After receiving one, the connection is unusable.
	ErrTooLong = errors.New("a message of more than 64 KiB")
	// ErrTorn: a message was received or sent incompletely.
	ErrTorn = errors.New("a part of a message")
)

// link moves bytes or packets to another process. With packets each Write is one Read of the other side, which loses what does not fit.
//
// Read returns io.EOF after the other side's last data. One goroutine may read, another write, and a third close, which ends both.
type link interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

type buffer [header + Largest]byte

// Conn exchanges messages over a link. One goroutine may send while another receives.
type Conn struct {
	link    link
	packets bool

	out    *buffer
	in     *buffer
	begin  int // of in: received, not yet delivered
	end    int
	broken error // why nothing more can be received
	torn   error // why nothing more can be sent
}

func newConn(l link, packets bool) *Conn {
	return &Conn{link: l, packets: packets, out: new(buffer), in: new(buffer)}
}

// Send sends a whole message. It blocks while there is no room.
func (c *Conn) Send(message []byte) error {
	switch {
	case len(message) == 0:
		return ErrEmpty
	case len(message) > Largest:
		return ErrTooLong
	}
	return c.send(message)
}

// End ends a conversation. Another may follow.
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

// Receive returns a message, valid until the next call. It returns io.EOF at the end of a conversation, and io.ErrUnexpectedEOF if the other
// side is gone without an end.
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
		if err := c.fill(); err != nil {
			return nil, fmt.Errorf("receiving a message: %w", err)
		}
	}
}

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

// part returns the error of a partial message: none for bytes, ErrTorn for packets.
func (c *Conn) part() error {
	if c.packets {
		return ErrTorn
	}
	return nil
}

// fill receives more. It moves held data to the start of the buffer, so that a whole message fits.
func (c *Conn) fill() error {
	c.end = copy(c.in[:], c.in[c.begin:c.end])
	c.begin = 0
	n, err := c.link.Read(c.in[c.end:])
	c.end += n
	switch {
	case n > 0:
		return nil // Later errors will recur.
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// SetDeadline sets when waiting calls end with os.ErrDeadlineExceeded.
func (c *Conn) SetDeadline(t time.Time) error { return c.link.SetDeadline(t) }

// Close ends the connection and waiting calls. The other side still receives what was sent.
func (c *Conn) Close() error { return c.link.Close() }
