package ladder

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

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
