package agent

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestAnAgentAnswersThroughAPipe(t *testing.T) {
	config := Config{Trial: testTrial, Attempt: testAttempt, Member: "server-0", Dir: t.TempDir()}
	own, err := config.Observer(1)
	if err != nil {
		t.Fatal(err)
	}
	a := New(t.Context(), config, observe.New(own))
	in, commands := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- a.ServePipe(in, out) }()
	ask, read := json.NewEncoder(commands), json.NewDecoder(answers)
	for name, tc := range map[string]struct {
		command protocol.Command
		refused string
	}{
		"nothing is asked":       {protocol.Command{}, ""},
		"a start without a slot": {protocol.Command{Start: &protocol.Start{Targets: []string{"127.0.0.1:1"}}}, "no slots"},
		"two commands in one":    {protocol.Command{Start: &protocol.Start{}, Store: &protocol.Store{}}, "exactly one"},
	} {
		if err := ask.Encode(tc.command); err != nil {
			t.Fatal(err)
		}
		var got Answer
		if err := read.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got.State.Member != "server-0" || got.State.Phase != protocol.Idle || !strings.Contains(got.Refused, tc.refused) || (tc.refused == "") != (got.Refused == "") {
			t.Errorf("%s: it answers %+v", name, got)
		}
	}
	if err := commands.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v when the pipe does", err)
	}
}
