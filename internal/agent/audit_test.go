package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

const helloAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhelloworld"

// answersThen answers some requests of the connection well and then says something else, or nothing.
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

func TestAudit(t *testing.T) {
	const wait = 300 * time.Millisecond
	tests := map[string]struct {
		server func(net.Conn)
		// want is what must be true of the audit; example its first words.
		want    func(record.Audit) bool
		example string
	}{
		"right answers": {server: says(helloAnswer), want: func(a record.Audit) bool { return a.Requests > 1 && a.WrongStatus+a.WrongBody+a.Failed == 0 }},
		"a status that changes": {
			server: answersThen(3, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
			want: func(a record.Audit) bool {
				return a.WrongStatus > 0 && a.WrongStatus == a.Requests-3 && a.WrongBody+a.Failed == 0
			},
			example: "GET / answered 503 instead of 200",
		},
		"a body that changes": {
			server: answersThen(3, strings.ReplaceAll(helloAnswer, "world", "WORLD")),
			want: func(a record.Audit) bool {
				return a.WrongBody > 0 && a.WrongBody == a.Requests-3 && a.WrongStatus+a.Failed == 0
			},
			example: `GET / answered the body "helloWORLD" instead of "helloworld"`,
		},
		"a connection for each answer": {
			server: says(strings.ReplaceAll(helloAnswer, "\r\n\r\n", "\r\nConnection: close\r\n\r\n")),
			want:   func(a record.Audit) bool { return a.Requests > 1 && a.WrongStatus+a.WrongBody+a.Failed == 0 },
		},
		"a connection that is closed between answers": {
			server: func(c net.Conn) { readRequest(bufio.NewReader(c)); _, _ = io.WriteString(c, helloAnswer) },
			want:   func(a record.Audit) bool { return a.Requests > 1 && a.WrongStatus+a.WrongBody+a.Failed == 0 },
		},
		"a server that closes every connection": {
			server:  func(c net.Conn) { readRequest(bufio.NewReader(c)) },
			want:    func(a record.Audit) bool { return a.Failed > 0 && a.Failed == a.Requests },
			example: "GET / was not answered: ",
		},
		"a server that never answers": {
			server: answersThen(0, ""), want: func(a record.Audit) bool {
				return a == record.Audit{Requests: 1, Failed: 1, Connections: 1, Example: a.Example}
			},
			example: "GET / was not answered: no answer within ",
		},
		"an answer that the end cuts off": {
			server: answersThen(3, ""), want: func(a record.Audit) bool { return a == record.Audit{Requests: 3, Connections: 1} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := speak(t, tc.server)
			text, err := request(target, "/")
			if err != nil {
				t.Fatal(err)
			}
			e := expectation{what: "GET /", status: 200, known: true, body: []byte("helloworld"), bytes: 10}
			deadline := time.Now().Add(wait)
			got := *audit(t.Context(), target, text, e, deadline)
			if !tc.want(got) || !strings.HasPrefix(got.Example, tc.example) || (tc.example == "") != (got.Example == "") {
				t.Errorf("got %+v", got)
			}
			if late := time.Since(deadline); late > patience {
				t.Errorf("the audit ended %v late", late)
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
		"an answer that would take longer than the cell": {server: answersThen(0, ""), limit: 200 * time.Millisecond, want: record.Audit{Connections: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := speak(t, tc.server)
			text, err := request(target, "/")
			if err != nil {
				t.Fatal(err)
			}
			a := &auditor{
				target: target, request: text, deadline: time.Now().Add(tc.limit), measured: began,
				expect: expectation{what: "GET /", status: 200, known: true, body: []byte("helloworld"), bytes: 10},
			}
			a.at(t.Context(), soon)
			a.hangUp()
			got := a.found
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

func TestHowManyAnswersAreAudited(t *testing.T) {
	for name, tc := range map[string]struct {
		cell     v1alpha1.Cell
		searched int32
		want     int
	}{
		"one a second":                      {cell: v1alpha1.Cell{DurationSeconds: 10}, want: 10},
		"two at least":                      {cell: v1alpha1.Cell{DurationSeconds: 1}, want: 2},
		"a thousandth of a low rate":        {cell: v1alpha1.Cell{DurationSeconds: 10, RequestsPerSecond: 300}, want: 3},
		"one of a very low rate":            {cell: v1alpha1.Cell{DurationSeconds: 10, RequestsPerSecond: 5}, want: 1},
		"one a second at a high rate":       {cell: v1alpha1.Cell{DurationSeconds: 10, RequestsPerSecond: 50_000}, want: 10},
		"a thousandth of the rate searched": {cell: v1alpha1.Cell{DurationSeconds: 10}, searched: 200, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := audits(tc.cell, tc.searched); got != tc.want {
				t.Errorf("audits() = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestWhenAnswersAreAudited(t *testing.T) {
	from := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	cell := v1alpha1.Cell{Load: "sweep", Connections: 10}
	draw := func(trial string) []time.Time { return instants(chance(trial, cell), 5, from, from.Add(5*time.Second)) }
	got := draw("a")
	for i, at := range got {
		if begin := from.Add(time.Duration(i) * time.Second); at.Before(begin) || !at.Before(begin.Add(time.Second)) {
			t.Errorf("instant %d is %v, outside of its second", i, at)
		}
	}
	if diff := cmp.Diff(got, draw("a")); diff != "" || len(got) != 5 {
		t.Errorf("the same trial has others the second time (-first +second):\n%s", diff)
	}
	if cmp.Equal(got, draw("b")) {
		t.Error("another trial has the same instants")
	}
	if late := instants(chance("a", cell), 5, from, from.Add(-time.Second)); late != nil {
		t.Errorf("a time that is over has the instants %v", late)
	}
}

func TestAuditOfNobody(t *testing.T) {
	e := expectation{what: "GET /", status: 200}
	got := audit(t.Context(), "127.0.0.1:1", []byte("GET / HTTP/1.1\r\n\r\n"), e, time.Now().Add(50*time.Millisecond))
	const want = "GET / was not answered: dial tcp 127.0.0.1:1: connect: connection refused"
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
	go func() {
		ended <- audit(ctx, target, []byte("GET / HTTP/1.1\r\n\r\n"), expectation{}, time.Now().Add(time.Hour))
	}()
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

func TestOpening(t *testing.T) {
	proc := kernel.Proc(kerneltest.Proc(t, nil))
	n, err := kernel.OpenNetwork(proc.Path(7, "net"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if at := lookForOpening(t.Context(), n, 5).end(); at != nil {
		t.Errorf("a connection was seen at %v where none was opened", at)
	}
	began := time.Now()
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/net/snmp": kerneltest.SNMP(6, 0, 0, 0)})
	at := lookForOpening(t.Context(), n, 5).end()
	if at == nil || at.Before(began) || time.Since(*at) < 0 {
		t.Errorf("the first connection was seen at %v", at)
	}
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/net/snmp": fmt.Sprintln("Tcp:")})
	if at := lookForOpening(t.Context(), n, 5).end(); at != nil {
		t.Errorf("a connection was seen at %v where nothing can be read", at)
	}
}
