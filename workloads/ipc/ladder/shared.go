package ladder

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lifeline is a socket that nothing is sent over: that the other side is gone is its end.
type lifeline struct {
	conn net.Conn
	gone atomic.Bool
	done chan struct{}
}

// watch calls alarm once the other side is gone, or the lifeline is closed.
func watch(fd int, alarm func()) (*lifeline, error) {
	conn, err := connection(fd)
	if err != nil {
		return nil, err
	}
	l := &lifeline{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		_, _ = conn.Read(make([]byte, 1)) // However it ends, it is the end.
		l.gone.Store(true)
		alarm()
	}()
	return l, nil
}

func (l *lifeline) Close() error {
	err := l.conn.Close()
	<-l.done
	return err
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// spins is how often a side that spins looks before it waits: a few microseconds.
const spins = 5000

// bells are those that a side waits for and those that it rings.
type bells struct{ data, room, dataThere, roomHere bell }

func (b bells) all() []bell { return []bell{b.data, b.room, b.dataThere, b.roomHere} }

// shared is a link through memory: a ring each way.
type shared struct {
	memory           []byte
	in, out          ring
	bells            bells
	spins            int
	life             *lifeline
	closed           atomic.Bool
	alarmed          sync.Mutex // held while deadlines are set
	reading, writing sync.Mutex // held while the memory is used
}

// newShared maps the memory of a descriptor. The first of two sides writes the first ring.
func newShared(fd, lifelineFD int, first bool, b bells, spins int) (link, error) {
	memory, err := unix.Mmap(fd, 0, 2*ringSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	if runtime.GOMAXPROCS(0) == 1 || runtime.NumCPU() == 1 {
		spins = 0 // Nobody else could run meanwhile.
	}
	s := &shared{memory: memory, out: newRing(memory), in: newRing(memory[ringSize:]), bells: b, spins: spins}
	if !first {
		s.in, s.out = s.out, s.in
	}
	s.alarmed.Lock()
	defer s.alarmed.Unlock()
	if s.life, err = watch(lifelineFD, s.alarm); err != nil {
		return nil, errors.Join(err, unix.Munmap(memory))
	}
	return s, nil
}

// alarm ends what waits.
func (s *shared) alarm() {
	s.alarmed.Lock()
	defer s.alarmed.Unlock()
	for _, b := range s.bells.all() {
		_ = b.setDeadline(past) // One that is closed has nobody who waits.
	}
}

// SetDeadline is for what waits for the other side. Once that is gone, nothing waits.
func (s *shared) SetDeadline(t time.Time) error {
	s.alarmed.Lock()
	defer s.alarmed.Unlock()
	if s.life.gone.Load() {
		return nil
	}
	return errors.Join(s.bells.data.setDeadline(t), s.bells.room.setDeadline(t))
}

func (s *shared) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for {
		if s.closed.Load() {
			return 0, net.ErrClosed
		}
		gone := s.life.gone.Load() // Before the look at the ring: what was written before the death is read.
		n, err := s.in.take(p)
		switch {
		case err != nil:
			return 0, err
		case n > 0:
			return n, tell(s.in.writerWaits, s.in.read, s.bells.roomHere)
		case gone:
			return 0, io.EOF
		}
		if err := s.await(s.in.written, s.in.read.Load(), s.in.readerWaits, s.bells.data); err != nil {
			return 0, err
		}
	}
}

func (s *shared) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for sent := 0; ; {
		switch {
		case s.closed.Load():
			return sent, net.ErrClosed
		case s.life.gone.Load():
			return sent, unix.EPIPE
		}
		n, err := s.out.put(p[sent:])
		if err != nil {
			return sent, err
		}
		if n > 0 {
			if err := tell(s.out.readerWaits, s.out.written, s.bells.dataThere); err != nil {
				return sent, err
			}
		}
		if sent += n; sent == len(p) {
			return sent, nil
		}
		if err := s.await(s.out.read, s.out.written.Load()-ringBytes, s.out.writerWaits, s.bells.room); err != nil {
			return sent, err
		}
	}
}

// tell wakes the other side if it waits.
func tell(waits, number *atomic.Uint32, b bell) error {
	if waits.Load() == 0 || waits.Swap(0) == 0 {
		return nil
	}
	return b.ring(number)
}

// await waits until a number is no longer what it was, or something else has happened.
func (s *shared) await(number *atomic.Uint32, was uint32, waits *atomic.Uint32, b bell) error {
	for range s.spins {
		if number.Load() != was {
			return nil
		}
	}
	waits.Store(1) // Before the last look, as the other side looks here after it has changed the number.
	if number.Load() != was {
		return nil
	}
	err := b.wait(number, was)
	if errors.Is(err, os.ErrDeadlineExceeded) && (s.closed.Load() || s.life.gone.Load()) {
		return nil
	}
	return err
}

// Close waits for calls that are under way: the memory goes.
func (s *shared) Close() error {
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	err := s.life.Close() // It alarms those who wait.
	s.reading.Lock()
	defer s.reading.Unlock()
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, b := range s.bells.all() {
		err = errors.Join(err, b.Close())
	}
	return errors.Join(err, unix.Munmap(s.memory))
}

const (
	ringBytes = 1 << 16 // as much as a pipe has; a power of two
	wordGap   = 128     // Each number has cache lines of its own.
	ringSize  = 4096 + ringBytes
)

// errDamaged says that the numbers in shared memory make no sense.
var errDamaged = errors.New("the shared memory is damaged: it holds more bytes than it has room for")

// ring is one direction of shared memory, in which one side writes and the other reads. The numbers of bytes written and read grow for
// ever, and wrap; what is between them is held.
type ring struct {
	written, read            *atomic.Uint32
	readerWaits, writerWaits *atomic.Uint32 // 1 for a side that is to be woken
	bytes                    []byte
}

func newRing(memory []byte) ring {
	word := func(i int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&memory[i*wordGap])) }
	return ring{word(0), word(1), word(2), word(3), memory[ringSize-ringBytes : ringSize]}
}

// put writes what there is room for.
func (r ring) put(p []byte) (int, error) {
	written := r.written.Load()
	held := written - r.read.Load()
	if held > ringBytes {
		return 0, errDamaged
	}
	n := min(len(p), int(ringBytes-held))
	at := written % ringBytes
	copy(r.bytes, p[copy(r.bytes[at:], p[:n]):n])
	if n > 0 {
		r.written.Store(written + uint32(n)) // After the bytes, for the reader and for the case that this process dies.
	}
	return n, nil
}

// take reads what there is.
func (r ring) take(p []byte) (int, error) {
	read := r.read.Load()
	held := r.written.Load() - read
	if held > ringBytes {
		return 0, errDamaged
	}
	n := min(len(p), int(held))
	at := read % ringBytes
	first := copy(p[:n], r.bytes[at:])
	copy(p[first:n], r.bytes)
	if n > 0 {
		r.read.Store(read + uint32(n))
	}
	return n, nil
}
