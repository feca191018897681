package httpcheck

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func ok(path string) record.Request {
	return record.Request{Path: path, Expect: record.Expect{Status: 200}}
}

func TestCheck(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			http.NotFound(w, r)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/long":
			_, _ = w.Write([]byte(strings.Repeat("x", 100)))
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			_, _ = w.Write([]byte("helloworld"))
		}
	})
	text := func(s string) *string { return &s }
	tests := map[string]struct {
		target   string
		requests []record.Request
		want     string
	}{
		"nothing to compare but the status": {requests: []record.Request{ok("/")}},
		"the body that is expected":         {requests: []record.Request{{Path: "/", Expect: record.Expect{Status: 200, Body: text("helloworld")}}}},
		"a status that is expected":         {requests: []record.Request{{Path: "/missing", Expect: record.Expect{Status: 404}}}},
		"another body": {
			requests: []record.Request{{Path: "/", Expect: record.Expect{Status: 200, Body: text("hello")}}},
			want:     `GET / answered the body "helloworld" instead of "hello"`,
		},
		"a body where none is expected": {
			requests: []record.Request{{Path: "/", Expect: record.Expect{Status: 200, Body: text("")}}},
			want:     `GET / answered the body "helloworld" instead of ""`,
		},
		"a long body": {
			requests: []record.Request{{Path: "/long", Expect: record.Expect{Status: 200, Body: text("x")}}},
			want:     `GET /long answered the body "` + strings.Repeat("x", 80) + `"... (100 bytes) instead of "x"`,
		},
		"another status":             {requests: []record.Request{ok("/"), ok("/missing?a=b")}, want: "GET /missing?a=b answered 404 instead of 200"},
		"a redirect is not followed": {requests: []record.Request{ok("/moved")}, want: "GET /moved answered 302 instead of 200"},
		"no answer":                  {requests: []record.Request{ok("/broken")}, want: "GET /broken got no answer: EOF"},
		"nobody there": {
			target: "127.0.0.1:1", requests: []record.Request{ok("/")},
			want: "GET / got no answer: dial tcp 127.0.0.1:1: connect: connection refused",
		},
		"a path that is not one": {requests: []record.Request{ok("/%zz")}, want: `GET /%zz cannot be sent: invalid URL escape "%zz"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.target == "" {
				tc.target = target
			}
			answers, err := Check(t.Context(), Server{Address: tc.target}, tc.requests)
			if tc.want != "" {
				if err == nil || err.Error() != tc.want {
					t.Errorf("Check() = %v\nwant      %s", err, tc.want)
				}
				return
			}
			if err != nil || len(answers) != len(tc.requests) {
				t.Errorf("Check() = %d answers, %v; want %d", len(answers), err, len(tc.requests))
			}
		})
	}
}

// A network may learn of new pods later than their agents do.
func TestAServerThatCannotBeReachedYetIsAskedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		time.Sleep(4 * againEvery)
		late, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		_ = server.Serve(late) // It is closed with the test.
	}()
	request := record.Request{Path: "/", Expect: record.Expect{Status: http.StatusNotFound}}
	if _, err := Check(t.Context(), Server{Address: address}, []record.Request{request}); err != nil {
		t.Error(err)
	}
}

func TestTheNetworkIsToldFromTheServer(t *testing.T) {
	for _, network := range []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM} {
		if err := unanswered("GET /", &net.OpError{Op: "dial", Err: network}, checkLimit); !Unreachable(err) {
			t.Errorf("%v passes for the server's", err)
		}
	}
	if err := unanswered("GET /", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, checkLimit); Unreachable(err) {
		t.Errorf("%v passes for the network's", err)
	}
}
