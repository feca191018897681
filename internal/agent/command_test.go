package agent

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestOrdersThatAreRefused(t *testing.T) {
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := idle(t)
	mine := func(o protocol.Command) protocol.Command {
		o.Trial, o.Attempt, o.Member = testTrial, testAttempt, record.MemberGenerator(0)
		return o
	}
	start := func(change func(*protocol.Start)) protocol.Command {
		s := starting(time.Hour, cell(1), cell(2))
		change(&s)
		return mine(protocol.Command{Start: &s})
	}
	other := start(func(*protocol.Start) {})
	other.Trial = "another"
	tests := map[string]struct {
		key     ed25519.PrivateKey
		command protocol.Command
		want    int
	}{
		"a signature of somebody else":       {stranger, start(func(*protocol.Start) {}), http.StatusForbidden},
		"a command for another trial":        {b.key, other, http.StatusForbidden},
		"a command that asks for nothing":    {b.key, mine(protocol.Command{}), http.StatusUnprocessableEntity},
		"a command that asks for two things": {b.key, mine(protocol.Command{Check: &protocol.Check{}, Store: &protocol.Store{}}), http.StatusUnprocessableEntity},
		"a store before anything is held":    {b.key, mine(protocol.Command{Store: &protocol.Store{}}), http.StatusConflict},
		"a start without slots":              {b.key, start(func(s *protocol.Start) { s.Slots = nil }), http.StatusUnprocessableEntity},
		"a start in the past":                {b.key, start(func(s *protocol.Start) { s.At = time.Now().Add(-time.Minute) }), http.StatusUnprocessableEntity},
		"a start with a path as a load":      {b.key, start(func(s *protocol.Start) { s.Slots[0].Cell.Load = "../x" }), http.StatusUnprocessableEntity},
		"a start with one cell twice":        {b.key, start(func(s *protocol.Start) { s.Slots[1].Cell = s.Slots[0].Cell }), http.StatusUnprocessableEntity},
		"a start out of order":               {b.key, start(func(s *protocol.Start) { s.Slots[1].Measure = 0 }), http.StatusUnprocessableEntity},
		"a start of another number of TLS":   {b.key, start(func(s *protocol.Start) { s.TLS = make([]*record.TLS, 2) }), http.StatusUnprocessableEntity},
		"a start without a port":             {b.key, start(func(s *protocol.Start) { s.Targets[0] = "127.0.0.1" }), http.StatusUnprocessableEntity},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if status, _, text := b.seal(tc.key, tc.command); status != tc.want {
				t.Errorf("answered %d: %s; want %d", status, text, tc.want)
			}
		})
	}
	t.Run("something that is no command", func(t *testing.T) {
		if status, _, text := b.post([]byte("{")); status != http.StatusBadRequest {
			t.Errorf("answered %d: %s", status, text)
		}
	})
	if s := b.state(); s.Phase != protocol.Idle {
		t.Errorf("after refused commands the agent is %s", s.Phase)
	}
}

func TestAStartWithoutAPlaceForTheSecondServerIsRefused(t *testing.T) {
	b := idle(t)
	duet := cell(1)
	duet.Order = record.OrderSlicedDuet
	start := starting(time.Second, duet)
	start.Targets = append(start.Targets, "nowhere")
	if status, _, text := b.command(protocol.Command{Start: &start}); status != http.StatusUnprocessableEntity || !strings.Contains(text, "target 1 of the start is not host:port") {
		t.Errorf("answered %d: %s", status, text)
	}
	start.Targets = start.Targets[:1]
	if status, _, text := b.command(protocol.Command{Start: &start}); status != http.StatusUnprocessableEntity || !strings.Contains(text, "slot 0 of the start is for 2 servers, and the start has 1 targets") {
		t.Errorf("answered %d: %s", status, text)
	}
}

// The largest scripts must fit into a command next to the largest plan of a trial.
func TestTheLargestScriptsFitIntoAnOrder(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	const largestPlan = 3 << 19 // The cluster's store accepts this much per object.
	body := strings.Repeat("x", largestPlan)
	e, err := protocol.Seal(key, protocol.Command{Check: &protocol.Check{
		Cells:   []record.Cell{{Request: record.Request{Expect: record.Expect{Body: &body}}}},
		Scripts: []protocol.Script{{Load: "web", Text: make([]byte, protocol.MaxScripts)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if sealed, err := json.Marshal(e); err != nil || len(sealed) > maxCommand {
		t.Errorf("the command has %d bytes, an agent takes %d: %v", len(sealed), maxCommand, err)
	}
}
