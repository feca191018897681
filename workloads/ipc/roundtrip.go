package main

import (
	"errors"
	"io"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// roundTrip is the case in which a message goes to another goroutine and comes back before the next one is sent.
type roundTrip struct {
	polled bool // through the net package and the runtime's poller
}

func (t roundTrip) do(r *run) (trips uint64, err error) {
	here, there, err := pair(socket.SeqPacket, t.polled)
	if err != nil {
		return 0, err
	}
	end := closer(here, there)
	defer func() { err = errors.Join(err, end()) }()
	check := newChecker(r.size)
	err = r.together(
		func() { _ = end() },
		func() (err error) { trips, err = ping(r, here); return err },
		func() error { return echo(there, check) },
	)
	if err == nil {
		err = check.all(trips)
	}
	return trips, err
}

// ping sends messages, waits for each to come back, and checks it.
func ping(r *run, to endpoint) (trips uint64, err error) {
	message, buffer, check := newMessage(r.size), newBuffer(socket.SeqPacket, r.size), newChecker(r.size)
	for ; r.more(trips); trips++ {
		stamp(message, trips)
		if err := to.SendMsg(message, socket.Msg{}); err != nil {
			return trips, err
		}
		n, _, err := to.RecvMsg(buffer)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return trips, err
		}
		if err := check.check(buffer[:n]); err != nil {
			return trips, err
		}
	}
	return trips, to.CloseWrite()
}

// echo checks messages and sends them back.
func echo(with endpoint, check *checker) error {
	buffer := newBuffer(socket.SeqPacket, len(check.want))
	return untilEnd(func() error {
		n, _, err := with.RecvMsg(buffer)
		if err != nil {
			return err
		}
		if err := check.check(buffer[:n]); err != nil {
			return err
		}
		return with.SendMsg(buffer[:n], socket.Msg{})
	})
}
