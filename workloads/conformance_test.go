package workloads_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait of a test.
const patience = 20 * time.Second

const (
	plain = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
	// old is what ab sends with -k.
	old = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: bench\r\n\r\n"
)

// workload is a running server.
type workload struct {
	address string
	cmd     *exec.Cmd
	log     *strings.Builder
}

func builds(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("running %q: %v\n%s", args, err, out)
		}
	}
	programs := map[string]string{"gohttp": filepath.Join(dir, "gohttp"), "gnet": filepath.Join(dir, "gnet"), "faulty": filepath.Join(dir, "faulty")}
	run("go", "build", "-o", dir, "./gohttp", "./gnet", "./faulty")
	if _, err := exec.LookPath("cc"); err != nil {
		t.Log("there is no C compiler: epoll is not tested")
		return programs
	}
	programs["epoll"] = filepath.Join(dir, "epoll")
	run("make", "-s", "-C", "epoll", "epoll-asan", "OUT="+programs["epoll"])
	if err := exec.CommandContext(t.Context(), "pkg-config", "--exists", "libuv", "libxxhash").Run(); err != nil {
		t.Log("libuv and xxHash are not there, as far as pkg-config knows: uvhttp is not tested")
		return programs
	}
	programs["uvhttp"] = filepath.Join(dir, "uvhttp-asan")
	run("make", "-s", "-C", "uvhttp", "asan", "OUT="+dir)
	return programs
}

// start runs a server on a port that was free a moment ago.
func start(t *testing.T, program string) *workload {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	w := &workload{address: address, log: &strings.Builder{}}
	w.cmd = exec.CommandContext(t.Context(), program, "--port="+port)
	w.cmd.Stdout, w.cmd.Stderr = w.log, w.log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return w
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen: %v", program, err)
		}
	}
}

// stop ends a server with SIGTERM and checks that it ended well: a sanitizer's complaint is a bad end.
func (w *workload) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("sending SIGTERM: %v", err)
	}
	hung := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
	defer hung.Stop()
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("the server ended badly: %v\n%s", err, w.log)
	}
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

func TestConformance(t *testing.T) {
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
	}
	for program, path := range builds(t) {
		t.Run(program, func(t *testing.T) {
			server := start(t, path)
			defer server.stop(t)
			for name, tc := range tests {
				t.Run(name, func(t *testing.T) {
					got, closed := exchange(t, server.address, tc.pieces, len(tc.want))
					if strings.Join(got, "\n") != strings.Join(tc.want, "\n") || closed != tc.wantClosed {
						t.Errorf("got %d answers, the last %q, closed %v; want the last %q, closed %v", len(got), got[len(got)-1], closed, tc.want[len(tc.want)-1], tc.wantClosed)
					}
				})
			}
			t.Run("a client that does not read", func(t *testing.T) { ignore(t, server.address) })
		})
	}
}

// ignore pipelines requests without reading an answer, for as long as the server takes them, and then reads all answers.
func ignore(t *testing.T, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const batch, limit = 100, 400_000
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
