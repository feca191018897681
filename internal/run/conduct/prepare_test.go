package conduct_test

import (
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestServersAreReadyBeforeGeneratorsCheckThemOneByOne(t *testing.T) {
	both := []record.Implementation{{Name: "go", Port: 8080, Build: record.Expectations{Static: record.ExpectRequired}}, {Name: "epoll", Port: 8080}}
	loaded := sweep.Sweep{Cells: []record.Cell{{Tool: record.ToolWrk, Connections: 1}}, Implementations: both}
	program := microbenchmark.Microbenchmark{Program: both[1]}
	deaf, ready := conduct.Seen{Since: noon}, conduct.Seen{State: protocol.State{Listening: true}}
	built := ready
	built.State.Build = &record.Build{Static: record.Fact{Is: record.Yes}}
	unlike := ready
	unlike.State.Build = &record.Build{Static: record.Fact{Is: record.No}}
	unasked := conduct.Seen{Agent: "the agent"}
	mute, passed, refused := unasked, unasked, unasked
	mute.Asked = true
	passed.State.Checked = &protocol.Checked{}
	refused.State.Checked = &protocol.Checked{Fault: protocol.FaultLoad, Message: "the script does not compile"}
	list := func(seen ...conduct.Seen) []conduct.Seen { return seen }
	for name, tc := range map[string]struct {
		work                kind.Work
		after               time.Duration
		servers, generators []conduct.Seen
		next                conduct.Preparation
		of                  int
		failure             string
	}{
		"no server listens":                  {loaded, 0, list(deaf, deaf), list(unasked), conduct.AwaitServer, 0, ""},
		"the second server does not":         {loaded, 0, list(built, deaf), list(unasked), conduct.AwaitServer, 1, ""},
		"it still does not":                  {loaded, conduct.ListenDeadline + 1, list(built, deaf), list(unasked), conduct.AwaitServer, 1, "permanent ServerNotListening: implementations[epoll]"},
		"the first was built in another way": {loaded, 0, list(unlike, deaf), list(unasked), conduct.Prepared, 0, "permanent BuildMismatch: implementations[go]"},
		"no generator was asked":             {loaded, 0, list(built, ready), list(unasked, unasked), conduct.AskCheck, 0, ""},
		"the first has checked":              {loaded, 0, list(built, ready), list(passed, unasked), conduct.AskCheck, 1, ""},
		"one was asked and says nothing":     {loaded, 0, list(built, ready), list(mute, unasked), conduct.Prepared, 0, "transient AgentFailed: the agent accepted a preflight check but reported no result"},
		"one has checked in vain":            {loaded, 0, list(built, ready), list(passed, refused), conduct.Prepared, 1, "permanent LoadImpossible: the script does not compile"},
		"all have checked":                   {loaded, 0, list(built, ready), list(passed, passed), conduct.Prepared, 0, ""},
		"a program whose parent is not up":   {program, 0, list(deaf), nil, conduct.AwaitServer, 0, ""},
		"a program, which nobody checks":     {program, 0, list(ready), nil, conduct.Prepared, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			trial := trialOf(0, "go", duet)
			next, of, f := attemptAt(tc.after, func(a *conduct.Attempt) { a.Work = tc.work }).Prepare(trial, tc.servers, tc.generators)
			got := describe(f)
			if next != tc.next || of != tc.of || !strings.HasPrefix(got, tc.failure) || (got == "") != (tc.failure == "") {
				t.Errorf("next %d of %d, %q; want %d of %d, %q", next, of, got, tc.next, tc.of, tc.failure)
			}
		})
	}
}
