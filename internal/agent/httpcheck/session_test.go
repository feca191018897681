package httpcheck

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func speak(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

func readRequest(in *bufio.Reader) bool {
	for {
		l, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if l == "\r\n" {
			return true
		}
	}
}

func says(text string) func(net.Conn) {
	return func(conn net.Conn) {
		for in := bufio.NewReader(conn); readRequest(in); {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

func TestAsk(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
	tests := map[string]struct {
		server func(net.Conn)
		want   answer
		err    string
	}{
		"a plain answer":     {server: says(head + "hello"), want: answer{status: 200, head: int64(len(head)), body: []byte("hello"), bytes: 5}},
		"an answer in parts": {server: says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), want: answer{status: 200, head: 47, body: []byte("hello"), bytes: 5}},
		"an answer after a hint": {
			server: says("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + head + "hello"),
			want:   answer{status: 200, head: int64(len(head)), body: []byte("hello"), bytes: 5},
		},
		"the last answer": {
			server: says("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), want: answer{status: 404, head: 64, last: true},
		},
		"a long body": {
			server: says("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100000)),
			want:   answer{status: 200, head: 43, body: []byte(strings.Repeat("x", maxBody)), bytes: 100000},
		},
		"more than the answer":    {server: says(head + "hello, world"), err: errSurplus.Error()},
		"frames of HTTP/2":        {server: says("\x00\x00\x00\x04\x00\x00\x00\x00\x00"), err: errFrames.Error()},
		"no HTTP":                 {server: says("SSH-2.0-x\r\n\r\n"), err: `malformed HTTP response "SSH-2.0-x"`},
		"headers without an end":  {server: says("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 60000)), err: "the headers are longer than 262144 bytes, or one of them than 65536"},
		"a header without an end": {server: says("HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", maxLine)), err: "the headers are longer than 262144 bytes, or one of them than 65536"},
		"headers that are cut off": {
			server: func(c net.Conn) { readRequest(bufio.NewReader(c)); _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nCon") },
			err:    "unexpected EOF",
		},
		"a body that is cut off": {
			server: func(c net.Conn) { readRequest(bufio.NewReader(c)); _, _ = io.WriteString(c, head+"hel") }, err: "unexpected EOF",
		},
		"a connection that is closed": {server: func(c net.Conn) { readRequest(bufio.NewReader(c)) }, err: "EOF"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := speak(t, tc.server)
			m, err := request(target, record.Request{Path: "/a?b=c"})
			if err != nil {
				t.Fatal(err)
			}
			if want := "GET /a?b=c HTTP/1.1\r\nHost: " + target + "\r\n\r\n"; string(m.text) != want {
				t.Errorf("the request is %q, want %q", m.text, want)
			}
			s, err := openSession(t.Context(), Server{Address: target}, "", time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			for range 2 {
				got, err := s.ask(m, io.Discard)
				if tc.err != "" {
					if err == nil || err.Error() != tc.err {
						t.Errorf("ask() = %v, want %s", err, tc.err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(answer{}), cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
					t.Errorf("ask() (-want +got):\n%s", diff)
				}
			}
		})
	}
}
