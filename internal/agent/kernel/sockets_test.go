package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func listen(tb testing.TB, address string) (*net.TCPListener, int) {
	tb.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		tb.Skipf("listening on %s: %v", address, err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	listener, ok := l.(*net.TCPListener)
	if !ok {
		tb.Fatalf("a listener is a %T", l)
	}
	address2, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		tb.Fatalf("an address is a %T", l.Addr())
	}
	return listener, address2.Port
}

func dialed(tb testing.TB, address, text string) net.Conn {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	return conn
}

// awaitSockets reads sockets until they match: sent bytes take a moment to arrive.
func awaitSockets(tb testing.TB, port int, patience time.Duration, want record.Sockets) {
	tb.Helper()
	var got record.Sockets
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		s, err := ReadSockets(port, patience)
		if err != nil {
			tb.Fatal(err)
		}
		if s.Hung == nil {
			tb.Fatal("nobody has looked for connections that hang")
		}
		if got = *s; cmp.Equal(got, want, hungIsZero) {
			return
		}
	}
	tb.Fatalf("got %+v, want %+v", got, want)
}

var hungIsZero = cmp.Transformer("hung", func(hung *int64) int64 {
	if hung == nil {
		return 0
	}
	return *hung
})

func TestSocketsOfAServerThatAnswersSome(t *testing.T) {
	for name, address := range map[string]string{"version 4": "127.0.0.1:0", "version 6": "[::1]:0", "version 4 on a socket of version 6": "[::]:0"} {
		t.Run(name, func(t *testing.T) {
			l, port := listen(t, address)
			awaitSockets(t, port, time.Hour, record.Sockets{})
			to := l.Addr().String()
			if name == "version 4 on a socket of version 6" {
				to = fmt.Sprintf("127.0.0.1:%d", port)
			}
			accept := func() net.Conn {
				conn, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				return conn
			}
			for _, answer := range []string{"1234", "1234", ""} {
				dialed(t, to, "GET")
				if conn := accept(); answer != "" {
					if _, err := conn.Write([]byte(answer)); err != nil {
						t.Fatal(err)
					}
				}
			}
			// Two are answered, one is accepted but never answered, one is never accepted, one sends nothing.
			dialed(t, to, "GET")
			dialed(t, to, "")
			awaitSockets(t, port, time.Hour, record.Sockets{Established: 5, Unanswered: 2, Jain: 0.4})
		})
	}
}

func TestConnectionsThatHang(t *testing.T) {
	l, port := listen(t, "127.0.0.1:0")
	open := func(after time.Duration) net.Conn {
		client := dialed(t, l.Addr().String(), "GET")
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		request := make([]byte, 3)
		if _, err := io.ReadFull(server, request); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		if _, err := server.Write([]byte("1234")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		return client
	}
	// The first client asks no more, and its answer came more than a tick after its request. The second one asks again.
	open(50 * time.Millisecond)
	if _, err := open(0).Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	one := int64(1)
	awaitSockets(t, port, 300*time.Millisecond, record.Sockets{Established: 2, Jain: 1, Hung: &one})
	awaitSockets(t, port, time.Hour, record.Sockets{Established: 2, Jain: 1})
}

func diagMessage(sentBytes, receivedBytes, ackedBytes uint64) []byte {
	info := make([]byte, infoEnd)
	binary.NativeEndian.PutUint64(info[sent:], sentBytes)
	binary.NativeEndian.PutUint64(info[received:], receivedBytes)
	binary.NativeEndian.PutUint64(info[acked:], ackedBytes)
	body := make([]byte, diagMessageBytes)
	// A small attribute before the right one: a 1-byte value, padded to 4.
	body = append(body, 5, 0, 8, 0, 1, 0, 0, 0)
	body = binary.NativeEndian.AppendUint16(body, uint16(4+len(info)))
	body = binary.NativeEndian.AppendUint16(body, diagInfo)
	return netlinkMessage(unix.SOCK_DIAG_BY_FAMILY, append(body, info...))
}

func netlinkMessage(kind uint16, body []byte) []byte {
	m := make([]byte, syscall.NLMSG_HDRLEN, syscall.NLMSG_HDRLEN+len(body))
	binary.NativeEndian.PutUint32(m, uint32(syscall.NLMSG_HDRLEN+len(body)))
	binary.NativeEndian.PutUint16(m[4:], kind)
	return append(m, body...)
}

func TestConnections(t *testing.T) {
	refused := make([]byte, 4)
	binary.NativeEndian.PutUint32(refused, ^uint32(syscall.ENOENT)+1)
	one := diagMessage(100, 10, 100)
	tests := map[string]struct {
		part []byte
		want record.Sockets
		done bool
		err  error
	}{
		"nothing":                      {},
		"one connection":               {part: one, want: record.Sockets{Established: 1, Jain: 1}},
		"one that got everything":      {part: bytes.Join([][]byte{one, diagMessage(0, 10, 0)}, nil), want: record.Sockets{Established: 2, Unanswered: 1, Jain: 0.5}},
		"one that has asked nothing":   {part: diagMessage(0, 0, 0), want: record.Sockets{Established: 1}},
		"an answer still on its way":   {part: diagMessage(5, 10, 0), want: record.Sockets{Established: 1}},
		"the end":                      {part: append(bytes.Clone(one), netlinkMessage(syscall.NLMSG_DONE, make([]byte, 4))...), want: record.Sockets{Established: 1, Jain: 1}, done: true},
		"a refusal":                    {part: netlinkMessage(syscall.NLMSG_ERROR, refused), done: true, err: syscall.ENOENT},
		"a refusal without a reason":   {part: netlinkMessage(syscall.NLMSG_ERROR, nil), done: true, err: syscall.EBADMSG},
		"an old kernel":                {part: netlinkMessage(unix.SOCK_DIAG_BY_FAMILY, make([]byte, diagMessageBytes)), done: true, err: ErrOldKernel},
		"a message that is cut off":    {part: one[:50], done: true, err: syscall.EBADMSG},
		"a connection that is cut off": {part: netlinkMessage(unix.SOCK_DIAG_BY_FAMILY, make([]byte, 8)), done: true, err: syscall.EBADMSG},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var sum connections
			done, err := messages(tc.part, sum.connection)
			if done != tc.done || !errors.Is(err, tc.err) {
				t.Errorf("add() = %v, %v; want %v, %v", done, err, tc.done, tc.err)
			}
			if got := sum.sockets(); err == nil && !cmp.Equal(*got, tc.want, hungIsZero) {
				t.Errorf("got %+v, want %+v", *got, tc.want)
			}
		})
	}
}

func FuzzConnections(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add(diagMessage(100, 10, 100))
	corpus.Add(netlinkMessage(syscall.NLMSG_DONE, make([]byte, 4)))
	corpus.Fuzz(func(t testing.TB, part []byte) {
		var sum connections
		_, _ = messages(part, sum.connection) // It must end and stay in bounds.
		if s := sum.sockets(); s.Unanswered > s.Established || s.Jain < 0 || s.Jain > 1+1e-9 {
			t.Errorf("got %+v", *s)
		}
	})
}

// BenchmarkSockets measures one look at a server's connections. Both ends are in this process, which may open 20,000 files.
func BenchmarkSockets(b *testing.B) {
	for _, n := range []int{0, 1000, 9900} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, port := listen(b, "127.0.0.1:0")
			for range n {
				dialed(b, l.Addr().String(), "GET")
				conn, err := l.Accept()
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = conn.Close() })
			}
			kerneltest.OwnTime(b, OwnCPUNanos, func() {
				if s, err := ReadSockets(port, time.Hour); err != nil || s.Established != int64(n) {
					b.Fatalf("got %+v, error %v", s, err)
				}
			})
		})
	}
}
