package main

import (
	"errors"
	"fmt"
	"time"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// channel is a case in which a goroutine receives messages and passes them through a channel.
//
// A message's buffer belongs to its current holder. The channel holds up to its capacity, and sender and receiver one each: so capacity plus
// two buffers, used in turn, are enough. The channel's order guarantees that a buffer is free when its turn comes.
type channel struct {
	polled   bool // through the net package and the runtime's poller
	capacity int
	limit    time.Duration // of a wait for a message; 0 for none
}

var errLate = errors.New("a message did not come in time")

func (c channel) do(r *run) (sent uint64, err error) {
	from, to, err := pair(socket.SeqPacket, c.polled)
	if err != nil {
		return 0, err
	}
	end := closer(from, to)
	defer func() { err = errors.Join(err, end()) }()
	buffers := make([][]byte, c.capacity+2)
	for i := range buffers {
		buffers[i] = newBuffer(socket.SeqPacket, r.size)
	}
	messages, check := make(chan []byte, c.capacity), newChecker(r.size)
	forward := func() error {
		defer close(messages)
		return untilEnd(forwarder(to, buffers, messages))
	}
	err = r.together(
		func() { _ = end() },
		func() (err error) { sent, err = send(r, from, socket.Msg{}); return err }, forward,
		func() error { return c.take(messages, check) },
	)
	if err == nil {
		err = check.all(sent)
	}
	return sent, err
}

// take checks messages until the end, or a wrong or late one; then it drains the rest, so that no sender blocks.
func (c channel) take(messages <-chan []byte, check *checker) error {
	next := func() ([]byte, error) { return <-messages, nil }
	if c.limit > 0 {
		next = c.within(messages)
	}
	for {
		m, err := next()
		if m == nil && err == nil {
			return nil
		}
		if err == nil {
			err = check.check(m)
		}
		if err != nil {
			go func() {
				for range messages {
				}
			}()
			return err
		}
	}
}

// within returns a function that receives a message with a timeout, using one timer for all. At the end it returns nil.
func (c channel) within(messages <-chan []byte) func() ([]byte, error) {
	timer := time.NewTimer(c.limit)
	return func() ([]byte, error) {
		timer.Reset(c.limit)
		select {
		case m := <-messages:
			return m, nil
		case <-timer.C:
			return nil, errLate
		}
	}
}

func forwarder(from endpoint, buffers [][]byte, messages chan<- []byte) func() error {
	turn := 0
	return func() error {
		buffer := buffers[turn]
		n, _, err := receive(from, socket.SeqPacket, buffer)
		if err != nil {
			return err
		}
		messages <- buffer[:n]
		turn = (turn + 1) % len(buffers)
		return nil
	}
}

// emptyGoroutine is the cost of a goroutine per message without the message.
func emptyGoroutine(r *run) (done uint64, err error) {
	nothing := inGoroutine(func() error {
		done++
		return nil
	})
	var calls uint64
	err = r.together(func() {}, func() error {
		for ; r.more(calls); calls++ {
			if err := nothing(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && done != calls {
		err = fmt.Errorf("%d goroutines were started, and %d ran", calls, done)
	}
	return done, err
}
