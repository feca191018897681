package ladder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
	"time"
)

// pieces is a link with scripted input that accepts any output. Each Read returns one piece, then the rest.
type pieces struct {
	bytes []byte
	sizes []byte // one less than the bytes of each piece
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.bytes) == 0 {
		return 0, io.EOF
	}
	if len(p.sizes) > 0 {
		b = b[:min(len(b), int(p.sizes[0])+1)]
		p.sizes = p.sizes[1:]
	}
	n := copy(b, p.bytes)
	p.bytes = p.bytes[n:]
	return n, nil
}

func (*pieces) Write(b []byte) (int, error)   { return len(b), nil }
func (*pieces) SetDeadline(_ time.Time) error { return nil }
func (*pieces) Close() error                  { return nil }

func received(c *Conn) (messages [][]byte, err error) {
	for {
		switch m, err := c.Receive(); {
		case errors.Is(err, io.EOF):
			messages = append(messages, nil)
		case err != nil:
			return messages, err
		default:
			messages = append(messages, slices.Clone(m))
		}
	}
}

func packet(b []byte) (message []byte, whole bool) {
	if len(b) < header {
		return nil, false
	}
	size := binary.LittleEndian.Uint32(b)
	return b[header:], size <= Largest && int(size) == len(b)-header
}

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// FuzzReceive receives arbitrary input. However bytes are split, messages are the same; packets are separate messages; and a server
// terminates.
func FuzzReceive(f *testing.F) {
	greeting := newScript(helloSize, 0).message
	copy(greeting, hello{answers: true, size: Smallest, limit: time.Second}.bytes())
	var good []byte
	for _, m := range [][]byte{greeting, newScript(Smallest, askSeed).number(0), newScript(Smallest, askSeed).number(1), nil} {
		good = append(binary.LittleEndian.AppendUint32(good, uint32(len(m))), m...)
	}
	f.Add(good, []byte{20, 11, 11, 3})
	f.Add(slices.Concat(good, good), []byte{0, 1, 2, 200})
	f.Add([]byte{1, 0, 1, 0}, []byte{0})
	f.Fuzz(func(t *testing.T, input, sizes []byte) {
		whole, wholeErr := received(newConn(&pieces{bytes: input}, false))
		cut, cutErr := received(newConn(&pieces{bytes: input, sizes: sizes}, false))
		if !same(whole, cut) || wholeErr.Error() != cutErr.Error() {
			t.Fatalf("in pieces %q came (%v), at once %q (%v)", cut, cutErr, whole, wholeErr)
		}

		packets, _ := received(newConn(&pieces{bytes: input, sizes: sizes}, true))
		left, p := pieces{bytes: input, sizes: sizes}, make([]byte, header+Largest)
		for i := 0; ; i++ {
			n, _ := left.Read(p)
			want, is := packet(p[:n])
			if !is && i == len(packets) {
				break
			}
			if !is || i == len(packets) || !bytes.Equal(packets[i], want) {
				t.Fatalf("of packet %d, %q, came another message: %q", i, p[:n], packets)
			}
		}

		if err := serve(newConn(&pieces{bytes: input, sizes: sizes}, false)); err == nil && len(whole) > 0 && whole[len(whole)-1] != nil {
			t.Fatalf("a server is content with a conversation that has no end: %q", whole)
		}
	})
}
