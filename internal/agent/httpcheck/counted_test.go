package httpcheck

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

func hello(body string) record.Request {
	return record.Request{Path: "/", Expect: record.Expect{Status: 200, Body: &body}}
}

func TestCountedSendsExactlyTheRequestsOverExactlyTheConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		requests          int64
		connections, want int
	}{
		"one":                                {1, 1, 1},
		"all over one":                       {25, 1, 1},
		"a number that divides":              {24, 4, 4},
		"a number that does not divide":      {25, 4, 4},
		"one for each":                       {4, 4, 4},
		"fewer than there are connections":   {3, 5, 3},
		"none, over connections that listen": {0, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var seen, opened atomic.Int64
			target := speak(t, func(conn net.Conn) {
				opened.Add(1)
				for in := bufio.NewReader(conn); readRequest(in); {
					seen.Add(1)
					if _, err := io.WriteString(conn, helloAnswer); err != nil {
						return
					}
				}
			})
			got, err := Counted(t.Context(), Server{Address: target}, hello("helloworld"), tc.requests, tc.connections, time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			if got.Requests != tc.requests || int(got.Connections) != tc.want || got.Failed+got.WrongStatus+got.WrongBody != 0 || got.Example != "" {
				t.Errorf("it says %+v", got)
			}
			if seen.Load() != tc.requests || opened.Load() != int64(tc.want) {
				t.Errorf("the server saw %d requests over %d connections", seen.Load(), opened.Load())
			}
		})
	}
}

func TestCountedTellsWrongAnswersAndGoesOn(t *testing.T) {
	for name, tc := range map[string]struct {
		then    string
		status  int64
		body    int64
		example string
	}{
		"a status": {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 14, 0, "GET / answered 503 instead of 200"},
		"a body":   {strings.ReplaceAll(helloAnswer, "world", "WORLD"), 0, 14, `GET / answered the body "helloWORLD" instead of "helloworld"`},
	} {
		t.Run(name, func(t *testing.T) {
			// Each of two connections gets three right answers and seven wrong or missing ones.
			got, err := Counted(t.Context(), Server{Address: speak(t, answersThen(3, tc.then))}, hello("helloworld"), 20, 2, time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			if got.Requests != 20 || got.WrongStatus != tc.status || got.WrongBody != tc.body || got.Failed != 0 || got.Example != tc.example {
				t.Errorf("it says %+v", got)
			}
		})
	}
}

func TestCountedOpensAnotherConnectionForOneThatTheServerEnds(t *testing.T) {
	target := speak(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for range 4 {
			if !readRequest(in) {
				return
			}
			_, _ = io.WriteString(conn, helloAnswer)
		}
	})
	got, err := Counted(t.Context(), Server{Address: target}, hello("helloworld"), 10, 1, time.Now().Add(patience))
	if err != nil || got.Requests != 10 || got.Failed != 0 || got.Connections != 3 {
		t.Errorf("it says %+v, %v", got, err)
	}
}

func TestCountedStopsAConnectionThatIsNotAnswered(t *testing.T) {
	t.Run("the server dies", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = l.Close()
			answersThenEnds(conn, 6)
		}()
		got, err := Counted(t.Context(), Server{Address: l.Addr().String()}, hello("helloworld"), 100, 1, time.Now().Add(patience))
		if err != nil || got.Requests != 7 || got.Failed != 1 || !strings.HasPrefix(got.Example, "GET / got no answer") {
			t.Errorf("it says %+v, %v", got, err)
		}
	})
	t.Run("the deadline cuts a request off", func(t *testing.T) {
		var took time.Duration
		inTime := func(record.Audit) bool { return took < auditPatience } // After that the server would count as hanging.
		got := again(500*time.Millisecond, inTime, func(deadline time.Time) record.Audit {
			began := time.Now()
			defer func() { took = time.Since(began) }()
			return hundred(t, speak(t, answersThen(6, "")), deadline)
		})
		if got.Requests > 6 || got.Failed != 0 {
			t.Errorf("it says %+v", got)
		}
	})
	t.Run("the server hangs until the deadline", func(t *testing.T) {
		got := again(auditPatience+time.Second, func(a record.Audit) bool { return a.Failed > 0 }, func(deadline time.Time) record.Audit {
			return hundred(t, speak(t, answersThen(6, "")), deadline)
		})
		if got.Requests > 7 || got.Failed != 1 || !strings.Contains(got.Example, "no answer within") {
			t.Errorf("it says %+v", got)
		}
	})
	t.Run("nobody waits any more", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		target := speak(t, func(conn net.Conn) {
			answersThen(6, "")(&ending{Conn: conn, after: 6, end: cancel})
		})
		got, err := Counted(ctx, Server{Address: target}, hello("helloworld"), 100, 1, time.Now().Add(patience))
		if err != nil || got.Requests < 6 || got.Requests > 7 || got.Failed > 1 {
			t.Errorf("it says %+v, %v", got, err)
		}
	})
}

func hundred(t *testing.T, target string, deadline time.Time) record.Audit {
	t.Helper()
	got, err := Counted(t.Context(), Server{Address: target}, hello("helloworld"), 100, 1, deadline)
	if err != nil {
		t.Error(err)
	}
	return got
}

func answersThenEnds(conn net.Conn, answers int) {
	in := bufio.NewReader(conn)
	for range answers {
		if readRequest(in) {
			_, _ = io.WriteString(conn, helloAnswer)
		}
	}
	_ = conn.Close()
}

type ending struct {
	net.Conn
	after int
	end   func()
}

func (e *ending) Write(b []byte) (int, error) {
	n, err := e.Conn.Write(b)
	if e.after--; e.after == 0 {
		e.end()
	}
	return n, err
}

func TestARequestThatCannotBeSentIsAnError(t *testing.T) {
	r := record.Request{Path: "/\x7f", Expect: record.Expect{Status: 200}}
	if got, err := Counted(t.Context(), Server{Address: "127.0.0.1:1"}, r, 5, 2, time.Now().Add(patience)); err == nil || got.Requests != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAwaitReturnsWhenTheServerAnswersRightly(t *testing.T) {
	var asked atomic.Int64
	wrong := strings.ReplaceAll(helloAnswer, "200 OK", "503 Busy")
	target := speak(t, func(conn net.Conn) {
		for in := bufio.NewReader(conn); readRequest(in); {
			answer := wrong
			if asked.Add(1) > 3 {
				answer = helloAnswer
			}
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
		}
	})
	before := time.Now()
	at, err := Await(t.Context(), Server{Address: target}, hello("helloworld"), before.Add(patience))
	if err != nil || at.Before(before) || at.After(time.Now()) || asked.Load() != 4 {
		t.Errorf("after %d requests it returns %s, %v", asked.Load(), at, err)
	}
}

func TestAwaitEndsAtItsDeadline(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, tc := range map[string]struct{ target, want string }{
		"nobody listens":   {closed.Addr().String(), "GET / got no answer"},
		"it never answers": {speak(t, answersThen(0, "")), "GET / got no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says := func(err error) bool { return err != nil && strings.HasPrefix(err.Error(), tc.want) }
			err := again(500*time.Millisecond, says, func(deadline time.Time) error {
				at, err := Await(t.Context(), Server{Address: tc.target}, hello("helloworld"), deadline)
				if !at.IsZero() {
					t.Errorf("it was answered at %s", at)
				}
				return err
			})
			if !says(err) {
				t.Errorf("it returns %v; want %q", err, tc.want)
			}
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	target := speak(t, func(conn net.Conn) {
		readRequest(bufio.NewReader(conn))
		cancel()
		_, _ = io.Copy(io.Discard, conn)
	})
	if _, err := Await(ctx, Server{Address: target}, hello("helloworld"), time.Now().Add(time.Hour)); err == nil {
		t.Error("no error")
	}
}
