package kernel

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// peekWidth is how many connections one look waits for. With ten connections of wrk, looks at one saw an answer in 67 to 86%, looks at
	// eight in 90 to 99%.
	peekWidth = 8
	// peekSpare is how many descriptors a program opens in addition to its connections. peekTries bounds those that one look tries.
	peekSpare, peekTries = 32, 40
	// peekBytes bounds the bytes that one look copies from a connection.
	peekBytes = 96 << 10
)

// Peek reads what waits in the connections of a child process, and consumes nothing. It is for one goroutine.
type Peek struct {
	// child is the process's descriptor; it is readable once the process has ended.
	child   int
	port    int
	from    duplicates
	chance  *rand.Rand
	polled  []unix.PollFd
	numbers []int
	buffer  []byte
}

// duplicates are those of a child's descriptors.
type duplicates interface {
	// limits returns how many numbers may be those of connections, and how many of them one look tries.
	limits() (descriptors, tries int)
	duplicate(number int) (int, error)
}

// duplicated are made with pidfd_getfd.
type duplicated struct{ child, descriptors int }

func (d duplicated) limits() (descriptors, tries int) {
	return d.descriptors, min(d.descriptors, peekTries)
}

func (d duplicated) duplicate(number int) (int, error) { return unix.PidfdGetfd(d.child, number, 0) }

// MayDuplicate reports whether this process may call pidfd_getfd: a container's default seccomp profile refuses it.
func MayDuplicate() bool {
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	own, err := unix.PidfdGetfd(self, self, 0)
	if err == nil {
		_ = unix.Close(own) // It holds no data.
	}
	_ = unix.Close(self) // It holds no data.
	return err == nil
}

// OpenPeek opens the connections of a running child process to a port of the server. connections is their number. The error says why the
// kernel does not allow it. It needs Linux 5.6.
func OpenPeek(process, port, connections int, chance *rand.Rand) (*Peek, error) {
	child, err := unix.PidfdOpen(process, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the process (pidfd_open): %w", err)
	}
	// Every process has its standard output.
	output, err := unix.PidfdGetfd(child, 1, 0)
	if err != nil {
		_ = unix.Close(child) // It holds no data.
		return nil, fmt.Errorf("the kernel, a seccomp profile or Yama refuses pidfd_getfd: %w", err)
	}
	return newPeek(child, port, duplicated{child, connections + peekSpare}, chance), unix.Close(output)
}

// Peek opens the child's connections to a port of the server.
func (h *Handover) Peek(port int, chance *rand.Rand) (*Peek, error) {
	child, err := unix.PidfdOpen(h.process, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the process (pidfd_open): %w", err)
	}
	return newPeek(child, port, h, chance), nil
}

func newPeek(child, port int, from duplicates, chance *rand.Rand) *Peek {
	return &Peek{
		child: child, port: port, from: from, chance: chance,
		polled: make([]unix.PollFd, 0, peekWidth+1), numbers: make([]int, 0, peekWidth), buffer: make([]byte, peekBytes),
	}
}

// Close releases the process.
func (p *Peek) Close() error { return unix.Close(p.child) }

// Pause waits, and returns true if the process has ended.
func (p *Peek) Pause(d time.Duration) bool {
	return poll([]unix.PollFd{{Fd: int32(p.child), Events: unix.POLLIN}}, d) > 0
}

// Look waits until bytes arrive at one of some random connections, and calls see for each that has some. waiting begins with the oldest byte
// that the process has not read, and is valid during the call. descriptor is the connection's number in the process.
func (p *Peek) Look(patience time.Duration, see func(descriptor int, waiting []byte)) {
	defer p.release()
	p.draw()
	if len(p.numbers) == 0 || poll(p.polled, patience) == 0 {
		return
	}
	for i, number := range p.numbers {
		if p.polled[i].Revents&unix.POLLIN == 0 {
			continue
		}
		// The process may have been faster, and its end is no error either.
		if n, _, err := unix.Recvfrom(int(p.polled[i].Fd), p.buffer, unix.MSG_PEEK|unix.MSG_DONTWAIT); err == nil && n > 0 {
			see(number, p.buffer[:n])
		}
	}
}

// draw fills polled with connections that follow a random descriptor, and the process last.
func (p *Peek) draw() {
	descriptors, tries := p.from.limits()
	first := p.chance.IntN(descriptors)
	for i := range tries {
		if len(p.numbers) == peekWidth {
			break
		}
		number := (first + i) % descriptors
		own, err := p.from.duplicate(number)
		if err != nil {
			continue // It is not open.
		}
		if !connected(own, p.port) {
			_ = unix.Close(own) // A duplicate holds no data.
			continue
		}
		p.numbers = append(p.numbers, number)
		p.polled = append(p.polled, unix.PollFd{Fd: int32(own), Events: unix.POLLIN})
	}
	p.polled = append(p.polled, unix.PollFd{Fd: int32(p.child), Events: unix.POLLIN})
}

func (p *Peek) release() {
	for i := range p.numbers {
		_ = unix.Close(int(p.polled[i].Fd)) // A duplicate holds no data.
	}
	p.polled, p.numbers = p.polled[:0], p.numbers[:0]
}

func connected(descriptor, port int) bool {
	peer, err := unix.Getpeername(descriptor)
	if err != nil {
		return false
	}
	switch a := peer.(type) {
	case *unix.SockaddrInet4:
		return a.Port == port
	case *unix.SockaddrInet6:
		return a.Port == port
	}
	return false
}

// poll returns how many descriptors are ready; 0 after the time, or after a signal.
func poll(all []unix.PollFd, patience time.Duration) int {
	n, err := unix.Poll(all, int(patience.Milliseconds()))
	if err != nil {
		return 0
	}
	return n
}
