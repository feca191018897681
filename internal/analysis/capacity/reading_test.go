package capacity_test

import (
	"slices"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func searched() record.RunData {
	return recordtest.Search(recordtest.Options{
		Name: "searched", Seed: 1, Blocks: 2, Seconds: 1, Servers: []recordtest.Server{{Name: "slow", CPUMicros: 1000}, {Name: "fast", CPUMicros: 500}},
	}, record.Search{Percentile: 99, MaxMilliseconds: 20, StartRequestsPerSecond: 100, Steps: 12})
}

func read(t *testing.T, d record.RunData, lost map[string]int) []capacity.Capacity {
	t.Helper()
	p, err := planned.Of(d.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	r, err := validity.NewReader(d, p)
	if err != nil {
		t.Fatal(err)
	}
	all, err := capacity.Read(r, p, lost)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReadingTheSearchesOfARun(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		lost   map[string]int
		// These are the slow server's.
		wantTrials, wantMissing, wantFailures int
	}{
		"every trial has a record": {func(*record.RunData) {}, nil, 2, 0, 0},
		"a trial was lost": {
			func(d *record.RunData) { recordtest.Drop(d, 2, "slow", v1alpha1.ReasonServerExited, "") }, map[string]int{"slow": 1}, 1, 1, 1,
		},
		"the other's loss is none of its failures": {func(*record.RunData) {}, map[string]int{"fast": 2}, 2, 0, 0},
		"a repeat block makes a trial more than planned": {
			func(d *record.RunData) { d.Manifest.Blocks, d.Manifest.Plan.Blocks = 1, 1 }, nil, 2, 0, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := searched()
			tc.change(&d)
			all := read(t, d, tc.lost)
			if len(all) != 2 || all[0].Implementation != "slow" || all[1].Implementation != "fast" {
				t.Fatalf("got %+v, want the slow and the fast server", all)
			}
			if c := all[0]; len(c.Trials) != tc.wantTrials || c.Missing != tc.wantMissing || c.ImplementationFailures != tc.wantFailures {
				t.Errorf("got %d trials, %d missing and %d implementation failures, want %d, %d and %d", len(c.Trials), c.Missing, c.ImplementationFailures, tc.wantTrials, tc.wantMissing, tc.wantFailures)
			}
		})
	}
}

func TestStepsAreReadInTheirOrderAndFromTheirLoadAlone(t *testing.T) {
	for name, change := range map[string]func(*[]record.CellRun){
		"as they were recorded": func(*[]record.CellRun) {},
		"recorded backwards":    func(cells *[]record.CellRun) { slices.Reverse(*cells) },
		"beside a level": func(cells *[]record.CellRun) {
			*cells = append(*cells, record.CellRun{Point: record.Point{Load: "sweep", Connections: 10}})
		},
		"beside another search's": func(cells *[]record.CellRun) {
			*cells = append(*cells, record.CellRun{Point: record.Point{Load: "other", Step: 1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := searched()
			steps := len(d.Trials[0].Generators[0].Cells)
			change(&d.Trials[0].Generators[0].Cells)
			first := d.Trials[0].Manifest
			c := read(t, d, nil)[slices.IndexFunc(d.Manifest.Plan.Implementations, func(i record.Implementation) bool { return i.Name == first.Servers[0] })]
			if got := c.Trials[0]; got.Trial != first.Name || len(got.Steps) != steps || !slices.IsSortedFunc(got.Steps, func(a, b validity.Step) int { return int(a.Step - b.Step) }) {
				t.Errorf("got %+v, want the %d steps of %s in order", got, steps, first.Name)
			}
		})
	}
}

func TestThePlaceOfACapacityHasNoRate(t *testing.T) {
	c := capacity.Capacity{Load: "peak", Connections: 50, MaxMilliseconds: 10}
	if got, want := c.Point(), (record.Point{Load: "peak", Connections: 50}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
