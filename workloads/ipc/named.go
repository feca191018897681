package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// lastName counts this process's names.
var lastName atomic.Int64

// newName returns a unique name.
func newName() string { return fmt.Sprintf("ipc-bench-%d-%d", os.Getpid(), lastName.Add(1)) }

// namedPair makes two ends by connecting to a name.
func namedPair(kind socket.Kind) (a, b *socket.Socket, err error) {
	name := newName()
	l, err := socket.Listen(kind, name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if a, err = socket.Dial(kind, name); err != nil {
		return nil, nil, err
	}
	if b, err = l.Accept(); err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, b, nil
}

// connections is the case with a new connection to a name per message.
type connections struct{}

func (connections) do(r *run) (made uint64, err error) {
	name := newName()
	l, err := socket.Listen(socket.SeqPacket, name)
	if err != nil {
		return 0, err
	}
	end := sync.OnceValue(l.Close)
	defer func() { err = errors.Join(err, end()) }()
	check, buffer := newChecker(r.size), newBuffer(socket.SeqPacket, r.size)
	err = r.together(
		func() { _ = end() },
		func() (err error) { made, err = connect(r, name); return err },
		func() error { return untilEnd(func() error { return acceptOne(l, check, buffer) }) },
	)
	if err == nil {
		err = check.all(made)
	}
	return made, err
}

// connect connects per message, and finally without a message, as the end.
func connect(r *run, name string) (made uint64, err error) {
	message := newMessage(r.size)
	for ; r.more(made); made++ {
		stamp(message, made)
		if err := sendTo(name, message); err != nil {
			return made, err
		}
	}
	return made, sendTo(name, nil)
}

func sendTo(name string, message []byte) (err error) {
	s, err := socket.Dial(socket.SeqPacket, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if message == nil {
		return nil
	}
	return s.SendMsg(message, socket.Msg{})
}

// acceptOne accepts a connection and checks its message; io.EOF if there is none.
func acceptOne(l *socket.Listener, check *checker, buffer []byte) (err error) {
	s, err := l.Accept()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	n, _, err := s.RecvMsg(buffer)
	if err != nil {
		return err
	}
	return check.check(buffer[:n])
}
