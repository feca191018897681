// Package conformance sends a server the requests that every server of package workloads answers alike.
package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait.
const patience = 20 * time.Second

const (
	plain = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
	// old is what ab sends with -k.
	old = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: bench\r\n\r\n"
)

// Other are the cases that nginx answers otherwise, and as well: it keeps the connection of an old client that says both, and its status
// for a head that is too large is 400.
var Other = []string{"an old client that cannot decide", "a head that is too large"}

// Check fails the test unless the server at address, HOST:PORT, answers everything as it should, but some cases.
func Check(t *testing.T, address string, but ...string) {
	t.Helper()
	const good = "200 text/plain 10 helloworld"
	tests := map[string]struct {
		pieces     []string
		want       []string
		wantClosed bool
	}{
		"a request":                      {pieces: []string{plain}, want: repeat(good, 1)},
		"requests one after the other":   {pieces: repeat(plain, 5), want: repeat(good, 5)},
		"a thousand requests in a write": {pieces: []string{strings.Repeat(plain, 1000)}, want: repeat(good, 1000)},
		"requests byte by byte":          {pieces: strings.Split(plain+plain, ""), want: repeat(good, 2)},
		"requests cut anywhere":          {pieces: []string{plain + plain[:30], plain[30:] + plain[:31], plain[31:]}, want: repeat(good, 3)},
		"the client's wish to close": {
			pieces: []string{plain + "GET / HTTP/1.1\r\nHost: bench\r\nCONNECTION:  Close\r\n\r\n" + plain}, want: repeat(good, 2), wantClosed: true,
		},
		"an old client": {pieces: []string{"GET / HTTP/1.0\r\n\r\n"}, want: repeat(good, 1), wantClosed: true},
		"old clients that keep their connection": {
			pieces: []string{old + old, old, plain + "GET / HTTP/1.0\r\nHost: bench\r\n\r\n"}, want: repeat(good, 5), wantClosed: true,
		},
		"an old client that cannot decide": {
			pieces: []string{"GET / HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n"}, want: repeat(good, 1), wantClosed: true,
		},
		"many headers":                 {pieces: []string{"GET / HTTP/1.1\r\nHost: bench\r\n" + strings.Repeat("X-A: b\r\n", 200) + "\r\n"}, want: repeat(good, 1)},
		"a head that is too large":     {pieces: []string{"GET / HTTP/1.1\r\nHost: bench\r\nX-A: " + strings.Repeat("x", 100_000)}, want: []string{"431"}, wantClosed: true},
		"a good one before a bad one":  {pieces: []string{plain + "nonsense\r\n\r\n"}, want: []string{good, "400"}, wantClosed: true},
		"a length of nothing is a GET": {pieces: []string{"GET / HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\n\r\n"}, want: repeat(good, 1)},
		"a request without a host":     {pieces: []string{"GET / HTTP/1.1\r\n\r\n"}, want: []string{"400"}, wantClosed: true},
		"a request with two hosts":     {pieces: []string{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"}, want: []string{"400"}, wantClosed: true},
	}
	for name, tc := range tests {
		if slices.Contains(but, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, closed := exchange(t, address, tc.pieces, len(tc.want))
			if strings.Join(got, "\n") != strings.Join(tc.want, "\n") || closed != tc.wantClosed {
				t.Errorf("got %d answers, the last %q, closed %v; want the last %q, closed %v", len(got), got[len(got)-1], closed, tc.want[len(tc.want)-1], tc.wantClosed)
			}
		})
	}
	t.Run("heads only", func(t *testing.T) { heads(t, address) })
	for name, tc := range ambiguous {
		if !slices.Contains(but, name) {
			t.Run(name, func(t *testing.T) { tc.check(t, address) })
		}
	}
	t.Run("a client that does not read", func(t *testing.T) { ignore(t, address) })
}

// exchange writes pieces, each a write of its own, and reads the given number of answers. closed says whether the server then
// closed the connection.
func exchange(t *testing.T, address string, pieces []string, answers int) (got []string, closed bool) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		for _, p := range pieces {
			if _, err := io.WriteString(c, p); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	r := bufio.NewReader(c)
	for i := range answers {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("reading answer %d of %d: %v", i+1, answers, err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("reading body %d of %d: %v", i+1, answers, err)
		}
		text := fmt.Sprint(response.StatusCode)
		if response.StatusCode == http.StatusOK {
			text += fmt.Sprintf(" %s %d %s", response.Header.Get("Content-Type"), response.ContentLength, body)
		}
		got = append(got, text)
		closed = response.Close
	}
	if err := <-written; err != nil && !closed {
		t.Fatalf("writing: %v", err)
	}
	if closed {
		if _, err := r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the server said that it would close the connection, and did not: %v", err)
		}
	}
	return got, closed
}

func repeat(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

// ignore pipelines requests without reading an answer, for as long as the server takes them, and then reads all answers. The limit is far
// above what socket buffers hold, which grow by themselves to tens of megabytes on the server's side: only a server that keeps requests
// or answers in its own memory reaches it.
func ignore(t *testing.T, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := errors.Join(c.(*net.TCPConn).SetReadBuffer(64<<10), c.(*net.TCPConn).SetWriteBuffer(64<<10)); err != nil {
		t.Fatal(err)
	}
	const batch, limit = 100, 3_000_000
	text := strings.Repeat(plain, batch)
	sent := 0
	for sent < limit {
		if err := c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := io.WriteString(c, text)
		if sent += batch; err != nil {
			// The server has stopped reading. What is left of this batch is sent when there is room again.
			go func() {
				_ = c.SetWriteDeadline(time.Now().Add(patience))
				_, _ = io.WriteString(c, text[n:])
			}()
			break
		}
	}
	if sent >= limit {
		t.Fatalf("the server took %d requests of a client that reads nothing", sent)
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for i := range sent {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("reading answer %d of %d: %v", i+1, sent, err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
	}
}
