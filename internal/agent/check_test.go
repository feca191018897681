package agent

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestCheckIsSentAgainOnlyAfterAFailure(t *testing.T) {
	var requests atomic.Int64
	target := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		hello(w, r)
	})
	b := generating(t)
	command := protocol.Command{Check: &protocol.Check{Targets: []string{target}, Requests: []record.Request{cell(1).Request}}}
	want := []string{"GET / answered 503 instead of 200", "", ""}
	for i := range want {
		if state := b.must(command); state.Checked == nil || state.Checked.Message != want[i] || state.Checked.OK() != (want[i] == "") {
			t.Errorf("check %d: %+v, want %q", i, state.Checked, want[i])
		}
	}
	if got := requests.Load(); got != 3 {
		t.Errorf("the server got %d requests, want 3: a failed one, and two of a check that succeeds", got)
	}
	start := starting(time.Hour, cell(1))
	b.must(protocol.Command{Start: &start})
	command.Check.Targets[0] = "127.0.0.1:1"
	if status, _, text := b.command(command); status != http.StatusConflict {
		t.Errorf("a check after the start was answered %d: %s", status, text)
	}
}
