package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const patience = 2 * time.Minute

const request = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"

func started(t *testing.T, limit int) (address string, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, port = l.Addr().String(), l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, port, limit) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the server did not end")
		}
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return address, port
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(c net.Conn) (status int, err error) {
	if _, err := io.WriteString(c, request); err != nil {
		return 0, err
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, r.Body)
	return r.StatusCode, err
}

func TestAConnectionBeyondTheLimitIsRefusedAndTheOthersAreServed(t *testing.T) {
	const limit = 50
	address, _ := started(t, limit)
	var conns []net.Conn
	for range limit {
		c := dial(t, address)
		if status, err := ask(c); err != nil || status != http.StatusOK {
			t.Fatalf("connection %d: status %d, %v", len(conns)+1, status, err)
		}
		conns = append(conns, c)
	}
	answer, err := io.ReadAll(dial(t, address))
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") {
		t.Errorf("one connection too many got %q, %v", answer, err)
	}
	for i, c := range conns {
		if status, err := ask(c); err != nil || status != http.StatusOK {
			t.Errorf("connection %d: status %d, %v", i+1, status, err)
		}
	}
	_ = conns[0].Close()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if status, _ := ask(dial(t, address)); status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a connection that ended was not given back")
		}
	}
}

// The last answer to a slow reader waits in the server; it must arrive before the connection ends.
func TestAClientThatReadsLateGetsItsLastAnswer(t *testing.T) {
	address, _ := started(t, 10)
	for name, last := range map[string]string{
		"one that wants to close": "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n", "one that talks nonsense": "nonsense\r\n\r\n",
		"one that goes on after nonsense": "nonsense\r\n\r\n" + strings.Repeat(request, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address)
			const many = 60_000 // answers of 75 bytes, which is more than the sockets hold
			go func() { _, _ = io.WriteString(c, strings.Repeat(request, many)+last) }()
			time.Sleep(300 * time.Millisecond)
			r := bufio.NewReader(c)
			for i := range many + 1 {
				response, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatalf("answer %d of %d: %v", i+1, many+1, err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				if response.Close != (i == many) {
					t.Fatalf("answer %d of %d: close is %v", i+1, many+1, response.Close)
				}
			}
			if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("after the last answer: %v, not the end", err)
			}
		})
	}
}

func TestAPortInUseIsRefused(t *testing.T) {
	_, port := started(t, 10)
	if err := serve(t.Context(), port, 10); err == nil {
		t.Error("a second server took the same port")
	}
}

func TestFlags(t *testing.T) {
	for _, good := range []string{"", "--port=81", "--port 81"} {
		if _, err := portFrom(strings.Fields(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"--port", "--port=x", "--port=0", "--port=65536", "--porto=1", "81", "--help"} {
		if _, err := portFrom(strings.Fields(bad)); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v, want a usage", bad, err)
		}
	}
	if got, err := portFrom([]string{"--port", "81"}); got != 81 || err != nil {
		t.Errorf("got port %d, %v", got, err)
	}
}

func BenchmarkRespond(b *testing.B) {
	input, out := []byte(request), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, used, _ := respond(out[:0], input); used != len(input) {
			b.Fatal(fmt.Sprint("used ", used))
		}
	}
}
