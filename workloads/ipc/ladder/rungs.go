package ladder

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Rung is a way for two processes to exchange messages.
type Rung struct {
	// Name is the implementation's name for this way.
	Name string
	// packets: the kernel keeps messages apart.
	packets bool
	// open makes the descriptors of both sides.
	open func(o *opened)
	// attach makes a link from one side's descriptors, and takes ownership.
	attach func(fds []int, first bool) (link, error)
}

// Rungs returns all ways, starting with those that copy least.
func Rungs() []Rung {
	stream := func(fds []int, _ bool) (link, error) { return connection(fds[0]) }
	return []Rung{
		{Name: "memory-spin", open: (*opened).memory, attach: memoryOf(spins)},
		{Name: "memory-futex", open: (*opened).memory, attach: memoryOf(0)},
		{Name: "memory-eventfd", open: (*opened).memoryAndEvents, attach: memoryWithEvents},
		{Name: "pipe", open: (*opened).pipes, attach: func(fds []int, _ bool) (link, error) { return newPipes(fds[0], fds[1]) }},
		{Name: "unix-stream", open: socketsOf(unix.SOCK_STREAM), attach: stream},
		{Name: "unix-seqpacket", packets: true, open: socketsOf(unix.SOCK_SEQPACKET), attach: stream},
		{Name: "unix-datagram", packets: true, open: (*opened).datagrams, attach: func(fds []int, _ bool) (link, error) { return newDatagrams(fds[0], fds[1]) }},
		{Name: "tcp", open: (*opened).tcp, attach: stream},
	}
}

// Find finds a rung by its name.
func Find(name string) (Rung, bool) {
	for _, r := range Rungs() {
		if r.Name == name {
			return r, true
		}
	}
	return Rung{}, false
}

// descriptors opens both sides of a connection, close-on-exec unless passed on.
func (r Rung) descriptors() (first, second []int, err error) {
	var o opened
	r.open(&o)
	if o.err != nil {
		closeAll(append(o.first, o.second...))
		return nil, nil, fmt.Errorf("opening %s: %w", r.Name, o.err)
	}
	return o.first, o.second, nil
}

// conn makes a connection from one side's descriptors, and closes them on error.
func (r Rung) conn(fds []int, first bool) (*Conn, error) {
	l, err := r.attach(fds, first)
	if err != nil {
		return nil, fmt.Errorf("connecting by %s: %w", r.Name, err)
	}
	return newConn(l, r.packets), nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd) // Nothing was sent over it.
	}
}

type opened struct {
	first, second []int
	err           error
}

func (o *opened) add(call string, first, second int, err error) {
	if err != nil {
		o.err = errors.Join(o.err, os.NewSyscallError(call, err))
		return
	}
	o.first, o.second = append(o.first, first), append(o.second, second)
}

func socketsOf(kind int) func(o *opened) { return func(o *opened) { o.sockets(kind) } }

func (o *opened) sockets(kind int) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	o.add("socketpair", fds[0], fds[1], err)
}

func (o *opened) datagrams() {
	o.sockets(unix.SOCK_DGRAM)
	o.sockets(unix.SOCK_STREAM) // the lifeline
}

func (o *opened) pipes() {
	var there, back [2]int
	err := unix.Pipe2(there[:], unix.O_CLOEXEC)
	if err == nil {
		if err = unix.Pipe2(back[:], unix.O_CLOEXEC); err != nil {
			closeAll(there[:])
		}
	}
	o.add("pipe", back[0], there[0], err)
	if err == nil {
		o.add("pipe", there[1], back[1], nil)
	}
}

func (o *opened) twice(call string, fd int, err error) {
	if err != nil {
		o.add(call, 0, 0, err)
		return
	}
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		closeAll([]int{fd})
	}
	o.add("fcntl", fd, again, err)
}

func (o *opened) memory() {
	fd, err := unix.MemfdCreate("ladder", unix.MFD_CLOEXEC)
	if err == nil {
		if err = unix.Ftruncate(fd, 2*ringSize); err != nil {
			closeAll([]int{fd})
		}
	}
	o.twice("memfd", fd, err)
	o.sockets(unix.SOCK_STREAM) // the lifeline
}

// memoryAndEvents adds four events: data and room for each of the two rings.
func (o *opened) memoryAndEvents() {
	o.memory()
	for range 4 {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		o.twice("eventfd", fd, err)
	}
}

func memoryOf(spins int) func(fds []int, first bool) (link, error) {
	return func(fds []int, first bool) (link, error) {
		defer closeAll(fds[:1]) // The mapping stays.
		b := bells{&futex{}, &futex{}, &futex{}, &futex{}}
		return newShared(fds[0], fds[1], first, b, spins)
	}
}

func memoryWithEvents(fds []int, first bool) (link, error) {
	defer closeAll(fds[:1])
	var events [4]bell
	for i, fd := range fds[2:] {
		file, err := pollable(fd)
		if err != nil {
			return nil, err
		}
		events[i] = &event{file: file}
	}
	b := bells{dataThere: events[0], room: events[1], data: events[2], roomHere: events[3]}
	if !first {
		b = bells{data: events[0], roomHere: events[1], dataThere: events[2], room: events[3]}
	}
	return newShared(fds[0], fds[1], first, b, 0)
}

// tcp connects two loopback sockets on a free port.
func (o *opened) tcp() {
	first, second, err := loopback()
	o.add("connecting over loopback", first, second, err)
}

func loopback() (first, second int, err error) {
	var made []int
	socket := func() int {
		fd, failure := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if failure == nil {
			made = append(made, fd)
		}
		err = errors.Join(err, failure)
		return fd
	}
	listener, first := socket(), socket()
	defer func() {
		if err != nil {
			closeAll(made)
		} else {
			closeAll(made[:1])
		}
	}()
	if err != nil {
		return 0, 0, err
	}
	if err = errors.Join(unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(listener, 1)); err != nil {
		return 0, 0, err
	}
	address, err := unix.Getsockname(listener)
	if err != nil {
		return 0, 0, err
	}
	if err = unix.Connect(first, address); err != nil {
		return 0, 0, err
	}
	second, peer, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
	if err != nil {
		return 0, 0, err
	}
	made = append(made, second)
	own, err := unix.Getsockname(first)
	if err == nil && own.(*unix.SockaddrInet4).Port != peer.(*unix.SockaddrInet4).Port {
		err = errors.New("another program connected to the port")
	}
	for _, fd := range []int{first, second} { // As net does.
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
	return first, second, err
}
