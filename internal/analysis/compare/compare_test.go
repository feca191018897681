package compare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// measured is a run of go-slow and its anchor go. The machine is slower by one factor, go-slow's cost has changed by
// another.
func measured(seed uint64, machine, cost float64) record.RunData {
	o := recordtest.Duel(10)
	o.Levels, o.Seconds, o.Noise, o.Seed = []int32{100}, 1, 0.01, seed
	o.Servers = append([]recordtest.Server{}, o.Servers[:2]...)
	for i := range o.Servers {
		o.Servers[i].CPUMicros *= machine
	}
	o.Servers[1].CPUMicros *= cost
	return recordtest.Run(o)
}

func earlier(runs ...record.RunData) []compare.Earlier {
	var out []compare.Earlier
	for _, r := range runs {
		out = append(out, compare.Earlier{Name: "earlier", Data: r})
	}
	return out
}

func of(t *testing.T, r compare.Result, m verdict.Metric) compare.Change {
	t.Helper()
	for _, c := range r.Changes {
		if c.Of == m {
			return c
		}
	}
	t.Fatalf("%s is not compared: %+v", m, r.Changes)
	return compare.Change{}
}

func TestAChangeIsSeenThroughTheAnchor(t *testing.T) {
	for name, tc := range map[string]struct {
		cost       float64
		earlier    int
		more, less bool
	}{
		"nothing changed but the machine":         {1, 3, false, false},
		"it costs a fifth more":                   {1.2, 3, true, false},
		"it costs a fifth less":                   {0.8, 3, false, true},
		"it costs a fifth more than two runs did": {1.2, 2, false, false},
		"it costs a fifth less than a single run": {0.8, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var then []record.RunData
			for i := range tc.earlier {
				then = append(then, measured(8+uint64(i), 1.2, 1))
			}
			r, err := compare.Runs(measured(7, 1, tc.cost), earlier(then...), "")
			if err != nil {
				t.Fatal(err)
			}
			c := of(t, r, verdict.CPUPerRequest)
			if c.More() != tc.more || c.Less() != tc.less || math.Abs(*c.Value/tc.cost-1) > 0.05 || c.Implementation != "go-slow" || c.N != 10 || c.EarlierN != 10*tc.earlier {
				t.Errorf("it finds %+v", c)
			}
			if ok, _, _ := r.Comparable(); !ok || r.Anchor != "go" || r.WithinRuns != (tc.earlier < 3) || r.Confidence != 0.99 {
				t.Errorf("the result is %+v", r)
			}
		})
	}
}

// timed is a run of programs: go-slow takes a tenth longer than its anchor go. The machine is slower by one factor;
// go-slow's time has changed by another, its bytes have not.
func timed(seed uint64, machine, cost float64) record.RunData {
	d := measured(seed, 1, 1)
	d.Manifest.Plan.Cells = nil
	for i := range d.Trials {
		t := &d.Trials[i]
		nanos := 100 * machine * (1 + 0.002*float64(t.Manifest.Block%3-1))
		if t.Manifest.Servers[0] == "go-slow" {
			nanos *= 1.1 * cost
		}
		t.Manifest.Type, t.Manifest.Cells, t.Servers, t.Generators = record.Microbenchmark, nil, nil, nil
		t.Rows = []record.Row{
			record.Exactly("Time", "parse", "ns", record.LessIsBetter, nanos), record.Exactly("Lines written", "parse", "1", record.LessIsBetter, 7),
		}
	}
	return d
}

func without(d record.RunData, implementation, metric string) record.RunData {
	for i := range d.Trials {
		if t := &d.Trials[i]; t.Manifest.Servers[0] == implementation {
			t.Rows = slices.DeleteFunc(t.Rows, func(r record.Row) bool { return r.Metric == metric })
		}
	}
	return d
}

func TestProgramsAreComparedInEveryMetricOfTheirCases(t *testing.T) {
	now, then := timed(7, 1, 1.2), timed(8, 1.3, 1)
	r, err := compare.Runs(now, earlier(then, timed(9, 1.3, 1), timed(10, 1.3, 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	c := of(t, r, "Time")
	if !c.More() || math.Abs(*c.Value-1.2) > 0.01 || c.At() != "parse" || c.Implementation != "go-slow" || c.N != 10 {
		t.Errorf("it finds %+v, want a fifth more", c)
	}
	if c := of(t, r, "Lines written"); !c.Known || c.More() || c.Less() || len(r.Changes) != 2 {
		t.Errorf("of %d changes it finds %+v, want none", len(r.Changes), c)
	}
	for name, tc := range map[string]struct {
		now, then record.RunData
		reason    objectives.Reason
		says      string
	}{
		"a metric that it does not have any more": {without(timed(7, 1, 1), "go-slow", "Time"), timed(8, 1, 1), objectives.NotMeasured, "go-slow has no case parse"},
		"a metric that it did not have":           {timed(7, 1, 1), without(timed(8, 1, 1), "go-slow", "Time"), objectives.LoadDiffers, "the earlier run has no case parse of go-slow"},
		"a run under load":                        {timed(7, 1, 1), measured(8, 1, 1), objectives.LoadDiffers, "the earlier run has no case parse of go-slow"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := compare.Runs(tc.now, earlier(tc.then), "")
			if err != nil {
				t.Fatal(err)
			}
			if c := of(t, r, "Time"); c.Known || c.Reason != tc.reason || c.Detail != tc.says {
				t.Errorf("it finds %s %q, want %s %q", c.Reason, c.Detail, tc.reason, tc.says)
			}
		})
	}
	r, err = compare.Runs(without(now, "go-slow", "Lines written"), earlier(without(then, "go-slow", "Lines written")), "")
	if err != nil || len(r.Changes) != 1 || r.Changes[0].Of != "Time" {
		t.Errorf("of a metric that it has in no run it finds %+v, %v", r.Changes, err)
	}
}

func TestThreeEarlierRunsShowHowRunsDiffer(t *testing.T) {
	r, err := compare.Runs(measured(7, 1, 1.2), earlier(measured(8, 1.2, 1), measured(9, 1.1, 1), measured(10, 0.9, 1)), "go")
	if err != nil {
		t.Fatal(err)
	}
	if c := of(t, r, verdict.CPUPerRequest); !c.More() || c.EarlierRuns != 3 || c.WithinRuns || r.WithinRuns {
		t.Errorf("it finds %+v", c)
	}
}

func TestRunsThatCannotBeComparedSayWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(now, then *record.RunData)
		anchor string
		reason objectives.Reason
		says   string
	}{
		"the anchor was rebuilt": {func(_, then *record.RunData) {
			for i := range then.Trials {
				then.Trials[i].Manifest.Pods[0].ImageID = "sha256:other"
			}
		}, "", objectives.AnchorDiffers, "sha256:other"},
		"another level":     {func(_, then *record.RunData) { then.Manifest.Plan.Cells[0].Connections = 50 }, "", objectives.LoadDiffers, "no level sweep-100"},
		"another namespace": {func(_, then *record.RunData) { then.Manifest.Run.Namespace = "other" }, "", objectives.NoEarlierRun, "namespace other"},
	} {
		t.Run(name, func(t *testing.T) {
			now, then := measured(7, 1, 1), measured(8, 1, 1)
			tc.change(&now, &then)
			r, err := compare.Runs(now, earlier(then), tc.anchor)
			if err != nil {
				t.Fatal(err)
			}
			if ok, reason, detail := r.Comparable(); ok || reason != tc.reason || !strings.Contains(detail, tc.says) {
				t.Errorf("it is comparable: %v, %s %s", ok, reason, detail)
			}
		})
	}
	for name, tc := range map[string]struct {
		change func(now *record.RunData)
		anchor string
		says   string
	}{
		"an anchor that is none": {func(*record.RunData) {}, "zig", "did not measure zig"},
		"one implementation":     {func(now *record.RunData) { now.Manifest.Plan.Implementations = now.Manifest.Plan.Implementations[:1] }, "", "measured only go"},
	} {
		t.Run(name, func(t *testing.T) {
			now := measured(7, 1, 1)
			tc.change(&now)
			if _, err := compare.Runs(now, earlier(measured(8, 1, 1)), tc.anchor); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("it ends with %v, want %q", err, tc.says)
			}
		})
	}
}
