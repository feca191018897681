package agents

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// agentAt answers as an agent would, and is reached under any address.
func agentAt(t *testing.T, key ed25519.PrivateKey, answer http.HandlerFunc) HTTP {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "[2001:db8::1]:7600" {
			return nil, fmt.Errorf("nobody is at %s", address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
	return New(key, &http.Transport{DialContext: dial})
}

const agentIP = "2001:db8::1"

func TestAnOrderComesSignedAndIsAnsweredWithTheState(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	agents := agentAt(t, key, func(w http.ResponseWriter, q *http.Request) {
		var e protocol.Envelope
		if err := json.NewDecoder(q.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		o, err := protocol.Open(public, e, "uid", 2, record.MemberGenerator(0))
		if err != nil || q.Method != http.MethodPost || q.URL.Path != "/v1/command" {
			t.Errorf("%s %s: %v", q.Method, q.URL.Path, err)
		}
		_ = json.NewEncoder(w).Encode(protocol.State{Phase: protocol.Idle, Checked: &protocol.Checked{Message: o.Check.Targets[0]}})
	})
	got, err := agents.Command(t.Context(), agentIP, protocol.Command{Trial: "uid", Attempt: 2, Member: record.MemberGenerator(0), Check: &protocol.Check{Targets: []string{"192.0.2.1:80"}}})
	if err != nil || got.Checked == nil || got.Checked.Message != "192.0.2.1:80" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheClockOfAnAgentIsReadFromTheFastestRoundTrip(t *testing.T) {
	const late = 200 * time.Millisecond
	asked := 0
	var second, fourth time.Time // Between the end of the one and the begin of the other is the third round trip.
	agents := agentAt(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 4 {
			fourth = time.Now()
		}
		now := time.Now().Add(time.Hour)
		if asked != 3 { // All answers but one come late, and tell another time.
			now = now.Add(time.Hour)
			time.Sleep(late)
		}
		if asked == 2 {
			second = time.Now()
		}
		_ = json.NewEncoder(w).Encode(protocol.State{Now: now})
	})
	clock, err := agents.Clock(t.Context(), agentIP)
	if err != nil || asked != clockRounds {
		t.Fatalf("asked %d times, %v", asked, err)
	}
	if third := fourth.Sub(second); third >= late {
		t.Skipf("the machine stood still: the third round trip took up to %s, and may not be the fastest", third)
	}
	if off := clock.Offset - time.Hour; off < -clock.RoundTrip/2 || off > clock.RoundTrip/2 {
		t.Errorf("the offset is wrong by %s, after a round trip of %s", off, clock.RoundTrip)
	}
}

func TestAnAgentThatDoesNotAnswerAsAgentsDoIsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		ip     string
		answer http.HandlerFunc
		want   string
	}{
		"nobody there":   {"192.0.2.1", nil, "nobody is at 192.0.2.1:7600"},
		"a refusal":      {agentIP, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusConflict) }, "the agent at 2001:db8::1 answered 409 Conflict: busy"},
		"something else": {agentIP, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "decoding answer of agent at 2001:db8::1"},
		"far too much": {agentIP, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"message": %q}`, strings.Repeat("x", maxState))
		}, "decoding answer of agent"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := agentAt(t, nil, tc.answer).State(t.Context(), tc.ip); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// A server shares the network namespace of its observer, and may take its port when it can end it.
func TestNobodyIsSentElsewhereByWhatAnAgentAnswers(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			var seen atomic.Int64
			elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				seen.Add(1)
				_ = json.NewEncoder(w).Encode(protocol.State{Phase: protocol.Idle})
			}))
			defer elsewhere.Close()
			// Whatever address it is sent to, it would reach the other server.
			first := httptest.NewServer(http.RedirectHandler("http://elsewhere.example/v1/state", code))
			defer first.Close()
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				to := elsewhere
				if address == net.JoinHostPort(agentIP, "7600") {
					to = first
				}
				return (&net.Dialer{}).DialContext(ctx, network, to.Listener.Addr().String())
			}
			agents := New(key, &http.Transport{DialContext: dial})
			_, asked := agents.State(t.Context(), agentIP)
			_, told := agents.Command(t.Context(), agentIP, protocol.Command{Trial: "uid", Attempt: 1, Member: "server-0"})
			for _, err := range []error{asked, told} {
				refused := (*Refusal)(nil)
				if !errors.As(err, &refused) || refused.Code != code {
					t.Errorf("got %v, want the answer %d itself", err, code)
				}
			}
			if n := seen.Load(); n > 0 {
				t.Errorf("another server has seen %d requests", n)
			}
		})
	}
}

func TestARefusalIsFinalUnlessTimeHelps(t *testing.T) {
	for status, want := range map[int]bool{
		http.StatusBadRequest: true, http.StatusForbidden: true, http.StatusNotFound: true, http.StatusUnprocessableEntity: true,
		http.StatusConflict: false, http.StatusRequestTimeout: false, http.StatusTooManyRequests: false,
		http.StatusInternalServerError: false, http.StatusServiceUnavailable: false,
	} {
		agents := agentAt(t, nil, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no slots", status) })
		_, err := agents.State(t.Context(), agentIP)
		refused := (*Refusal)(nil)
		if !errors.As(err, &refused) || refused.Final() != want || refused.Message != "no slots" {
			t.Errorf("%d is %v, %+v; want it final: %v", status, err, refused, want)
		}
	}
}
