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

const helloAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhelloworld"

// answersThen gives some right answers, then sends something else or nothing.
func answersThen(good int, then string) func(net.Conn) {
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for i := 0; readRequest(in); i++ {
			text := helloAnswer
			if i >= good {
				text = then
			}
			if text == "" {
				continue
			}
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

const patience = 2 * time.Minute

// again retries until enough happened before the deadline, for busy machines.
func again[T any](wait time.Duration, enough func(T) bool, try func(deadline time.Time) T) T {
	for end := time.Now().Add(patience); ; {
		got := try(time.Now().Add(wait))
		if enough(got) || time.Now().After(end) {
			return got
		}
	}
}

func expecting(body string) Expectation {
	return Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200, Body: &body}})
}

func auditing(t *testing.T, target string, e Expectation, deadline time.Time) *Auditor {
	t.Helper()
	a, err := NewAuditor(Server{Address: target}, []Expectation{e}, deadline)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAudit(t *testing.T) {
	const wait = time.Second // Less than an answer may take.
	tests := map[string]struct {
		server  func(net.Conn)
		least   int64
		want    func(record.Audit) bool
		example string
	}{
		"right answers": {server: says(helloAnswer), least: 2, want: func(a record.Audit) bool { return a.WrongStatus+a.WrongBody+a.Failed == 0 }},
		"a status that changes": {
			server: answersThen(3, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
			least:  4,
			want: func(a record.Audit) bool {
				return a.WrongStatus == a.Requests-3 && a.WrongBody+a.Failed == 0
			},
			example: "GET / answered 503 instead of 200",
		},
		"a body that changes": {
			server: answersThen(3, strings.ReplaceAll(helloAnswer, "world", "WORLD")),
			least:  4,
			want: func(a record.Audit) bool {
				return a.WrongBody == a.Requests-3 && a.WrongStatus+a.Failed == 0
			},
			example: `GET / answered the body "helloWORLD" instead of "helloworld"`,
		},
		"a connection for each answer": {
			server: says(strings.ReplaceAll(helloAnswer, "\r\n\r\n", "\r\nConnection: close\r\n\r\n")),
			least:  2,
			want:   func(a record.Audit) bool { return a.WrongStatus+a.WrongBody+a.Failed == 0 },
		},
		"a connection that is closed between answers": {
			server: func(c net.Conn) { readRequest(bufio.NewReader(c)); _, _ = io.WriteString(c, helloAnswer) },
			least:  2,
			want:   func(a record.Audit) bool { return a.WrongStatus+a.WrongBody+a.Failed == 0 },
		},
		"a server that closes every connection": {
			server:  func(c net.Conn) { readRequest(bufio.NewReader(c)) },
			least:   1,
			want:    func(a record.Audit) bool { return a.Failed == a.Requests },
			example: "GET / got no answer: ",
		},
		"a server that never answers": {
			server: answersThen(0, ""), least: 1, want: func(a record.Audit) bool {
				return a == record.Audit{Requests: 1, Failed: 1, Connections: 1, Example: a.Example}
			},
			example: "GET / got no answer within ",
		},
		"an answer that the end cuts off": {
			server: answersThen(3, ""), least: 3, want: func(a record.Audit) bool { return a == record.Audit{Requests: 3, Connections: 1} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := speak(t, tc.server)
			got := again(wait, func(a record.Audit) bool { return a.Requests >= tc.least }, func(deadline time.Time) record.Audit {
				return *auditing(t, target, expecting("helloworld"), deadline).Warmup(t.Context())
			})
			if got.Requests < tc.least || !tc.want(got) || !strings.HasPrefix(got.Example, tc.example) || (tc.example == "") != (got.Example == "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAuditOfTheMeasuredTime(t *testing.T) {
	began := time.Now()
	soon := make([]time.Time, 6)
	for i := range soon {
		soon[i] = began.Add(time.Duration(i) * time.Millisecond)
	}
	tests := map[string]struct {
		server  func(net.Conn)
		limit   time.Duration
		want    record.Audit
		example string
	}{
		"right answers over one connection": {server: says(helloAnswer), limit: patience, want: record.Audit{Requests: 6, Connections: 1}},
		"a body that changes": {
			server: answersThen(2, strings.ReplaceAll(helloAnswer, "world", "WORLD")), limit: patience,
			want: record.Audit{Requests: 6, WrongBody: 4, Connections: 1}, example: `GET / answered the body "helloWORLD" instead of "helloworld" (`,
		},
		"a status that changes": {
			server: answersThen(2, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), limit: patience,
			want: record.Audit{Requests: 6, WrongStatus: 4, Connections: 1}, example: "GET / answered 503 instead of 200 (",
		},
		"a connection for each answer": {
			server: says(strings.ReplaceAll(helloAnswer, "\r\n\r\n", "\r\nConnection: close\r\n\r\n")), limit: patience,
			want: record.Audit{Requests: 6, Connections: 6},
		},
		"an answer that would take longer than the cell": {server: answersThen(0, ""), limit: 800 * time.Millisecond, want: record.Audit{Connections: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := speak(t, tc.server)
			got := again(tc.limit, func(a record.Audit) bool { return a.Connections > 0 }, func(deadline time.Time) record.Audit {
				return *auditing(t, target, expecting("helloworld"), deadline).Measured(t.Context(), began, soon)
			})
			if !strings.HasPrefix(got.Example, tc.example) || tc.example != "" && !strings.HasSuffix(got.Example, " s after the load began)") {
				t.Errorf("the example is %q, want %q", got.Example, tc.example)
			}
			got.Example = ""
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestAuditOfNobody(t *testing.T) {
	got := again(200*time.Millisecond, func(a *record.Audit) bool { return a.Requests > 0 }, func(deadline time.Time) *record.Audit {
		return auditing(t, "127.0.0.1:1", Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200}}), deadline).Warmup(t.Context())
	})
	const want = "GET / got no answer: dial tcp 127.0.0.1:1: connect: connection refused"
	if got.Failed < 1 || got.Failed != got.Requests || got.Example != want {
		t.Errorf("got %+v, want the example %q", *got, want)
	}
}

func TestAuditEndsWithItsContext(t *testing.T) {
	var connections atomic.Int64
	target := speak(t, func(c net.Conn) {
		connections.Add(1)
		_, _ = io.Copy(io.Discard, c)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan *record.Audit)
	auditor := auditing(t, target, Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200}}), time.Now().Add(time.Hour))
	go func() { ended <- auditor.Warmup(ctx) }()
	for connections.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case got := <-ended:
		if got.Failed != 0 {
			t.Errorf("a request that was called off has failed: %+v", *got)
		}
	case <-time.After(patience):
		t.Fatal("the audit went on after its end")
	}
}
