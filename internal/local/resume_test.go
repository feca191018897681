package local

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func ledSpec(t *testing.T, spec v1alpha1.BenchmarkRunSpec) *Run {
	t.Helper()
	r := led(t, spec)
	r.started = r.facts.Started
	if err := r.recall(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(r.folder.URI(r.prefix), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func goesOn(t *testing.T, before *Run) *Run {
	t.Helper()
	if err := before.remember(); err != nil {
		t.Fatal(err)
	}
	next := ledSpec(t, before.options.Run.Spec)
	next.facts.Trials, next.started = nil, time.Time{}
	next.folder = before.folder
	var err error
	if next.recalled, err = folders.Read(before.folder.URI(before.prefix)); err != nil {
		t.Fatal(err)
	}
	if err := next.restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	return next
}

func end(r *Run, trials int, lost ...int) {
	for i := range trials {
		own := &r.facts.Trials[i]
		r.triesOf(own.Name).Begun++
		own.Started, own.Ended, own.Reason, own.Stored = noon, noon.Add(time.Minute), v1alpha1.ReasonDone, &record.Artifact{Name: own.Name, Bytes: 1}
		for _, l := range lost {
			if l == i {
				own.Stored, own.Reason, own.Message = nil, v1alpha1.ReasonPodLost, "it was lost"
			}
		}
	}
}

func TestAResumedRunKeepsItsCompleteBlocks(t *testing.T) {
	for name, tc := range map[string]struct {
		// ended is how many trials have ended, two per block; the next one has begun.
		ended, kept int
		complete    int32
	}{
		"nothing has ended":        {0, 0, 0},
		"half of the first block":  {1, 0, 0},
		"the first block":          {2, 2, 1},
		"half of the second block": {3, 2, 1},
		"all planned blocks":       {4, 4, 2},
		"half of a repeat block":   {5, 4, 2},
		"a repeat block":           {6, 6, 3},
	} {
		t.Run(name, func(t *testing.T) {
			before := ledSpec(t, quick())
			if tc.ended >= 4 {
				before.beginTrials(before.facts.Plan.Repeat("quick", 1))
				before.facts.Scan = conduct.Scan{Blocks: 2, Disturbed: []int32{1}}
			}
			end(before, tc.ended, 1)
			if tc.ended < len(before.facts.Trials) {
				before.triesOf(before.facts.Trials[tc.ended].Name).Begun = 1
			}
			next := goesOn(t, before)
			kept := append(conduct.Trials{}, before.facts.Trials[:tc.kept]...)
			if diff := cmp.Diff(kept, append(conduct.Trials{}, next.facts.Trials...)); diff != "" {
				t.Errorf("the trials that are kept: -want +got:\n%s", diff)
			}
			for i, dropped := range before.facts.Trials[tc.kept:] {
				own := next.triesOf(dropped.Name)
				if begun := tc.kept+i <= tc.ended; begun != (own.Begun == 1 && len(own.Failures) == 1) {
					t.Errorf("of trial %s it knows %+v, begun %v", dropped.Name, own, begun)
				}
			}
			if len(next.resumed) != 1 || next.resumed[0].Complete != tc.complete || next.resumed[0].At.IsZero() {
				t.Errorf("it is resumed as %+v, want after block %d", next.resumed, tc.complete)
			}
			if !next.started.Equal(before.started) || next.led <= 0 || !cmp.Equal(next.facts.Scan, before.facts.Scan) {
				t.Errorf("it began at %s, was led for %s, and knows the scan %+v", next.started, next.led, next.facts.Scan)
			}
		})
	}
}

func TestAnAttemptThatWasKilledIsNotedOnce(t *testing.T) {
	before := ledSpec(t, quick())
	end(before, 1)
	own := before.triesOf(before.facts.Trials[1].Name)
	own.Begun, own.Failures = 2, []string{"attempt 1: PodLost: the port was taken"}
	// It is resumed twice without progress in between.
	next := goesOn(t, goesOn(t, before))
	want := folders.Tries{Begun: 2, Failures: []string{"attempt 1: PodLost: the port was taken", "attempt 2: loadstone run ended before block 1 was complete"}}
	if diff := cmp.Diff(want, *next.triesOf(before.facts.Trials[1].Name)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	notes := strings.Join(next.notes(), "\n")
	if strings.Count(notes, "loadstone run ended after block 0 and was resumed at ") != 2 {
		t.Errorf("it says:\n%s", notes)
	}
}

func TestAttemptsOfKilledProcessesDoNotCountAsRetries(t *testing.T) {
	a := tried(led(t, quick()))
	lost := conduct.TransientFailure(v1alpha1.ReasonPodLost, "it was lost")
	for _, tc := range []struct {
		number, try int32
		want        bool
	}{{1, 1, true}, {3, 3, false}, {7, 1, true}, {9, 3, false}} {
		a.Number, a.try = tc.number, tc.try
		if got := a.retried(lost); got != tc.want {
			t.Errorf("attempt %d, of this process the %dth, is retried: %v", tc.number, tc.try, got)
		}
	}
}

// Trials after the blocks belong to no block: each is kept by itself, and none makes a block incomplete.
func TestAResumedRunKeepsWhatFollowsItsBlocksTrialByTrial(t *testing.T) {
	before := ledSpec(t, quick())
	end(before, 4)
	follows := []record.PlannedTrial{
		{Name: "quick-900-plain", Index: 900, Type: record.Sweep, Servers: []string{"plain"}}, {Name: "quick-901-costly", Index: 901, Type: record.Sweep, Servers: []string{"costly"}},
	}
	before.facts.Plan.Following = follows
	before.beginTrials(follows)
	done, open := &before.facts.Trials[4], &before.facts.Trials[5]
	before.triesOf(done.Name).Begun, before.triesOf(open.Name).Begun = 1, 1
	done.Ended, done.Stored = noon, &record.Artifact{Name: done.Name}
	if got := before.complete(); got != 2 {
		t.Errorf("%d blocks are complete", got)
	}
	if err := before.remember(); err != nil {
		t.Fatal(err)
	}
	s, err := folders.Read(before.folder.URI("results"))
	if err != nil {
		t.Fatal(err)
	}
	next := ledSpec(t, quick())
	next.facts.Plan.Following, next.tries = follows, s.Tries
	next.takeOver(s.Trials)
	if n := len(next.facts.Trials); n != 5 || next.facts.Trials[4].Name != done.Name {
		t.Errorf("it keeps %d trials", n)
	}
	if got := next.triesOf(open.Name).Failures; len(got) != 1 || got[0] != "attempt 1: loadstone run ended before it was stored" {
		t.Errorf("of the other it knows %q", got)
	}
}

func TestARunThatWasReportedIsNotResumedAgain(t *testing.T) {
	before := ledSpec(t, quick())
	end(before, 4)
	before.reported = true
	next := goesOn(t, before)
	if !next.reported || len(next.resumed) != 0 || len(next.facts.Trials) != 4 {
		t.Errorf("it is reported %v, resumed %v, and has %d trials", next.reported, next.resumed, len(next.facts.Trials))
	}
}

func TestWhatHasChangedIsNotResumed(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Run)
		want   string
	}{
		"the spec": {func(r *Run) { r.recalled.Spec = json.RawMessage(`{"blocks": 3}`) }, "asks for something else"},
		"the name": {func(r *Run) { r.recalled.Name = "other" }, "asks for something else than the run other"},
		"the plan": {func(r *Run) { r.recalled.Plan, r.recalled.Operator = "0123", "v1.2.3" }, "was planned by version v1.2.3"},
		"a body": {func(r *Run) {
			r.recalled.Plan, r.recalled.Operator = "0123", r.options.Version
			r.options.Run.Spec.Loads[0].Request.BodyFrom = v1alpha1.BodySource{ConfigMap: "orders", Key: "one.json"}
		}, "spec.loads[0].request.bodyFrom or another body has changed since the run began"},
		"the CPUs":         {func(r *Run) { r.seats.Server = []int{1} }, "servers were set on CPUs [1]"},
		"a script":         {func(r *Run) { r.scripts[0].Text = []byte("other") }, "loads[sweep].script has changed"},
		"nothing":          {func(*Run) {}, ""},
		"a script is open": {func(r *Run) { r.scripts[0].Load = "later" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := ledSpec(t, quick())
			before.scripts = append(before.scripts, scriptOf("sweep", "the script"))
			if err := errors.Join(before.remember(), before.freezeQuestion(t.Context())); err != nil {
				t.Fatal(err)
			}
			var err error
			if before.recalled, err = folders.Read(before.folder.URI("results")); err != nil {
				t.Fatal(err)
			}
			tc.change(before)
			err = refuse(v1alpha1.ReasonInvalidSpec, before.sameQuestion("results"))
			if err == nil {
				err = before.restore(t.Context())
			}
			if tc.want == "" && err != nil {
				t.Errorf("it ends with %v", err)
			} else if tc.want != "" {
				refused(t, err, tc.want)
			}
		})
	}
}

func scriptOf(load, text string) protocol.Script {
	return protocol.Script{Load: load, Text: []byte(text)}
}
