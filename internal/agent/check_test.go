package agent

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
)

func TestCheck(t *testing.T) {
	target := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
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
			hello(w, r)
		}
	})
	text := func(s string) *string { return &s }
	tests := map[string]struct {
		target   string
		requests []v1alpha1.Request
		want     string
	}{
		"nothing to compare but the status": {requests: []v1alpha1.Request{{Path: "/"}}, want: "ok"},
		"the body that is expected":         {requests: []v1alpha1.Request{{Path: "/", Expect: v1alpha1.Expect{Status: 200, Body: text("helloworld")}}}, want: "ok"},
		"a status that is expected":         {requests: []v1alpha1.Request{{Path: "/missing", Expect: v1alpha1.Expect{Status: 404}}}, want: "ok"},
		"another body": {
			requests: []v1alpha1.Request{{Path: "/", Expect: v1alpha1.Expect{Body: text("hello")}}},
			want:     `GET / answered the body "helloworld" instead of "hello"`,
		},
		"a body where none is expected": {
			requests: []v1alpha1.Request{{Path: "/", Expect: v1alpha1.Expect{Body: text("")}}},
			want:     `GET / answered the body "helloworld" instead of ""`,
		},
		"a long body": {
			requests: []v1alpha1.Request{{Path: "/long", Expect: v1alpha1.Expect{Body: text("x")}}},
			want:     `GET /long answered the body "` + strings.Repeat("x", 80) + `"... (100 bytes) instead of "x"`,
		},
		"another status":             {requests: []v1alpha1.Request{{Path: "/"}, {Path: "/missing?a=b"}}, want: "GET /missing?a=b answered 404 instead of 200"},
		"a redirect is not followed": {requests: []v1alpha1.Request{{Path: "/moved"}}, want: "GET /moved answered 302 instead of 200"},
		"no answer":                  {requests: []v1alpha1.Request{{Path: "/broken"}}, want: "GET /broken was not answered: EOF"},
		"nobody there": {
			target: "127.0.0.1:1", requests: []v1alpha1.Request{{Path: "/"}},
			want: "GET / was not answered: dial tcp 127.0.0.1:1: connect: connection refused",
		},
		"a path that is not one": {requests: []v1alpha1.Request{{Path: "/%zz"}}, want: `GET /%zz cannot be sent: invalid URL escape "%zz"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.target == "" {
				tc.target = target
			}
			b := newBench(t, withTool(fakeTool{}))
			state := b.must(protocol.Order{Check: &protocol.Check{Target: tc.target, Request: tc.requests}})
			if state.Checked != tc.want {
				t.Errorf("Checked = %q\nwant      %q", state.Checked, tc.want)
			}
		})
	}
}

func TestCheckIsSentAgainOnlyAfterAFailure(t *testing.T) {
	var requests atomic.Int64
	target := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		hello(w, r)
	})
	b := newBench(t, withTool(fakeTool{}))
	order := protocol.Order{Check: &protocol.Check{Target: target, Request: []v1alpha1.Request{{Path: "/"}}}}
	want := []string{"GET / answered 503 instead of 200", "ok", "ok"}
	for i := range want {
		if state := b.must(order); state.Checked != want[i] {
			t.Errorf("check %d: %q, want %q", i, state.Checked, want[i])
		}
	}
	if got := requests.Load(); got != 2 {
		t.Errorf("the server got %d requests, want 2", got)
	}
	start := protocol.Start{At: time.Now().Add(time.Hour), Target: target, Slots: protocol.Timetable([]v1alpha1.Cell{cell(1, 0)})}
	b.must(protocol.Order{Start: &start})
	order.Check.Target = "127.0.0.1:1"
	if status, _, text := b.order(order); status != http.StatusConflict {
		t.Errorf("a check after the start was answered %d: %s", status, text)
	}
}
