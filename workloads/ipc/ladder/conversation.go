package ladder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Smallest is the bytes of the shortest message: its number.
const Smallest = 8

// look is the number of operations between two clock reads.
const look = 64

type hello struct {
	answers bool // Each message is answered; otherwise only received.
	size    int  // bytes of each message and answer
	limit   time.Duration
}

const helloSize = 17

func (h hello) bytes() []byte {
	answers := byte(0)
	if h.answers {
		answers = 1
	}
	b := binary.LittleEndian.AppendUint64([]byte{answers}, uint64(h.size))
	return binary.LittleEndian.AppendUint64(b, uint64(h.limit))
}

func readHello(b []byte) (hello, error) {
	if len(b) != helloSize {
		return hello{}, fmt.Errorf("a conversation begins with %d bytes, want %d", len(b), helloSize)
	}
	h := hello{answers: b[0] == 1, size: int(binary.LittleEndian.Uint64(b[1:])), limit: time.Duration(binary.LittleEndian.Uint64(b[9:]))}
	if h.size < Smallest || h.size > Largest {
		return hello{}, fmt.Errorf("messages of %d bytes are asked for, want %d to %d", h.size, Smallest, Largest)
	}
	return h, nil
}

// status is a process's work: the first two fields since the conversation began, the others since its start.
type status struct {
	Messages, Bytes                    uint64
	CPUNanoseconds, Allocated, Mallocs uint64
}

var statusSize = binary.Size(status{})

func statusNow() (status, error) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var cpu unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &cpu); err != nil {
		return status{}, fmt.Errorf("reading the CPU clock: %w", err)
	}
	return status{CPUNanoseconds: uint64(cpu.Nano()), Allocated: memory.TotalAlloc, Mallocs: memory.Mallocs}, nil
}

func readStatus(b []byte) (s status, err error) {
	if len(b) != statusSize {
		return s, fmt.Errorf("a status has %d bytes, want %d", len(b), statusSize)
	}
	_, err = binary.Decode(b, binary.LittleEndian, &s)
	return s, err
}

type script struct{ message []byte }

func newScript(size int, seed byte) script {
	m := make([]byte, size)
	for i := range m {
		m[i] = byte(i*7) + byte(i>>8) + seed
	}
	return script{m}
}

func (s script) number(n uint64) []byte {
	binary.LittleEndian.PutUint64(s.message, n)
	return s.message
}

func (s script) check(got []byte, n uint64) error {
	if want := s.number(n); !bytes.Equal(got, want) {
		return fmt.Errorf("message %d is not what was sent: %d bytes, want %d, %.16x", n, len(got), len(want), got)
	}
	return nil
}

const askSeed, answerSeed = 1, 101

type client struct {
	conn            *Conn
	hello           hello
	asked, answered script
}

func newClient(c *Conn, h hello) client {
	return client{c, h, newScript(h.size, askSeed), newScript(h.size, answerSeed)}
}

// ask leads a conversation until the deadline, and verifies that the other side received everything.
func (a client) ask(deadline time.Time) (done uint64, there status, err error) {
	c, h := a.conn, a.hello
	for ; done == 0 || done%look != 0 || time.Now().Before(deadline); done++ {
		if err := c.Send(a.asked.number(done)); err != nil {
			return done, there, err
		}
		if !h.answers {
			continue
		}
		answer, err := c.Receive()
		if err != nil {
			return done, there, err
		}
		if err := a.answered.check(answer, done); err != nil {
			return done, there, err
		}
	}
	if err := c.End(); err != nil {
		return done, there, err
	}
	if there, err = c.status(); err != nil {
		return done, there, err
	}
	if want := done * uint64(h.size); there.Messages != done || there.Bytes != want {
		err = fmt.Errorf("%d messages of %d bytes were sent, and %d of %d received", done, want, there.Messages, there.Bytes)
	}
	return done, there, err
}

// greet announces the conversation, and returns when the other side is ready.
func (a client) greet() (there status, err error) {
	if err := a.conn.SetDeadline(time.Now().Add(a.hello.limit)); err != nil {
		return there, err
	}
	if err := a.conn.Send(a.hello.bytes()); err != nil {
		return there, err
	}
	return a.conn.status()
}

func (c *Conn) status() (status, error) {
	m, err := c.Receive()
	if err != nil {
		return status{}, err
	}
	return readStatus(m)
}

type server struct {
	conn    *Conn
	hello   hello // zero between conversations
	asked   script
	answers script
	status  status
}

func (s *server) turn() error {
	m, err := s.conn.Receive()
	switch {
	case errors.Is(err, io.EOF):
		return s.end()
	case err != nil:
		return err
	case s.hello.size == 0:
		return s.start(m)
	}
	n := s.status.Messages
	if err := s.asked.check(m, n); err != nil {
		return err
	}
	s.status.Messages++
	s.status.Bytes += uint64(len(m))
	if !s.hello.answers {
		return nil
	}
	return s.conn.Send(s.answers.number(n))
}

func (s *server) start(m []byte) (err error) {
	if s.hello, err = readHello(m); err != nil {
		return err
	}
	if err := s.conn.SetDeadline(time.Now().Add(s.hello.limit)); err != nil {
		return err
	}
	s.asked, s.answers, s.status = newScript(s.hello.size, askSeed), newScript(s.hello.size, answerSeed), status{}
	return s.report()
}

func (s *server) end() error {
	if err := s.report(); err != nil {
		return err
	}
	s.hello = hello{}
	return s.conn.SetDeadline(time.Time{})
}

func (s *server) report() error {
	now, err := statusNow()
	if err != nil {
		return err
	}
	now.Messages, now.Bytes = s.status.Messages, s.status.Bytes
	b, err := binary.Append(nil, binary.LittleEndian, now)
	if err != nil {
		return fmt.Errorf("writing a status: %w", err)
	}
	return s.conn.Send(b)
}

// over reports whether an error means that the other side left after its last conversation.
func (s *server) over(err error) bool {
	return s.hello.size == 0 && errors.Is(err, io.ErrUnexpectedEOF)
}
