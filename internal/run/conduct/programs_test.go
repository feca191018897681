package conduct_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// programLimit is the longest time of a program.
const programLimit = 60 * time.Second

var (
	program    = microbenchmark.Microbenchmark{Program: record.Implementation{Name: "old"}, Programs: record.Programs{LimitSeconds: 60}}
	programEnd = timetable.End(program.Slots())
)

func ofProgram(a *conduct.Attempt) { a.Work = program }

// programsOf is a run at noon of two programs, old and new, that started a minute ago.
func programsOf(t *testing.T, blocks int32, deltas ...func(*conduct.Run)) conduct.Run {
	t.Helper()
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "old", Image: "bench:1", Command: []string{"/bench"}}, {Name: "new", Image: "bench:2", Command: []string{"/bench"}}},
		Baseline:        "old", Blocks: blocks, Seed: 7, TimeoutSeconds: 3600,
		Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest, LimitSeconds: int32(programLimit.Seconds())},
	}, plan.Options{Name: "parsers", UID: "run-uid-1234"})
	if err != nil {
		t.Fatal(err)
	}
	r := conduct.Run{Name: "parsers", Plan: p, Started: noon.Add(-time.Minute), Now: noon}
	for _, d := range deltas {
		d(&r)
	}
	return r
}

// took stores a trial for each time; a time of 0 means only begun.
func took(times ...time.Duration) func(*conduct.Run) {
	return func(r *conduct.Run) {
		for i, d := range times {
			line := r.Plan.Trials[i]
			trial := conduct.Trial{PlannedTrial: line, Work: kinds.Planned(r.Plan.Plan, line), Reason: v1alpha1.ReasonInProgress, Started: r.Now}
			if d > 0 {
				trial.Started, trial.Ended = r.Now.Add(-d), r.Now
				trial.Reason, trial.Stored = v1alpha1.ReasonDone, &record.Artifact{Key: line.Name}
			}
			r.Trials = append(r.Trials, trial)
		}
	}
}

func state(phases ...protocol.Phase) []protocol.State {
	var states []protocol.State
	for _, phase := range phases {
		states = append(states, protocol.State{Phase: phase})
	}
	return states
}

func TestTheEndOfAProgramIsAwaitedAsLongAsItRunsAndNoLonger(t *testing.T) {
	for name, tc := range map[string]struct {
		after  time.Duration
		phases []protocol.Phase
		want   time.Duration
	}{
		"it runs":                              {2 * time.Second, []protocol.Phase{protocol.Running}, 500 * time.Millisecond},
		"it has run for long":                  {programEnd / 2, []protocol.Phase{protocol.Running}, time.Second},
		"its start is yet to come":             {-200 * time.Millisecond, []protocol.Phase{protocol.Idle}, 300 * time.Millisecond},
		"it has only begun":                    {0, []protocol.Phase{protocol.Idle}, 100 * time.Millisecond},
		"its time is nearly over":              {programEnd - 300*time.Millisecond, []protocol.Phase{protocol.Running}, 300 * time.Millisecond},
		"it has ended long before its limit":   {time.Second, []protocol.Phase{protocol.Measured}, 0},
		"its files are stored":                 {time.Second, []protocol.Phase{protocol.Stored}, 0},
		"it has failed":                        {time.Second, []protocol.Phase{protocol.Failed}, 0},
		"one of two runs":                      {time.Second, []protocol.Phase{protocol.Measured, protocol.Running}, 250 * time.Millisecond},
		"both of two have ended":               {time.Second, []protocol.Phase{protocol.Measured, protocol.Stored}, 0},
		"its slot is over and it still runs":   {programEnd, []protocol.Phase{protocol.Running}, 0},
		"its slot is long over and it is busy": {programEnd + time.Minute, []protocol.Phase{protocol.Running}, -time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := attemptAt(tc.after, told, ofProgram).AwaitEnd(state(tc.phases...)...); got != tc.want {
				t.Errorf("it is looked at again in %s, want %s", got, tc.want)
			}
		})
	}
}

// Agents of a sweep are silent while they measure, so only the clock tells.
func TestTheEndOfASweepIsAwaitedByTheClock(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		time.Second: cellTime - time.Second, cellTime: cellTime, lastEnd - 1: 1, lastEnd: 0, lastEnd + time.Second: -time.Second,
	} {
		for _, phase := range []protocol.Phase{protocol.Idle, protocol.Running, protocol.Measured} {
			if got := attemptAt(after, told).AwaitEnd(state(phase)...); got != want {
				t.Errorf("after %s, %s: it is awaited for %s, want %s", after, phase, got, want)
			}
		}
	}
}

func TestAProgramIsMeasuredFromItsStartAndMayBeAskedAtAnyTime(t *testing.T) {
	for name, tc := range map[string]struct {
		attempt   conduct.Attempt
		measuring bool
		done      int
	}{
		"before the start is set": {attemptAt(time.Hour, ofProgram), false, 0},
		"before the start":        {attemptAt(-1, told, ofProgram), false, 0},
		"at the start":            {attemptAt(0, told, ofProgram), true, 0},
		"at its limit":            {attemptAt(programLimit, told, ofProgram), true, 0},
		"when its slot is over":   {attemptAt(programEnd, told, ofProgram), true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if a := tc.attempt; a.Measuring() != tc.measuring || a.Quiet() || a.CellsDone() != tc.done {
				t.Errorf("measuring: %v, quiet: %v, done: %d", a.Measuring(), a.Quiet(), a.CellsDone())
			}
		})
	}
}

func TestAProgramThatHasBegunIsNotTriedAgain(t *testing.T) {
	lost := conduct.TransientFailure(v1alpha1.ReasonPodLost, "gone")
	failed := conduct.ServerExited(program, program.Program, conduct.Exit{Code: 3, Reason: "Error"})
	for name, tc := range map[string]struct {
		attempt conduct.Attempt
		failure *conduct.Failure
		want    bool
	}{
		"its node is lost before it begins":         {attemptAt(time.Second, ofProgram), lost, true},
		"its node is lost between order and start":  {attemptAt(-1, told, ofProgram), lost, true},
		"its node is lost while it runs":            {attemptAt(time.Second, told, ofProgram), lost, false},
		"its node is lost before it begins, thrice": {attemptAt(time.Second, third, ofProgram), lost, false},
		"it fails": {attemptAt(time.Second, told, ofProgram), failed, false},
		"its image cannot be started, before a start": {attemptAt(time.Second, ofProgram), failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.attempt.Retried(tc.failure); got != tc.want {
				t.Errorf("it is tried again: %v", got)
			}
		})
	}
}

func TestTheParentOfAProgramIsLoadstonesOwn(t *testing.T) {
	server := record.Implementation{Name: "old", Port: 8080}
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Attempt)
		want   string
	}{
		"a server that does not listen":          {nil, "permanent ServerNotListening: implementations[old] did not listen on port 8080"},
		"a program whose parent does not answer": {[]func(*conduct.Attempt){ofProgram}, "transient AgentLost: the agent in the image of implementations[old] was not ready within 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			since := noon.Add(time.Minute)
			if f := attemptAt(time.Minute+conduct.ListenDeadline, tc.deltas...).NotListening(server, since, protocol.State{}); f != nil {
				t.Errorf("at the deadline it is given up: %s", describe(f))
			}
			f := attemptAt(time.Minute+conduct.ListenDeadline+1, tc.deltas...).NotListening(server, since, protocol.State{})
			if got := describe(f); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// After the end of a program, its limit no longer matters.
func TestWhatFollowsTheEndOfAProgramIsAwaitedFromItsEnd(t *testing.T) {
	const took = time.Second
	away := errors.New("connection refused")
	for name, tc := range map[string]struct {
		ask      func(conduct.Attempt) *conduct.Failure
		patience time.Duration
	}{
		"the collector": {func(a conduct.Attempt) *conduct.Failure { return a.AgentSilent("the collector", away) }, conduct.StoreDeadline},
		"the store":     {func(a conduct.Attempt) *conduct.Failure { return a.StoreAway(away) }, conduct.StoreDeadline},
		"the store that a collector tries": {func(a conduct.Attempt) *conduct.Failure {
			return a.NotUploaded("server-0", protocol.State{StoreError: "503"})
		}, conduct.StoreDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			hasEnded := func(a *conduct.Attempt) { a.Ended = a.Started.Add(took) }
			deadline := attemptAt(0, told, ofProgram, hasEnded).End().Add(tc.patience).Sub(noon)
			if f := tc.ask(attemptAt(deadline, told, ofProgram, hasEnded)); f != nil {
				t.Errorf("at the deadline it is given up: %s", describe(f))
			}
			if f := tc.ask(attemptAt(deadline+1, told, ofProgram, hasEnded)); f == nil {
				t.Error("after the deadline it is still awaited")
			}
			if f := tc.ask(attemptAt(deadline+1, told, ofProgram)); f != nil {
				t.Errorf("before the end was seen it is given up: %s", describe(f))
			}
		})
	}
}

// Before the end of a program, waits count from its slot, which includes its limit.
func TestAnAgentOfAProgramIsAwaitedBeyondTheProgramsLimit(t *testing.T) {
	running := protocol.State{Member: "server-0", Phase: protocol.Running}
	for after, want := range map[time.Duration]string{
		programLimit + 1:                            "",
		programEnd + conduct.AgentGrace:             "",
		programEnd + conduct.AgentGrace + 1:         "transient AgentLost: the agent (server-0) was still busy 30s after the last cell",
		programEnd + conduct.AgentGrace + time.Hour: "transient AgentLost: the agent (server-0) was still busy 30s after the last cell",
	} {
		if busy, f := attemptAt(after, told, ofProgram).AgentsBusy(running); !busy || describe(f) != want {
			t.Errorf("after %s: busy %v, %q; want %q", after, busy, describe(f), want)
		}
		f := attemptAt(after, told, ofProgram).AgentSilent("the collector", errors.New("connection refused"))
		if lost := after > programEnd+conduct.StoreDeadline; (f != nil) != lost {
			t.Errorf("after %s: a silent collector gives %q", after, describe(f))
		}
	}
}

func TestOnlyTheEndOfAProgramCanBeAsItShouldBe(t *testing.T) {
	own := record.Implementation{Name: "old", MemoryBytes: 64 << 20}
	for name, tc := range map[string]struct {
		exit conduct.Exit
		want string
	}{
		"it has done its work": {conduct.Exit{Reason: "Completed"}, ""},
		"it has failed":        {conduct.Exit{Code: 1, Reason: "Error", LastWords: "no such case"}, `permanent ProgramFailed: implementations[old] exited (exit code 1, Error, last output: "no such case")`},
		"it is too large":      {conduct.Exit{Code: 137, Reason: "OOMKilled", OutOfMemory: true}, "permanent ProgramFailed: implementations[old] was killed because it exceeded its memory of 64Mi: raise implementations[].memory"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(conduct.ServerExited(program, own, tc.exit)); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestTheProgressOfProgramsCountsProcesses(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas    []func(*conduct.Run)
		done, all int
	}{
		"nothing has begun":                       {nil, 0, 4},
		"one has ended":                           {[]func(*conduct.Run){took(time.Second)}, 1, 4},
		"one has ended, one runs":                 {[]func(*conduct.Run){took(time.Second, 0)}, 1, 4},
		"one runs and is over its slot":           {[]func(*conduct.Run){took(time.Second, 0), later(programEnd)}, 2, 4},
		"all have ended":                          {[]func(*conduct.Run){took(1, 1, 1, 1)}, 4, 4},
		"all have ended, and a block is repeated": {[]func(*conduct.Run){took(1, 1, 1, 1), scanned(2), disturbed(2)}, 4, 6},
	} {
		t.Run(name, func(t *testing.T) {
			if done, all := programsOf(t, 2, tc.deltas...).Progress(); done != tc.done || all != tc.all {
				t.Errorf("the progress is %d of %d, want %d of %d", done, all, tc.done, tc.all)
			}
		})
	}
}

// A program's limit says little about its real time, which is known once one has ended.
func TestTheTimeLeftOfProgramsFollowsWhatTheyTook(t *testing.T) {
	planned := programEnd + plan.TrialOverhead
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   time.Duration
	}{
		"of none it is known: the limit counts":          {nil, 4 * planned},
		"the first runs: the limit counts, less that":    {[]func(*conduct.Run){took(0), later(10 * time.Second)}, 4*planned - 10*time.Second},
		"the first took two seconds":                     {[]func(*conduct.Run){took(2 * time.Second)}, 3 * (2*time.Second + plan.TrialOverhead)},
		"two took two and four seconds":                  {[]func(*conduct.Run){took(2*time.Second, 4*time.Second)}, 2 * (3*time.Second + plan.TrialOverhead)},
		"the second has been running for a second":       {[]func(*conduct.Run){took(2*time.Second, 0), later(time.Second)}, 3*(2*time.Second+plan.TrialOverhead) - time.Second},
		"the last takes much longer than the others":     {[]func(*conduct.Run){took(1e9, 1e9, 1e9, 0), later(50 * time.Second)}, 0},
		"one takes much longer, and two are to come":     {[]func(*conduct.Run){took(2*time.Second, 0), later(time.Minute)}, 2 * (2*time.Second + plan.TrialOverhead)},
		"all have ended":                                 {[]func(*conduct.Run){took(1e9, 1e9, 1e9, 1e9)}, 0},
		"one failed: what it took is not what one takes": {[]func(*conduct.Run){took(2*time.Second, 40*time.Second), failed(1, v1alpha1.ReasonProgramTimedOut, "")}, 2 * (2*time.Second + plan.TrialOverhead)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := programsOf(t, 2, tc.deltas...).Left(); got != tc.want {
				t.Errorf("%s are left, want %s", got, tc.want)
			}
		})
	}
}

func TestARunOfProgramsBeginsItsTrialsAndReportsThem(t *testing.T) {
	if step := programsOf(t, 2).Next(); step.Act != conduct.ActBegin || len(step.Trials) != 4 || step.Trials[0].Type != record.Microbenchmark {
		t.Errorf("first it does %+v", step)
	}
	if step := programsOf(t, 2, took(1, 1, 1, 0)).Next(); step.Act != conduct.ActMeasure {
		t.Errorf("while the last runs it does %+v", step)
	}
	if step := programsOf(t, 2, took(1, 1, 1, 1), scanned(2)).Next(); step.Act != conduct.ActReport {
		t.Errorf("when all have ended and were scanned it does %+v", step)
	}
	repeated := programsOf(t, 2, took(1, 1, 1, 1), scanned(2), disturbed(1)).Next()
	if repeated.Act != conduct.ActBegin || len(repeated.Trials) != 2 || repeated.Trials[0].Type != record.Microbenchmark || repeated.Trials[0].Block != 3 {
		t.Errorf("for a disturbed block it does %+v", repeated)
	}
}

func TestTheManifestOfAProgramSaysWhatWasRun(t *testing.T) {
	trial := conduct.Trial{PlannedTrial: record.PlannedTrial{Name: "t", Type: record.Microbenchmark, Servers: []string{"old"}}, Work: program}
	m := trial.Manifest(conduct.TrialRecord{})
	if m.Type != record.Microbenchmark || len(m.Cells) != 0 || m.Programs == nil || !cmp.Equal(*m.Programs, program.Programs) {
		t.Errorf("the manifest holds %+v and %d cells", m.Programs, len(m.Cells))
	}
	sweep := workOf(runOf(t, 2, alone).Plan)
	if m := (conduct.Trial{PlannedTrial: trial.PlannedTrial, Work: sweep}).Manifest(conduct.TrialRecord{}); m.Programs != nil {
		t.Errorf("the manifest of a sweep holds %+v", m.Programs)
	}
}
