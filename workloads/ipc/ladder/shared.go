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

// lifeline is an unused socket whose end means that the other side is gone.
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
		_, _ = conn.Read(make([]byte, 1)) // Any result means the end.
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

var past = time.Unix(1, 0)

// spins is the number of checks before a spinning side waits: a few microseconds.
const spins = 5000

// bells are those that a side waits for and those that it rings.
type bells struct{ data, room, dataThere, roomHere bell }

func (b bells) all() []bell { return []bell{b.data, b.room, b.dataThere, b.roomHere} }

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

// newShared maps a descriptor's memory. The first side writes the first ring.
func newShared(fd, lifelineFD int, first bool, b bells, spins int) (link, error) {
	memory, err := unix.Mmap(fd, 0, 2*ringSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	if runtime.GOMAXPROCS(0) == 1 || runtime.NumCPU() == 1 {
		spins = 0 // No other goroutine could run meanwhile.
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

func (s *shared) alarm() {
	s.alarmed.Lock()
	defer s.alarmed.Unlock()
	for _, b := range s.bells.all() {
		_ = b.setDeadline(past) // A closed one has no waiter.
	}
}

// SetDeadline applies to waits for the other side. Once that is gone, nothing waits.
func (s *shared) SetDeadline(t time.Time) error {
	s.alarmed.Lock()
	defer s.alarmed.Unlock()
	if s.life.gone.Load() {
		return nil
	}
	return errors.Join(s.bells.data.setDeadline(t), s.bells.room.setDeadline(t))
}

// Read waits for at least one byte. After the death of the writer it returns the rest of the ring, then io.EOF.
func (s *shared) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for {
		if s.closed.Load() {
			return 0, net.ErrClosed
		}
		gone := s.life.gone.Load() // Read this before the ring, so that data written before the death is read.
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

func tell(waits, number *atomic.Uint32, b bell) error {
	if waits.Load() == 0 || waits.Swap(0) == 0 {
		return nil
	}
	return b.ring(number)
}

// await waits until a number has changed, or something else happened.
func (s *shared) await(number *atomic.Uint32, was uint32, waits *atomic.Uint32, b bell) error {
	for range s.spins {
		if number.Load() != was {
			return nil
		}
	}
	waits.Store(1) // Set before the last look: the other side checks it after changing the number.
	if number.Load() != was {
		return nil
	}
	err := b.wait(number, was)
	if errors.Is(err, os.ErrDeadlineExceeded) && (s.closed.Load() || s.life.gone.Load()) {
		return nil
	}
	return err
}

// Close waits for calls in progress before it unmaps the memory.
func (s *shared) Close() error {
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	err := s.life.Close() // It wakes waiters.
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
	wordGap   = 128     // Each number has its own cache lines.
	ringSize  = 4096 + ringBytes
)

// errDamaged: the numbers in shared memory are inconsistent.
var errDamaged = errors.New("the shared memory is damaged: it holds more bytes than it has room for")

// ring is one direction of shared memory, with one writer and one reader. The counts of written and read bytes grow and wrap; their difference
// is held.
type ring struct {
	written, read            *atomic.Uint32
	readerWaits, writerWaits *atomic.Uint32 // 1 for a side that is to be woken
	bytes                    []byte
}

func newRing(memory []byte) ring {
	word := func(i int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&memory[i*wordGap])) }
	return ring{word(0), word(1), word(2), word(3), memory[ringSize-ringBytes : ringSize]}
}

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
		r.written.Store(written + uint32(n)) // After the bytes, for the reader and in case this process dies.
	}
	return n, nil
}

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
