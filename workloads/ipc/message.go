package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

const (
	smallest = 7       // bytes of the usual message, and the minimum
	largest  = 1 << 16 // bytes
)

type endpoint interface {
	SendMsg(b []byte, m socket.Msg) error
	RecvMsg(b []byte) (int, socket.Msg, error)
	CloseWrite() error
	Close() error
}

// newMessage makes a message with a pattern. Its first four bytes are its number.
func newMessage(size int) []byte {
	m := make([]byte, size)
	for i := range m {
		m[i] = byte(i*7 + 1)
	}
	return m
}

func stamp(message []byte, number uint64) {
	binary.LittleEndian.PutUint32(message, uint32(number))
}

// checker verifies received messages: length, number and last byte of each, and every 256th completely.
type checker struct {
	want  []byte
	count uint64
}

func newChecker(size int) *checker {
	return &checker{want: newMessage(size)}
}

func (c *checker) check(got []byte) error {
	last := len(c.want) - 1
	if len(got) != len(c.want) || binary.LittleEndian.Uint32(got) != uint32(c.count) || got[last] != c.want[last] {
		return fmt.Errorf("message %d is not what was sent: %d bytes, %.8x", c.count, len(got), got)
	}
	if c.close() {
		stamp(c.want, c.count)
		if !bytes.Equal(got, c.want) {
			return fmt.Errorf("message %d is not what was sent", c.count)
		}
	}
	c.count++
	return nil
}

func (c *checker) close() bool { return c.count%look == 0 }

func (c *checker) all(sent uint64) error {
	if c.count != sent {
		return fmt.Errorf("%d messages were sent, and %d received", sent, c.count)
	}
	return nil
}

// newBuffer makes a receive buffer. For messages it is larger, to detect long ones; for a stream it is exact, since only its size separates
// messages.
func newBuffer(kind socket.Kind, size int) []byte {
	if kind == socket.Stream {
		return make([]byte, size)
	}
	return make([]byte, max(1024, size+1))
}

func receive(from endpoint, kind socket.Kind, buffer []byte) (int, socket.Msg, error) {
	n, m, err := from.RecvMsg(buffer)
	if err != nil || kind != socket.Stream {
		return n, m, err
	}
	for n < len(buffer) {
		more, _, err := from.RecvMsg(buffer[n:])
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, m, err
		}
		n += more
	}
	return n, m, nil
}
