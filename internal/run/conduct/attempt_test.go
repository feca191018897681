package conduct_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/kind/profile"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// cellTime is the length of each of the two cells, lastEnd the end of the second.
const (
	cellTime = 10*time.Second + tool.LeastGap
	lastEnd  = 2 * cellTime
)

// attemptAt is a first attempt that began at noon, seen later.
func attemptAt(later time.Duration, deltas ...func(*conduct.Attempt)) conduct.Attempt {
	cell := record.Cell{Load: "sweep", Tool: record.ToolWrk, Connections: 10, Threads: 1, DurationSeconds: 10}
	a := conduct.Attempt{Number: 1, Work: sweep.Sweep{Cells: []record.Cell{cell, cell}}, Begun: noon, Now: noon.Add(later)}
	for _, d := range deltas {
		d(&a)
	}
	return a
}

func told(a *conduct.Attempt) { a.Started = noon }

func third(a *conduct.Attempt) { a.Number = 3 }

func warm(a *conduct.Attempt) {
	cells := slices.Clone(a.Work.(sweep.Sweep).Cells)
	cells[0].WarmupSeconds = 2
	a.Work = sweep.Sweep{Cells: cells}
}

func TestCellsAreCountedByTheClock(t *testing.T) {
	for later, want := range map[time.Duration]struct {
		done int
		next time.Duration
	}{
		0: {0, cellTime}, cellTime - 1: {0, 1}, cellTime: {1, cellTime}, lastEnd - 1: {1, 1}, lastEnd: {2, 0},
	} {
		a := attemptAt(later, told)
		if a.CellsDone() != want.done || a.NextEnd() != want.next {
			t.Errorf("after %s %d cells are done and the next ends in %s, want %+v", later, a.CellsDone(), a.NextEnd(), want)
		}
	}
	if n := attemptAt(time.Hour).CellsDone(); n != 0 {
		t.Errorf("an attempt that was not started has done %d cells", n)
	}
}

func TestNobodyIsAskedWhileLoadIsMeasured(t *testing.T) {
	for name, tc := range map[string]struct {
		attempt          conduct.Attempt
		measuring, quiet bool
	}{
		"before the start is set":    {attemptAt(time.Hour), false, false},
		"before the start":           {attemptAt(-time.Second, told), false, false},
		"in the first warm-up":       {attemptAt(time.Second, told, warm), false, false},
		"in the first cell":          {attemptAt(time.Second, told), true, true},
		"in the last cell":           {attemptAt(lastEnd-1, told), true, true},
		"when the last cell is over": {attemptAt(lastEnd, told), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if m, q := tc.attempt.Measuring(), tc.attempt.Quiet(); m != tc.measuring || q != tc.quiet {
				t.Errorf("measuring: %v, quiet: %v", m, q)
			}
		})
	}
}

func TestAnAttemptIsFollowedByAnotherOnlyAfterTheInfrastructureFailedItEarly(t *testing.T) {
	lost := conduct.TransientFailure(v1alpha1.ReasonPodLost, "gone")
	wrong := conduct.PermanentFailure(v1alpha1.ReasonWrongResponse, "404")
	over := conduct.View{Ended: v1alpha1.ReasonTimedOut}.GiveUp(conduct.Trial{})
	for name, tc := range map[string]struct {
		attempt conduct.Attempt
		failure *conduct.Failure
		want    bool
	}{
		"infrastructure, before the start":          {attemptAt(time.Second), lost, true},
		"infrastructure, in the warm-up":            {attemptAt(time.Second, told, warm), lost, true},
		"infrastructure, under load":                {attemptAt(time.Second, told), lost, false},
		"infrastructure, for the third time":        {attemptAt(time.Second, third), lost, false},
		"the implementation, before the start":      {attemptAt(time.Second), wrong, false},
		"the implementation, under load":            {attemptAt(time.Second, told), wrong, false},
		"nobody, since the run has ended meanwhile": {attemptAt(time.Second), over, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.attempt.Retried(tc.failure); got != tc.want {
				t.Errorf("it is tried again: %v", got)
			}
		})
	}
	for block, want := range map[int32]bool{1: false, 0: true} {
		a := conduct.Trial{PlannedTrial: record.PlannedTrial{Block: block}, Work: attemptAt(0).Work, Started: noon}.Attempt(1, noon.Add(time.Second))
		if !a.Measuring() || a.Retried(lost) != want {
			t.Errorf("a trial of block %d that was lost under load is tried again: %v", block, !want)
		}
	}
	if got := attemptAt(0).Note(lost); got != "attempt 1: PodLost: gone" {
		t.Errorf("the note is %q", got)
	}
}

func TestAServersStartIsReckonedByTheClockOfItsNode(t *testing.T) {
	server := record.Implementation{Name: "go", Port: 8080}
	for name, tc := range map[string]struct {
		ahead time.Duration
		ran   time.Duration
		fails bool
	}{
		"clocks agree, in time":                     {0, conduct.ListenDeadline, false},
		"clocks agree, too late":                    {0, conduct.ListenDeadline + time.Second, true},
		"the node is a minute behind, in time":      {-time.Minute, conduct.ListenDeadline, false},
		"the node is a minute behind, too late":     {-time.Minute, conduct.ListenDeadline + time.Second, true},
		"the node is an hour ahead, and it is late": {time.Hour, conduct.ListenDeadline + time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := attemptAt(tc.ran)
			since := noon.Add(tc.ahead)
			if f := a.NotListening(server, since, protocol.State{Now: since.Add(tc.ran)}); (f != nil) != tc.fails {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestEveryWaitOfATrialHasItsDeadline(t *testing.T) {
	refused := errors.New("connection refused")
	server := record.Implementation{Name: "go", Port: 8080}
	silent := func(a conduct.Attempt) *conduct.Failure { return a.AgentSilent("the agent", refused) }
	deaf := func(a conduct.Attempt) *conduct.Failure { return a.NotListening(server, noon, protocol.State{}) }
	scripts := func(a conduct.Attempt) *conduct.Failure { return a.InputsAway(refused) }
	away := func(a conduct.Attempt) *conduct.Failure { return a.StoreAway(refused) }
	upload := func(a conduct.Attempt) *conduct.Failure {
		return a.NotUploaded("server", protocol.State{StoreError: "503"})
	}
	missed := func(a conduct.Attempt) *conduct.Failure { return a.StartMissed("the agent", a.Now) }
	busy := func(a conduct.Attempt) *conduct.Failure {
		_, f := a.AgentsBusy(protocol.State{Member: "server", Phase: protocol.Running})
		return f
	}
	slow := server
	slow.Container.Readiness = record.Readiness{Path: "/ready", Seconds: 90}
	patient := func(a *conduct.Attempt) {
		a.Work = sweep.Sweep{Cells: a.Work.(sweep.Sweep).Cells, Implementations: []record.Implementation{server, slow}}
	}
	unready := func(a conduct.Attempt) *conduct.Failure { return a.NotListening(slow, noon, protocol.State{}) }
	unread := func(a conduct.Attempt) *conduct.Failure { return a.NotListening(slow, noon, protocol.State{Up: true}) }
	for name, tc := range map[string]struct {
		ask      func(conduct.Attempt) *conduct.Failure
		deadline time.Duration
		deltas   []func(*conduct.Attempt)
		// want is the failure just after the deadline; at the deadline there is none.
		want string
	}{
		"agents start":                        {silent, conduct.PrepareDeadline, nil, "transient AgentLost: the agent is not responding: connection refused"},
		"agents of a patient run start":       {silent, conduct.PrepareDeadline, []func(*conduct.Attempt){func(a *conduct.Attempt) { a.Patience = 3 * time.Hour }}, "transient AgentLost: the agent is not responding"},
		"agents tell that they have ended":    {silent, lastEnd + conduct.StoreDeadline, []func(*conduct.Attempt){told}, "transient AgentLost: the agent is not responding"},
		"agents of a patient run tell so":     {silent, lastEnd + 3*time.Hour, []func(*conduct.Attempt){told, func(a *conduct.Attempt) { a.Patience = 3 * time.Hour }}, "transient AgentLost: the agent is not responding"},
		"agents of a slow server start":       {silent, conduct.PrepareDeadline + 60*time.Second, []func(*conduct.Attempt){patient}, "transient AgentLost: the agent is not responding"},
		"the server is ready":                 {unready, 90 * time.Second, nil, "permanent ServerNotListening: implementations[go] did not answer GET /ready on port 8080 with a status of 2xx within 1m30s of its start: check readiness, port and command"},
		"the server listens":                  {deaf, conduct.ListenDeadline, nil, "permanent ServerNotListening: implementations[go] did not listen on port 8080 within 30s of its start: check port and command"},
		"the server is read":                  {unread, 90*time.Second + conduct.ReadDeadline, nil, "transient AgentLost: the observer of implementations[go] has not read its server within 2m0s of its start"},
		"scripts are read":                    {scripts, conduct.PrepareDeadline, nil, "transient StoreUnavailable: the run's scripts or bodies cannot be read: connection refused"},
		"agents are told to start":            {missed, 0, []func(*conduct.Attempt){told}, "transient AgentLost: the agent did not receive its start in time"},
		"agents end their last cell":          {busy, lastEnd + conduct.AgentGrace, []func(*conduct.Attempt){told}, "transient AgentLost: the agent (server) was still busy 30s after the last cell"},
		"files are uploaded":                  {upload, lastEnd + conduct.StoreDeadline, []func(*conduct.Attempt){told}, "transient UploadFailed: artifacts of server could not be stored within 10m0s: 503"},
		"files of a patient run are uploaded": {upload, lastEnd + 3*time.Hour, []func(*conduct.Attempt){told, func(a *conduct.Attempt) { a.Patience = 3 * time.Hour }}, "transient UploadFailed: artifacts of server could not be stored within 3h0m0s: 503"},
		"the store takes what it keeps":       {away, lastEnd + conduct.StoreDeadline, []func(*conduct.Attempt){told}, "transient UploadFailed: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if f := tc.ask(attemptAt(tc.deadline, tc.deltas...)); f != nil {
				t.Errorf("at the deadline it is given up: %s", describe(f))
			}
			if got := describe(tc.ask(attemptAt(tc.deadline+1, tc.deltas...))); !strings.HasPrefix(got, tc.want) {
				t.Errorf("after the deadline: %q, want %q", got, tc.want)
			}
		})
	}
}

// An operator that was down longer than the store may be has not asked yet.
func TestFilesAreStoredOnceHoweverLateItIs(t *testing.T) {
	late := attemptAt(lastEnd+time.Hour, told)
	for name, tc := range map[string]struct {
		state protocol.State
		fails bool
	}{
		"nobody has asked":      {protocol.State{}, false},
		"they are being stored": {protocol.State{Uploading: true, StoreError: "503"}, false},
		"they were refused":     {protocol.State{StoreError: "503"}, true},
	} {
		if f := late.NotUploaded("server", tc.state); (f != nil) != tc.fails {
			t.Errorf("%s: %s", name, describe(f))
		}
	}
}

func TestAStoreThatIsSlowIsLookedAtSeldom(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{0: 20 * time.Millisecond, time.Second: 100 * time.Millisecond, time.Minute: time.Second} {
		if got := attemptAt(lastEnd+after, told).StorePause(); got != want {
			t.Errorf("%s after the last cell it is looked at after %s, want %s", after, got, want)
		}
	}
}

func TestMembersHaveThreeMinutesToRunAndThePatienceOfTheRun(t *testing.T) {
	patience := func(d time.Duration) func(*conduct.Attempt) { return func(a *conduct.Attempt) { a.Patience = d } }
	database := func(a *conduct.Attempt) {
		slow := record.Dependency{Name: "db", Port: 5432, Container: record.Container{Readiness: record.Readiness{Seconds: 90}}}
		a.Work = sweep.Sweep{Implementations: []record.Implementation{{Name: "go", Dependencies: []record.Dependency{slow}}}}
	}
	for name, tc := range map[string]struct {
		after  time.Duration
		deltas []func(*conduct.Attempt)
		left   time.Duration
	}{
		"after a minute":                       {time.Minute, nil, 2 * time.Minute},
		"after three":                          {conduct.PrepareDeadline, nil, 0},
		"of a run that has little patience":    {time.Minute, []func(*conduct.Attempt){patience(time.Second)}, 2 * time.Minute},
		"of a run that has more":               {time.Minute, []func(*conduct.Attempt){patience(20 * time.Minute)}, 19 * time.Minute},
		"with a database that may take 90 s":   {time.Minute, []func(*conduct.Attempt){database}, 2*time.Minute + 90*time.Second},
		"with such a database, and a patience": {time.Minute, []func(*conduct.Attempt){database, patience(20 * time.Minute)}, 19*time.Minute + 90*time.Second},
	} {
		if left := attemptAt(tc.after, tc.deltas...).PrepareLeft(); left != tc.left {
			t.Errorf("%s: %s are left, want %s", name, left, tc.left)
		}
	}
}

func TestTheStartLeavesTimeToTellEverybody(t *testing.T) {
	try := func(number int32) func(*conduct.Attempt) { return func(a *conduct.Attempt) { a.Number = number } }
	many := func(a *conduct.Attempt) {
		a.Work = sweep.Sweep{Generators: record.Generators{Pods: 16}, Implementations: make([]record.Implementation, 1)}
	}
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Attempt)
		want   time.Duration
	}{
		"the first attempt":            {nil, conduct.StartLead},
		"the second":                   {[]func(*conduct.Attempt){try(2)}, time.Second},
		"the third":                    {[]func(*conduct.Attempt){try(3)}, 4 * time.Second},
		"sixteen generators, a server": {[]func(*conduct.Attempt){many}, 850 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			a := attemptAt(time.Second, tc.deltas...)
			if got := a.StartAt().Sub(a.Now); got != tc.want {
				t.Errorf("it leaves %s, want %s", got, tc.want)
			}
		})
	}
}

func TestAnAgentIsAwaitedAfterTheLastCell(t *testing.T) {
	for phase, want := range map[protocol.Phase]struct {
		busy    bool
		failure string
	}{
		protocol.Idle:     {false, "transient AgentLost: the agent (generator-0) never received its start"},
		protocol.Running:  {true, ""},
		protocol.Measured: {false, ""},
		protocol.Stored:   {false, ""},
	} {
		busy, f := attemptAt(lastEnd, told).AgentsBusy(protocol.State{Member: "generator-0", Phase: phase})
		if busy != want.busy || describe(f) != want.failure {
			t.Errorf("%s: busy %v, %q", phase, busy, describe(f))
		}
	}
}

// A start that no agent received costs an attempt, not a block, whenever it is noticed.
func TestAnAttemptThatNeverBeganIsMadeAgain(t *testing.T) {
	idle, running := protocol.State{Member: "server-0", Phase: protocol.Idle}, protocol.State{Member: "generator-0", Phase: protocol.Running}
	late := func(work ...func(*conduct.Attempt)) conduct.Attempt { return attemptAt(lastEnd, append(work, told)...) }
	missed := func(states ...protocol.State) *conduct.Failure {
		return late().StartMissed("the agent", late().Now, states...)
	}
	for name, tc := range map[string]struct {
		failure *conduct.Failure
		again   bool
	}{
		"the only agent has missed its start": {missed(idle), true},
		"all have missed it":                  {missed(idle, idle), true},
		"another has got it":                  {missed(idle, running), false},
		"nobody knows of the others":          {missed(), false},
		"it is seen at the end of all":        {busyOf(late(), idle, idle), true},
		"of one, at the end of all":           {busyOf(late(), idle, running), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := late().Retried(tc.failure); got != tc.again {
				t.Errorf("%s: it is tried again: %v", describe(tc.failure), got)
			}
			if last := attemptAt(lastEnd, told, func(a *conduct.Attempt) { a.Number = plan.Attempts }); last.Retried(tc.failure) {
				t.Error("it is tried again after the last attempt")
			}
		})
	}
}

func busyOf(a conduct.Attempt, states ...protocol.State) *conduct.Failure {
	_, f := a.AgentsBusy(states...)
	return f
}

func TestWhatEndsAnAttemptIsTheImplementationsOrTheInfrastructures(t *testing.T) {
	server := record.Implementation{Name: "go", MemoryBytes: 64 << 20}
	single, pair := trialOf(0, "go"), trialOf(0, "go", duet)
	program := func(f protocol.Fault, message string) protocol.State {
		return protocol.State{Phase: protocol.Failed, Program: &protocol.ProgramFault{Fault: f, Message: message}}
	}
	wrong := func(server int) *protocol.Checked {
		return &protocol.Checked{Fault: protocol.FaultServer, Message: "GET / answered 404", Server: server}
	}
	for name, tc := range map[string]struct {
		failure *conduct.Failure
		want    string
	}{
		"a server ends":            {conduct.ServerExited(sweep.Sweep{}, server, conduct.Exit{Code: 2, Reason: "Error", LastWords: "panic: oh"}), `permanent ServerExited: implementations[go] exited (exit code 2, Error, last output: "panic: oh")`},
		"a server ends in silence": {conduct.ServerExited(sweep.Sweep{}, server, conduct.Exit{Reason: "Completed"}), "permanent ServerExited: implementations[go] exited (exit code 0, Completed)"},
		"a server is too large":    {conduct.ServerExited(sweep.Sweep{}, server, conduct.Exit{Code: 137, OutOfMemory: true}), "permanent ServerExited: implementations[go] was killed because it exceeded its memory of 64Mi: raise implementations[].memory"},
		"a profiler is too large": {
			conduct.ServerExited(profile.Profile{Server: server, Profile: record.Profile{Tool: profiler.Memcheck}}, server, conduct.Exit{Code: 137, OutOfMemory: true}),
			"permanent ProgramFailed: implementations[go] was killed because it exceeded its memory of 448Mi (64Mi for the server, the rest for its profiler): raise implementations[].memory",
		},
		"a server is killed":                  {conduct.ServerExited(sweep.Sweep{}, server, conduct.Exit{Code: 137, Reason: "Error"}), "transient PodLost: another process killed implementations[go]; memory was not the cause (exit code 137, Error)"},
		"a server fills its disk":             {conduct.DiskFull(sweep.Sweep{}, server, "", "Container server exceeded its limit. "), "permanent ServerExited: implementations[go] was evicted because it filled its disk: write or print less, or raise the size of its scratch: Container server exceeded its limit."},
		"a program fills its disk":            {conduct.DiskFull(microbenchmark.Microbenchmark{}, server, "", "so it was"), "permanent ProgramFailed: implementations[go] was evicted because it filled its disk"},
		"the operator fails":                  {conduct.OperatorFailed(errors.New("a panic")), "transient OperatorFailed: a panic"},
		"an agent ends":                       {conduct.AgentExited("the observer", conduct.Exit{Code: 1, Reason: "Error"}), "transient AgentLost: the observer exited (exit code 1, Error)"},
		"an agent is too large":               {conduct.AgentExited("the observer", conduct.Exit{Code: 137, Reason: "OOMKilled", OutOfMemory: true}), "transient AgentLost: the observer exited (exit code 137, OOMKilled)"},
		"an agent cannot work":                {conduct.AgentFailed(single, "the agent", protocol.State{Phase: protocol.Failed, Message: "no wrk"}), "transient AgentFailed: the agent: no wrk"},
		"a program fails":                     {conduct.AgentFailed(single, "the agent", program(protocol.FaultExit, "exit code 3")), "permanent ProgramFailed: implementations[go]: exit code 3"},
		"a program takes too long":            {conduct.AgentFailed(single, "the agent", program(protocol.FaultLimit, "it had not ended after 5s")), "permanent ProgramTimedOut: implementations[go]: it had not ended"},
		"a program prints nonsense":           {conduct.AgentFailed(single, "the agent", program(protocol.FaultOutput, "line 3")), "permanent OutputUnreadable: implementations[go]: line 3"},
		"its output is stored":                {conduct.ProgramFailed(single, program(protocol.FaultExit, "exit code 3"), []string{"a/output.txt", "a/errors.txt"}), "permanent ProgramFailed: implementations[go]: exit code 3; its output is stored as a/output.txt and a/errors.txt"},
		"a program that was fine":             {conduct.ProgramFailed(single, protocol.State{Phase: protocol.Stored}, []string{"a/output.txt"}), ""},
		"an agent works":                      {conduct.AgentFailed(single, "the agent", protocol.State{Phase: protocol.Running}), ""},
		"a check is passed":                   {conduct.Checked(single, "the agent", &protocol.Checked{}), ""},
		"a check is forgotten":                {conduct.Checked(single, "the agent", nil), "transient AgentFailed: the agent accepted a preflight check but reported no result"},
		"an answer is wrong":                  {conduct.Checked(single, "the agent", wrong(0)), "permanent WrongResponse: implementations[go]: GET / answered 404: correct the server, or request and expect of the load"},
		"the other's is wrong":                {conduct.Checked(pair, "the agent", wrong(1)), "permanent WrongResponse: implementations[epoll]: GET / answered 404: correct"},
		"a lone server has a second":          {conduct.Checked(single, "the agent", wrong(1)), "permanent WrongResponse: implementations[go]: GET / answered 404: correct"},
		"the network does not let it through": {conduct.Checked(pair, "the agent", &protocol.Checked{Fault: protocol.FaultNetwork, Message: "no route to host", Server: 1}), "transient AgentFailed: the agent cannot reach implementations[epoll], which listens: no route to host: check for a NetworkPolicy or firewall between them"},
		"TLS is not what it should":           {conduct.Checked(pair, "the agent", &protocol.Checked{Fault: protocol.FaultTLS, Message: "its certificate is out of date", Server: 1}), "permanent WrongResponse: implementations[epoll]: its certificate is out of date"},
		"a load cannot be made":               {conduct.Checked(single, "the agent", &protocol.Checked{Fault: protocol.FaultLoad, Message: "the script does not compile"}), "permanent LoadImpossible: the script does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			got := describe(tc.failure)
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}
