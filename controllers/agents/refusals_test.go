package agents

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

// A refusal ends in the status of a trial: it is short, names the agent and, even if wrapped, says whether it is final.
func TestARefusedCommandSaysWhoRefusedAndWhy(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		code  int
		body  string
		want  string
		final bool
	}{
		"a command that makes no sense": {http.StatusUnprocessableEntity, "no slots\n", "the agent at 2001:db8::1 answered 422 Unprocessable Entity: no slots", true},
		"a signature of somebody else":  {http.StatusForbidden, "not for this agent", "the agent at 2001:db8::1 answered 403 Forbidden: not for this agent", true},
		"an agent of an older protocol": {http.StatusNotFound, "404 page not found\n", "the agent at 2001:db8::1 answered 404 Not Found: 404 page not found", true},
		"an agent that is busy":         {http.StatusConflict, "a check is being made", "the agent at 2001:db8::1 answered 409 Conflict: a check is being made", false},
		"an agent that stumbles":        {http.StatusInternalServerError, "", "the agent at 2001:db8::1 answered 500 Internal Server Error: ", false},
		"an answer without end":         {http.StatusBadRequest, strings.Repeat("x", 10*maxQuoted), "the agent at 2001:db8::1 answered 400 Bad Request: " + strings.Repeat("x", maxQuoted-3) + "...", true},
		"what a terminal would obey":    {http.StatusBadRequest, "\x1b[2J\u202e", `the agent at 2001:db8::1 answered 400 Bad Request: \x1b[2J\u202e`, true},
		"a redirection, which is none":  {http.StatusNotModified, "", "the agent at 2001:db8::1 answered 304 Not Modified: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			agents := agentAt(t, key, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				if tc.body != "" {
					fmt.Fprint(w, tc.body)
				}
			})
			_, err := agents.Command(t.Context(), agentIP, protocol.Command{Trial: "uid", Attempt: 1, Member: "server-0"})
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
			refused := (*Refusal)(nil)
			if !errors.As(fmt.Errorf("starting: %w", err), &refused) || refused.Code != tc.code || refused.Final() != tc.final {
				t.Errorf("it is final: %+v, want %v", refused, tc.final)
			}
		})
	}
}

// No answer is not a refusal.
func TestSilenceIsNoRefusal(t *testing.T) {
	for name, ask := range map[string]func() error{
		"nobody there": func() error {
			_, err := agentAt(t, nil, nil).State(t.Context(), "192.0.2.1")
			return err
		},
		"an answer that breaks off": func() error {
			_, err := agentAt(t, nil, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }).State(t.Context(), agentIP)
			return err
		},
		"an answer that is no state": func() error {
			_, err := agentAt(t, nil, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") }).State(t.Context(), agentIP)
			return err
		},
		"a clock that nobody keeps": func() error {
			_, err := agentAt(t, nil, nil).Clock(t.Context(), "192.0.2.1")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := ask()
			refused := (*Refusal)(nil)
			if err == nil || errors.As(err, &refused) {
				t.Errorf("got %v, want an error that is no refusal", err)
			}
		})
	}
}
