// Package conformance sends requests that all servers of package workloads must answer identically.
package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	plain = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
	old   = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: bench\r\n\r\n"
)

// Other are cases where nginx differs legitimately: it keeps the connection of an old client that sends both options, and answers 400 to a
// large head.
var Other = []string{"an old client that cannot decide", "a head that is too large"}

// Check fails the test unless the server at HOST:PORT answers all cases correctly, except some.
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
			attempt(t, func() error {
				got, closed, err := exchange(address, tc.pieces, len(tc.want))
				if err != nil {
					return err
				}
				if strings.Join(got, "\n") != strings.Join(tc.want, "\n") || closed != tc.wantClosed {
					return fmt.Errorf("got %d answers, the last %q, closed %v; want the last %q, closed %v", len(got), got[len(got)-1], closed, tc.want[len(tc.want)-1], tc.wantClosed)
				}
				return nil
			})
		})
	}
	t.Run("heads only", func(t *testing.T) { attempt(t, func() error { return heads(address) }) })
	for name, tc := range ambiguous {
		if !slices.Contains(but, name) {
			t.Run(name, func(t *testing.T) { attempt(t, func() error { return tc.check(address) }) })
		}
	}
	t.Run("a client that does not read", func(t *testing.T) { attempt(t, func() error { return ignore(address) }) })
	t.Run("clients that take their time", func(t *testing.T) { attempt(t, func() error { return crowd(address) }) })
}

// Ask fails the test unless the server answers n sequential requests.
func Ask(t *testing.T, address string, n int) {
	t.Helper()
	if _, _, err := exchange(address, repeat(plain, n), n); err != nil {
		t.Fatal(err)
	}
}

const (
	// hurry is less than the servers' timeouts. A slower attempt on a busy machine proves nothing.
	hurry = 5 * time.Second
	tries = 5
)

// attempt fails the test if try fails, but retries if the servers' timeouts may have caused it.
func attempt(t *testing.T, try func() error) {
	t.Helper()
	for n := 1; ; n++ {
		begin := time.Now()
		err := try()
		took := time.Since(begin)
		switch {
		case err == nil:
			return
		case took < hurry || n == tries:
			t.Fatal(err)
		}
		t.Logf("trying again, for it took %v: %v", took, err)
	}
}

func repeat(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}
