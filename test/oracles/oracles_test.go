package oracles

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// good is an undisturbed run of two implementations. A slow one costs three times as much.
func good(blocks int32, slow bool) Run {
	o := recordtest.Options{
		Name: "storm", Seed: 1, Blocks: blocks, Levels: []int32{4}, Noise: 0.02, Seconds: 1,
		Servers: []recordtest.Server{{Name: "go", CPUMicros: 30, RSSBytes: 8 << 20}, {Name: "other", CPUMicros: 30, RSSBytes: 8 << 20}},
	}
	if slow {
		o.Servers[1].CPUMicros *= 3
	}
	r := Run{Reason: v1alpha1.ReasonDone, Data: recordtest.Run(o), Committed: map[string]int{}}
	r.Began, r.Ended = r.Data.Manifest.Started, r.Data.Manifest.Ended
	if slow {
		r.Slow = "other"
	}
	for _, e := range r.Data.Manifest.Trials {
		r.Committed[e.Name] = 1
	}
	return r
}

// lose removes a stored trial, like a fault.
func (r *Run) lose(at int) {
	e := &r.Data.Manifest.Trials[at]
	e.Manifest, e.Reason, e.Message = nil, v1alpha1.ReasonPodLost, "pod storm-server is gone"
	delete(r.Committed, e.Name)
	r.Data.Trials = slices.DeleteFunc(r.Data.Trials, func(t record.TrialData) bool { return t.Manifest.Name == e.Name })
}

func (r *Run) repeated(blocks int32) {
	p := &r.Data.Manifest.Plan
	p.Blocks, p.Trials = p.Blocks-blocks, p.Trials[:len(p.Trials)-int(blocks)*len(p.Implementations)]
	r.Data.Manifest.Blocks, r.Data.Manifest.RepeatBlocks = p.Blocks, blocks
}

// fault is costly and happens while the run measures.
func fault(r Run) Fault {
	return Fault{Began: r.Began.Add(time.Second), Over: r.Began.Add(20 * time.Second), Costly: true}
}

func TestOraclesAcceptValidRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		run    Run
		change func(*Run)
		faults int
		want   Verdict
	}{
		"nothing befell it": {run: good(2, false)},
		"nothing befell it, and it has no winner to find":    {run: good(7, false)},
		"it has found the slow one":                          {run: good(7, true), want: Right},
		"it has too few blocks to find the slow one":         {run: good(6, true)},
		"a fault has cost a trial, and its block is another": {run: good(3, false), change: func(r *Run) { r.repeated(1); r.lose(0) }, faults: 1},
		"faults have left too few blocks": {run: good(4, false), faults: 3, change: func(r *Run) {
			r.repeated(2)
			for _, trial := range []int{0, 2, 5} {
				r.lose(trial)
			}
			r.Reason = v1alpha1.ReasonTrialsFailed
		}},
		"too few blocks are whole to find the slow one": {run: good(8, true), faults: 2, change: func(r *Run) {
			r.repeated(1)
			r.lose(0)
			r.Data.Trials[3].Servers[0].Cells[0].BusyNanos += r.Data.Trials[3].Servers[0].Cells[0].CoreNanos
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(&tc.run)
			}
			var faults []Fault
			for range tc.faults {
				faults = append(faults, fault(tc.run))
			}
			if found, wrong := tc.run.Check(faults, nil); len(wrong) > 0 || found != tc.want {
				t.Errorf("found %d, want %d; wrong: %s", found, tc.want, strings.Join(wrong, "\n"))
			}
		})
	}
}

func TestOraclesDetectViolations(t *testing.T) {
	for name, tc := range map[string]struct {
		run    Run
		change func(*Run)
		faults []Fault
		kills  []Kill
		want   string
	}{
		"it has run out of time":                             {run: good(2, false), change: func(r *Run) { r.Reason = v1alpha1.ReasonTimedOut }, want: "no fault explains TimedOut"},
		"it has failed without a lost trial":                 {run: good(2, false), change: func(r *Run) { r.Reason = v1alpha1.ReasonTrialsFailed }, want: "no fault explains TrialsFailed"},
		"a trial is lost to nothing":                         {run: good(3, false), change: func(r *Run) { r.repeated(1); r.lose(1) }, want: "1 trials are lost to 0 faults"},
		"a trial is lost to a fault that costs none":         {run: good(3, false), change: func(r *Run) { r.repeated(1); r.lose(1) }, faults: []Fault{{Began: good(3, false).Began, Over: good(3, false).Ended}}, want: "1 trials are lost to 0 faults"},
		"a trial is lost to a fault before its run":          {run: good(3, false), change: func(r *Run) { r.repeated(1); r.lose(1) }, faults: []Fault{{Over: good(3, false).Began, Costly: true}}, want: "1 trials are lost to 0 faults"},
		"it is given up while blocks could be repeated":      {run: good(2, false), change: func(r *Run) { r.lose(0); r.Reason = v1alpha1.ReasonTrialsFailed }, faults: []Fault{fault(good(2, false))}, want: "TrialsFailed after 0 repeat blocks of 2"},
		"a block that lacks a trial is not repeated":         {run: good(2, false), change: func(r *Run) { r.lose(0) }, faults: []Fault{fault(good(2, false))}, want: "the blocks [1] lack trials, and 0 blocks were repeated"},
		"a trial is not in the record":                       {run: good(2, false), change: func(r *Run) { r.Data.Manifest.Trials = r.Data.Manifest.Trials[1:] }, want: "was planned, and is not in the record"},
		"a trial is in the record twice":                     {run: good(2, false), change: func(r *Run) { r.Data.Manifest.Trials = append(r.Data.Manifest.Trials, r.Data.Manifest.Trials[0]) }, want: "the record has 2 trials of"},
		"a repeat block has one implementation alone":        {run: good(3, false), change: func(r *Run) { r.repeated(1); r.Data.Manifest.Trials = r.Data.Manifest.Trials[:5] }, want: "the record has 0 trials of"},
		"a trial is recorded as another's":                   {run: good(2, false), change: func(r *Run) { r.Data.Manifest.Trials[0].Block = 2 }, want: "in block 2"},
		"two attempts are committed":                         {run: good(2, false), change: func(r *Run) { r.Committed[r.Data.Trials[0].Manifest.Name]++ }, want: "the store holds 2 manifests"},
		"a trial that was stored is not there any more":      {run: good(2, false), change: func(r *Run) { r.Data.Trials = r.Data.Trials[1:]; r.Data.Lost = "storm-b01-go: corrupt" }, want: "cannot be read any more: storm-b01-go: corrupt"},
		"a trial is read back twice":                         {run: good(2, false), change: func(r *Run) { r.Data.Trials = append(r.Data.Trials, r.Data.Trials[0]) }, want: "is read back 2 times, want 1"},
		"a killed attempt is stored":                         {run: good(2, false), kills: []Kill{{"storm-b01-go", 1, during(good(2, false), "storm-b01-go")}}, want: "a pod of attempt 1 was killed"},
		"an attempt is stored that was given up for another": {run: good(2, false), kills: []Kill{{"storm-b01-go", 2, good(2, false).Ended}}, want: "a pod of attempt 2 was killed"},
		"an implementation is blamed for a lost trial":       {run: good(3, false), change: func(r *Run) { r.repeated(1); r.lose(0); r.Data.Manifest.Trials[0].Reason = v1alpha1.ReasonServerExited }, faults: []Fault{fault(good(3, false))}, want: "is lost for a reason that is not the infrastructure's: ServerExited"},
		"an implementation is blamed for a cell":             {run: good(2, false), change: func(r *Run) { r.Data.Trials[0].Generators[0].Cells[0].Measurement.Errors.Status = 1000 }, want: "is blamed for a cell"},
		"one of two that are equal wins":                     {run: good(7, true), change: func(r *Run) { r.Slow = "" }, want: `other is Worse () by Throughput in 7 blocks, and "" is the slow one`},
		"the slow one wins":                                  {run: good(7, true), change: func(r *Run) { r.Slow, r.Data.Manifest.Plan.Baseline = "go", "other" }, want: `go is Better () by Throughput in 7 blocks, and "go" is the slow one`},
		"the slow one is not found":                          {run: good(7, false), change: func(r *Run) { r.Slow = "other" }, want: `and "other" is the slow one`},
		"it cannot be analysed":                              {run: good(2, false), change: func(r *Run) { r.Data.Manifest.Plan.Implementations = nil }, want: "it cannot be analysed"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(&tc.run)
			}
			_, wrong := tc.run.Check(tc.faults, tc.kills)
			if !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, tc.want) }) {
				t.Errorf("wrong is %q, want %q", wrong, tc.want)
			}
		})
	}
}

// during is an instant while a trial is measured.
func during(r Run, trial string) time.Time {
	for _, t := range r.Data.Trials {
		if t.Manifest.Name == trial {
			return t.Manifest.Start.Add(300 * time.Millisecond)
		}
	}
	return time.Time{}
}

func TestKillOfEarlierAttemptOrAfterLastCellIsAccepted(t *testing.T) {
	r := good(2, false)
	r.Data.Trials[0].Manifest.Attempt = 2
	name := r.Data.Trials[0].Manifest.Name
	kills := []Kill{{name, 1, r.Data.Trials[0].Manifest.Start.Add(-time.Second)}, {name, 2, r.Ended}, {"another", 2, during(r, name)}}
	if _, wrong := r.Check(nil, kills); len(wrong) > 0 {
		t.Errorf("wrong: %q", wrong)
	}
}
