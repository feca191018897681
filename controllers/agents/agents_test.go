package agents

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// way is how requests go, without a network: no answer is ever too late.
type way func(*http.Request) (*http.Response, error)

func (w way) RoundTrip(q *http.Request) (*http.Response, error) { return w(q) }

const agentIP = "2001:db8::1"

// agentAt answers as an agent would that is alone in its network.
func agentAt(t *testing.T, key ed25519.PrivateKey, answer http.HandlerFunc) HTTP {
	t.Helper()
	return New(key, way(func(q *http.Request) (p *http.Response, err error) {
		if q.URL.Host != "["+agentIP+"]:7600" {
			return nil, fmt.Errorf("nobody is at %s", q.URL.Host)
		}
		defer func() {
			switch panicked := recover(); panicked {
			case nil:
			case http.ErrAbortHandler:
				err = io.ErrUnexpectedEOF
			default:
				panic(panicked)
			}
		}()
		answered := httptest.NewRecorder()
		answer(answered, q)
		return answered.Result(), nil
	}))
}

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
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		agents := agentAt(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			half, ahead := 100*time.Millisecond, 2*time.Hour
			if asked++; asked == 3 { // All answers but one come late, and tell another time.
				half, ahead = time.Millisecond, time.Hour
			}
			time.Sleep(half)
			now := time.Now().Add(ahead)
			time.Sleep(half)
			_ = json.NewEncoder(w).Encode(protocol.State{Now: now})
		})
		clock, err := agents.Clock(t.Context(), agentIP)
		if want := (Clock{Offset: time.Hour, RoundTrip: 2 * time.Millisecond}); err != nil || asked != clockRounds || clock != want {
			t.Errorf("asked %d times, it is %+v, %v; want %+v", asked, clock, err, want)
		}
	})
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
			seen := 0
			agents := New(key, way(func(q *http.Request) (*http.Response, error) {
				answered := httptest.NewRecorder()
				if q.URL.Host == "["+agentIP+"]:7600" {
					http.Redirect(answered, q, "http://elsewhere.example/v1/state", code)
				} else { // Whatever address it is sent to, it would reach another server.
					seen++
					_ = json.NewEncoder(answered).Encode(protocol.State{Phase: protocol.Idle})
				}
				return answered.Result(), nil
			}))
			_, asked := agents.State(t.Context(), agentIP)
			_, told := agents.Command(t.Context(), agentIP, protocol.Command{Trial: "uid", Attempt: 1, Member: "server-0"})
			for _, err := range []error{asked, told} {
				refused := (*Refusal)(nil)
				if !errors.As(err, &refused) || refused.Code != code {
					t.Errorf("got %v, want the answer %d itself", err, code)
				}
			}
			if seen > 0 {
				t.Errorf("another server has seen %d requests", seen)
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
