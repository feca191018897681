package conduct_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// runOf is a run at noon that started a minute ago: every implementation once per block, in one cell of 10 s, planned
// at 14.25 s. Its time is over at nine past.
func runOf(t *testing.T, blocks int32, implementations []string, deltas ...func(*conduct.Run)) conduct.Run {
	t.Helper()
	return compiled(t, blocks, implementations, nil, deltas...)
}

func compiled(t *testing.T, blocks int32, implementations []string, change func(*v1alpha1.BenchmarkRunSpec), deltas ...func(*conduct.Run)) conduct.Run {
	t.Helper()
	spec := v1alpha1.BenchmarkRunSpec{
		Loads:  []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, WarmupSeconds: new(int32), DurationSeconds: 10}},
		Blocks: blocks, TimeoutSeconds: 600, Seed: 7,
	}
	for _, name := range implementations {
		spec.Implementations = append(spec.Implementations, v1alpha1.Implementation{Name: name, Image: name + ":1", Port: 8080})
	}
	if len(implementations) > 1 {
		spec.Baseline = implementations[0]
	}
	if change != nil {
		change(&spec)
	}
	p, err := plan.Compile(spec, plan.Options{Name: "quick", UID: "run-uid-1234"})
	if err != nil {
		t.Fatal(err)
	}
	p.Notes = []string{"a note of the plan"}
	r := conduct.Run{Name: "quick", Plan: p, Started: noon.Add(-time.Minute), Now: noon}
	for _, d := range deltas {
		d(&r)
	}
	return r
}

var alone = []string{"go"}

func workOf(p plan.Plan) kind.Work { return sweep.Sweep{Cells: p.Cells} }

func begun(p plan.Plan, lines ...record.PlannedTrial) conduct.Trials {
	trials := make(conduct.Trials, 0, len(lines))
	for _, line := range lines {
		trials = append(trials, conduct.Trial{PlannedTrial: line, Work: kinds.Planned(p.Plan, line), Reason: v1alpha1.ReasonInProgress})
	}
	return trials
}

// measured stores all trials of the planned and some repeat blocks, a second before noon.
func measured(repeats int32) func(*conduct.Run) {
	return func(r *conduct.Run) {
		lines := slices.Clone(r.Plan.Trials)
		for repeat := range repeats {
			lines = append(lines, r.Plan.Repeat(r.Name, repeat+1)...)
		}
		r.Trials = begun(r.Plan, lines...)
		for i := range r.Trials {
			stored(&r.Trials[i])
		}
	}
}

func stored(t *conduct.Trial) {
	t.Started, t.Ended = noon.Add(-12*time.Second), noon.Add(-time.Second)
	t.Reason, t.Message = v1alpha1.ReasonDone, ""
	t.Stored = &record.Artifact{Name: "manifest.json", Key: "k/" + t.Name, SHA256: "0"}
	t.Nodes = []record.BoundNode{{Member: "generator-0", Node: "n2"}, {Member: "server-0", Node: "n1"}}
}

func failed(index int, reason, message string) func(*conduct.Run) {
	return func(r *conduct.Run) {
		t := &r.Trials[index]
		t.Stored, t.Ended, t.Reason, t.Message = nil, noon.Add(-time.Second), reason, message
	}
}

func open(index int) func(*conduct.Run) {
	return func(r *conduct.Run) { r.Trials[index].Ended, r.Trials[index].Stored = time.Time{}, nil }
}

func disturbed(blocks ...int32) func(*conduct.Run) {
	return func(r *conduct.Run) { r.Scan.Disturbed = blocks }
}

func scanned(blocks int32) func(*conduct.Run) {
	return func(r *conduct.Run) { r.Scan.Blocks = blocks }
}

func left(d time.Duration) func(*conduct.Run) {
	return func(r *conduct.Run) { r.Started = noon.Add(d - 10*time.Minute) }
}

func interim(after, stopped int32) func(*conduct.Run) {
	return func(r *conduct.Run) {
		r.Interim.MaxWidth, r.Interim.After, r.Interim.Stopped = "0.05", after, stopped
	}
}

func describe(f *conduct.Failure) string {
	if f == nil {
		return ""
	}
	kind := map[conduct.Kind]string{conduct.Permanent: "permanent", conduct.Transient: "transient", conduct.Cancelled: "cancelled"}[f.Kind]
	return fmt.Sprintf("%s %s: %s", kind, f.Reason, f.Message)
}

func names(lines []record.PlannedTrial) []string {
	list := make([]string, 0, len(lines))
	for _, l := range lines {
		list = append(list, l.Name)
	}
	return list
}
