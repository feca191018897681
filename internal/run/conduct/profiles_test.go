package conduct_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// profiled is runOf with two profiles of each implementation after all blocks: counted, and searched for leaks.
func profiled(t *testing.T, blocks int32, implementations []string, deltas ...func(*conduct.Run)) conduct.Run {
	t.Helper()
	return compiled(t, blocks, implementations, func(spec *v1alpha1.BenchmarkRunSpec) {
		for i := range spec.Implementations {
			spec.Implementations[i].Command = []string{"/serve"}
		}
		spec.Profiles = []v1alpha1.Profile{{Name: "costs", Tool: v1alpha1.ToolCallgrind}, {Name: "leaks", Tool: v1alpha1.ToolMemcheck}}
	}, deltas...)
}

// followed begins the trials after the blocks and stores the first ones.
func followed(ended int) func(*conduct.Run) {
	return func(r *conduct.Run) {
		trials := begun(r.Plan, r.Plan.Following...)
		for i := range ended {
			stored(&trials[i])
		}
		r.Trials = append(r.Trials, trials...)
	}
}

func TestWhatFollowsIsNeededWhenNoBlockIsLeftToBeMeasured(t *testing.T) {
	lost := failed(1, v1alpha1.ReasonPodLost, "gone")
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   bool
	}{
		"no trial was begun": {nil, false},
		"a trial is open":    {[]func(*conduct.Run){measured(0), scanned(2), open(1)}, false},
		"nobody knows yet whether a block was disturbed":   {[]func(*conduct.Run){measured(0)}, false},
		"nothing was disturbed":                            {[]func(*conduct.Run){measured(0), scanned(2)}, true},
		"a disturbed block is to be repeated":              {[]func(*conduct.Run){measured(0), scanned(2), disturbed(1)}, false},
		"the repeat block was not scanned":                 {[]func(*conduct.Run){measured(1), scanned(2), disturbed(1)}, false},
		"the repeat block was not disturbed":               {[]func(*conduct.Run){measured(1), scanned(3), disturbed(1)}, true},
		"as many blocks were repeated as may be":           {[]func(*conduct.Run){measured(2), scanned(4), disturbed(1, 3, 4)}, true},
		"there is no time for a repeat block":              {[]func(*conduct.Run){measured(0), scanned(2), disturbed(1), left(10 * time.Second)}, true},
		"the run has ended early":                          {[]func(*conduct.Run){measured(0), interim(1, 1), failed(1, v1alpha1.ReasonStoppedEarly, "")}, true},
		"a lost trial has no block to stand in for it yet": {[]func(*conduct.Run){measured(0), scanned(2), lost}, false},
		"the block of a lost trial was repeated":           {[]func(*conduct.Run){measured(1), scanned(3), lost}, true},
		"an implementation failed":                         {[]func(*conduct.Run){measured(0), scanned(2), failed(1, v1alpha1.ReasonServerExited, "")}, true},
		"the time of the run is over":                      {[]func(*conduct.Run){measured(0), scanned(2), left(-time.Second)}, false},
		"its turn has not come":                            {[]func(*conduct.Run){measured(0), scanned(2), func(r *conduct.Run) { r.Started = time.Time{} }}, false},
		"it has begun":                                     {[]func(*conduct.Run){measured(0), scanned(2), followed(1)}, true},
		"it has begun, and the time of the run is over":    {[]func(*conduct.Run){measured(0), scanned(2), followed(1), left(-time.Second)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiled(t, 2, alone, tc.deltas...)
			var got []string
			for _, line := range r.Needed() {
				if line.Follows() {
					got = append(got, line.Name)
				}
			}
			want := []string{"quick-p00-go", "quick-p01-go"}
			if !tc.want {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what follows (-want +got):\n%s", diff)
			}
		})
	}
}

// A begun trial stays needed: a run with more trials than it needs would never end.
func TestATrialThatWasBegunStaysNeeded(t *testing.T) {
	for name, deltas := range map[string][]func(*conduct.Run){
		"the blocks":                 {measured(1), scanned(2), disturbed(1)},
		"what follows":               {measured(0), scanned(2), followed(0)},
		"what follows repeat blocks": {measured(2), scanned(4), disturbed(1, 3), followed(1)},
		"what follows an early end":  {measured(0), interim(1, 1), failed(1, v1alpha1.ReasonStoppedEarly, ""), followed(2)},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiled(t, 2, alone, deltas...)
			needed := names(r.Needed())
			for _, trial := range r.Trials {
				if !slices.Contains(needed, trial.Name) {
					t.Errorf("%s is not needed", trial.Name)
				}
			}
		})
	}
}

func TestThePartThatIsLedIsTheLastThatWasBegun(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   plan.Part
	}{
		"nothing was begun":                     {nil, plan.Part{}},
		"the planned blocks":                    {[]func(*conduct.Run){measured(0)}, plan.Part{}},
		"a repeat block":                        {[]func(*conduct.Run){measured(2)}, plan.Part{Repeat: 2}},
		"what follows":                          {[]func(*conduct.Run){measured(0), followed(0)}, plan.Part{Following: true}},
		"what follows a repeat block":           {[]func(*conduct.Run){measured(1), followed(1)}, plan.Part{Following: true}},
		"what follows, of which all have ended": {[]func(*conduct.Run){measured(0), followed(2)}, plan.Part{Following: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiled(t, 2, alone, tc.deltas...)
			if got := r.Part(); got != tc.want {
				t.Errorf("it leads %+v, want %+v", got, tc.want)
			}
			for _, trial := range r.Trials {
				if line := r.Plan.PartOf(trial.PlannedTrial); !slices.Contains(names(r.Plan.Lines(r.Name, line)), trial.Name) {
					t.Errorf("%s is not in its part, %+v", trial.Name, line)
				}
			}
		})
	}
}

func TestWhatFollowsIsReportedWhenAllOfItHasEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		act    conduct.Act
	}{
		"before it":                 {[]func(*conduct.Run){measured(0), scanned(2)}, conduct.ActBegin},
		"while it goes on":          {[]func(*conduct.Run){measured(0), scanned(2), followed(1)}, conduct.ActMeasure},
		"when it has ended":         {[]func(*conduct.Run){measured(0), scanned(2), followed(2)}, conduct.ActReport},
		"when the time is over":     {[]func(*conduct.Run){measured(0), scanned(2), followed(1), left(-time.Second)}, conduct.ActReport},
		"when some of it was begun": {[]func(*conduct.Run){measured(0), scanned(2), followed(0), func(r *conduct.Run) { r.Trials = r.Trials[:3] }}, conduct.ActBegin},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiled(t, 2, alone, tc.deltas...)
			if step := r.Next(); step.Act != tc.act || step.Ending != nil {
				t.Errorf("it does %+v, want %v", step, tc.act)
			}
			if end := r.TimedOut(); end != nil {
				t.Errorf("though all blocks are measured it ends with %+v", *end)
			}
		})
	}
}

func TestTheTimeLeftHoldsWhatFollows(t *testing.T) {
	const each = plan.FollowingEstimate
	block := profiled(t, 2, alone).Plan.Estimate(1).Round(time.Second)
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   time.Duration
	}{
		"nothing was begun":             {nil, 2*block + 2*each},
		"one of two blocks is measured": {[]func(*conduct.Run){measured(0), open(1), func(r *conduct.Run) { r.Trials[1].Started = time.Time{} }}, block + 2*each},
		"all blocks are measured":       {[]func(*conduct.Run){measured(0), scanned(2)}, 2 * each},
		"the first of two has ended":    {[]func(*conduct.Run){measured(0), scanned(2), followed(1)}, each},
		"all of it has ended":           {[]func(*conduct.Run){measured(0), scanned(2), followed(2)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := profiled(t, 2, alone, tc.deltas...).Left(); (got - tc.want).Abs() > time.Second {
				t.Errorf("%s are left, want about %s", got, tc.want)
			}
		})
	}
}

// Trials after the blocks affect no verdict: the run reports their failures and succeeds.
func TestTheVerdictStandsWhateverHasFailedAProfile(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, message string
		disturbs        bool
	}{
		"its pod was lost":  {v1alpha1.ReasonPodLost, "pod a was evicted", false},
		"the server failed": {v1alpha1.ReasonProgramFailed, "implementations[go] exited", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiled(t, 8, alone, measured(0), scanned(8), followed(2), failed(9, tc.reason, tc.message))
			if got := r.Failed(); len(got) != 0 || r.Failures() != "" {
				t.Errorf("%d trials of blocks have failed: %s", len(got), r.Failures())
			}
			if got := r.Disturbed(); len(got) != 0 {
				t.Errorf("it disturbs the blocks %v", got)
			}
			o := r.Outcome(nil, &conduct.Verdict{Conclusive: true, Text: "go is faster"})
			if o.State != conduct.Succeeded || o.Reason != v1alpha1.ReasonDone || o.Message != "go is faster; profiles[leaks] of go failed: "+tc.message {
				t.Errorf("the run has ended with %+v", o)
			}
			o = r.Outcome(nil, &conduct.Verdict{Unmet: v1alpha1.ReasonObjectivesMissed, Objectives: "go is too slow"})
			if o.State != conduct.Failed || o.Message != "go is too slow; profiles[leaks] of go failed: "+tc.message {
				t.Errorf("the run that misses its objective has ended with %+v", o)
			}
		})
	}
}

func TestAFailureOfOneProfileSaysNothingOfAnotherTrial(t *testing.T) {
	exits := failed(2, v1alpha1.ReasonProgramFailed, "implementations[go] exited (exit code 1, Error)")
	r := profiled(t, 2, alone, measured(0), scanned(2), followed(0), exits)
	view := conduct.View{Name: r.Name, Blocks: 2, Trials: r.Trials}
	if f := view.GiveUp(r.Trials[3]); f != nil {
		t.Errorf("the next profile is given up: %s", describe(f))
	}
	if got := view.Awaits(r.Trials[3]); got != "" {
		t.Errorf("the next profile is %s", got)
	}
}

func TestAServerThatCannotBeMeasuredIsNotProfiled(t *testing.T) {
	wrong := failed(0, v1alpha1.ReasonWrongResponse, "implementations[go]: GET / answered 404 instead of 200")
	r := profiled(t, 2, []string{"go", "epoll"}, measured(0), scanned(2), followed(0))
	for i := range r.Trials {
		if r.Trials[i].Servers[0] == "go" {
			r.Trials[0], r.Trials[i] = r.Trials[i], r.Trials[0]
			break
		}
	}
	wrong(&r)
	view := conduct.View{Name: r.Name, Blocks: 2, Trials: r.Trials}
	for _, trial := range r.Trials {
		if !trial.Follows() {
			continue
		}
		f := view.GiveUp(trial)
		if (f != nil) != (trial.Servers[0] == "go") || f != nil && !strings.Contains(f.Message, "skipped: trial") {
			t.Errorf("%s ends with %q", trial.Name, describe(f))
		}
	}
}

func TestWhatFollowsWaitsForAllThatIsBeforeItAndForNoAnalysis(t *testing.T) {
	r := profiled(t, 2, alone, measured(2), followed(0), interim(0, 0))
	view := conduct.View{Name: r.Name, Blocks: 2, Interim: r.Interim, Trials: r.Trials}
	if got := view.Awaits(r.Trials[4]); got != "" {
		t.Errorf("the first is %s", got)
	}
	if got := view.Awaits(r.Trials[5]); got != "waiting for trial quick-p00-go" {
		t.Errorf("the second is %q", got)
	}
}

// A run that ended early needs no further block, but everything after the blocks.
func TestAnEarlyEndKeepsWhatFollows(t *testing.T) {
	r := profiled(t, 2, alone, measured(0), interim(1, 1), failed(1, v1alpha1.ReasonStoppedEarly, ""), followed(0))
	view := conduct.View{Name: r.Name, Blocks: 2, Interim: r.Interim, Trials: r.Trials}
	for _, trial := range r.Trials[2:] {
		if f := view.GiveUp(trial); f != nil {
			t.Errorf("%s is given up: %s", trial.Name, describe(f))
		}
	}
	view.Ended = v1alpha1.ReasonTimedOut
	if f := view.GiveUp(r.Trials[2]); f == nil || f.Kind != conduct.Cancelled {
		t.Errorf("when the run has ended it goes on: %s", describe(f))
	}
}

func TestTheManifestOfARunKeepsWhatFollowsApart(t *testing.T) {
	r := profiled(t, 2, alone, measured(1), disturbed(1), scanned(3), followed(1))
	r.Trials[3].Ended = noon.Add(-time.Millisecond)
	m := r.Manifest(conduct.RunRecord{Run: identity})
	if got := names(linesOf(m.Trials)); len(got) != 3 || slices.ContainsFunc(got, func(n string) bool { return strings.Contains(n, "-p0") }) {
		t.Errorf("the blocks are %v", got)
	}
	if len(m.Following) != 1 || m.Following[0].Name != "quick-p00-go" || m.Following[0].Item != "costs" || m.Following[0].Manifest == nil {
		t.Errorf("what follows is %+v: want the one that has ended", m.Following)
	}
	if m.RepeatBlocks != 1 || m.Blocks != 2 || !m.Ended.Equal(r.Trials[3].Ended) {
		t.Errorf("%d blocks and %d repeat blocks, ended at %s", m.Blocks, m.RepeatBlocks, m.Ended)
	}
}

func TestTheManifestOfAProfileSaysWhatWasAsked(t *testing.T) {
	r := profiled(t, 2, alone, measured(0), followed(1))
	m := r.Trials[2].Manifest(conduct.TrialRecord{Run: identity, Attempt: 1})
	want := &record.Profile{
		Name: "costs", Tool: "callgrind", Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}}, Requests: 10_000,
		Connections: 1, Repeats: 3, LimitSeconds: 300,
	}
	if diff := cmp.Diff(want, m.Profiling); diff != "" {
		t.Errorf("what was asked (-want +got):\n%s", diff)
	}
	if m.Type != record.ProfileType || len(m.Cells) != 0 || m.Block != 0 || m.Item != "costs" {
		t.Errorf("the manifest is %+v", m)
	}
	if sweep := r.Trials[0].Manifest(conduct.TrialRecord{}); sweep.Profiling != nil || sweep.Item != "" {
		t.Errorf("the manifest of a sweep holds %+v", sweep.Profiling)
	}
}

// The monitor runs next to the server and may always be asked; its failure is not the server's.
func TestAMonitorThatFailsLosesItsTrial(t *testing.T) {
	r := profiled(t, 2, alone, measured(0), followed(0))
	trial := r.Trials[2]
	f := conduct.AgentFailed(trial, "the monitor", protocol.State{Phase: protocol.Failed, Message: "the server's parent did not say how the server ended"})
	if got := describe(f); got != "transient AgentFailed: the monitor: the server's parent did not say how the server ended" {
		t.Errorf("it ends with %q", got)
	}
	trial.Started = noon
	a := trial.Attempt(1, noon.Add(time.Minute))
	if a.Quiet() || !a.Retried(f) {
		t.Errorf("quiet: %v, tried again: %v", a.Quiet(), a.Retried(f))
	}
	if f := a.AgentSilent("the monitor", errors.New("refused")); f != nil {
		t.Errorf("within the limit of the profile it is given up: %s", describe(f))
	}
	if done, all := r.Progress(); done != 2 || all != 4 {
		t.Errorf("the progress is %d of %d, want 2 of 4", done, all)
	}
}

func linesOf(entries []record.TrialEntry) []record.PlannedTrial {
	lines := make([]record.PlannedTrial, 0, len(entries))
	for _, e := range entries {
		lines = append(lines, e.PlannedTrial)
	}
	return lines
}
