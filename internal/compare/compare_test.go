package compare_test

import (
	"math"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/compare"
	"loadstone.dev/loadstone/internal/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/verdict"
)

// measured is a run of go-slow and its anchor go, on a machine that is slower by a factor. Go-slow's cost has changed by another.
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
		more, less bool
	}{
		"nothing changed but the machine": {1, false, false},
		"it costs a fifth more":           {1.2, true, false},
		"it costs a fifth less":           {0.8, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := compare.Runs(measured(7, 1, tc.cost), earlier(measured(8, 1.2, 1)), "")
			if err != nil {
				t.Fatal(err)
			}
			c := of(t, r, verdict.CPUPerRequest)
			if c.More() != tc.more || c.Less() != tc.less || math.Abs(*c.Value/tc.cost-1) > 0.05 || c.Implementation != "go-slow" || c.N != 10 || c.EarlierN != 10 {
				t.Errorf("it finds %+v", c)
			}
			if ok, _, _ := r.Comparable(); !ok || r.Anchor != "go" || !r.WithinRuns || r.Confidence != 0.99 {
				t.Errorf("the result is %+v", r)
			}
		})
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
		"an anchor that is none": {func(*record.RunData) {}, "zig", "has not measured zig"},
		"one implementation":     {func(now *record.RunData) { now.Manifest.Plan.Implementations = now.Manifest.Plan.Implementations[:1] }, "", "has measured go alone"},
		"programs":               {func(now *record.RunData) { now.Manifest.Plan.Cells = nil }, "", "has no loads"},
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
