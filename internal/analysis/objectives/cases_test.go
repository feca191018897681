package objectives_test

import (
	"slices"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// printing is a run of programs: go-slow takes a tenth longer for copy than go, the baseline. Neither allocates.
func printing(blocks int32) record.RunData {
	o := recordtest.Duel(blocks)
	o.Servers, o.Levels = o.Servers[:2], o.Levels[:1]
	d := recordtest.Run(o)
	d.Manifest.Plan.Cells, d.Manifest.Plan.Loads, d.Manifest.Plan.Programs = nil, nil, &record.Programs{Format: record.JSONLines, LimitSeconds: 30}
	for i := range d.Trials {
		t := &d.Trials[i]
		t.Manifest.Type, t.Manifest.Cells, t.Generators = record.Microbenchmark, nil, nil
		t.Servers[0].Cells[0].Point = record.Point{}
		nanos := 100 * (1 + 0.002*float64(t.Manifest.Block%3-1))
		if t.Manifest.Servers[0] == "go-slow" {
			nanos *= 1.1
		}
		prints(t, "copy", 0, nanos)
		prints(t, "move", nanos/10, nanos)
	}
	return d
}

func prints(t *record.TrialData, name string, allocations, nanos float64) {
	if t.Servers[0].Program == nil {
		t.Servers[0].Program = &record.ProgramRun{}
	}
	c := record.Case{Name: name}
	for _, r := range []record.Row{
		record.Exactly("Time", name, "ns", record.LessIsBetter, nanos), record.Exactly("Allocations", name, "allocs/op", record.LessIsBetter, allocations),
	} {
		t.Rows = append(t.Rows, r)
		c.Values = append(c.Values, record.CaseValue{Metric: r.Metric, Unit: r.Unit, Better: r.Better, Samples: []float64{r.Value}})
	}
	t.Servers[0].Program.Cases = append(t.Servers[0].Program.Cases, c)
}

// without removes a case of an implementation from a block on.
func without(d *record.RunData, implementation, name string, block int32) {
	for i := range d.Trials {
		t := &d.Trials[i]
		if t.Manifest.Servers[0] != implementation || t.Manifest.Block < block {
			continue
		}
		t.Rows = slices.DeleteFunc(t.Rows, func(r record.Row) bool { return r.Case == name })
		p := t.Servers[0].Program
		p.Cases = slices.DeleteFunc(p.Cases, func(c record.Case) bool { return c.Name == name })
	}
}

func TestObjectivesOfCases(t *testing.T) {
	of := func(m v1alpha1.ObjectiveMetric, name, maximum string) record.Objective {
		return record.Objective{Metric: m, Case: name, Max: maximum, Implementations: []string{"go-slow"}}
	}
	ratio := func(of v1alpha1.ComparedMetric, name, maximum string) record.Objective {
		return record.Objective{Metric: v1alpha1.ObjectiveRatioToBaseline, Of: of, Case: name, Max: maximum}
	}
	lost := func(block int32) func(*record.RunData) {
		return func(d *record.RunData) { without(d, "go-slow", "copy", block) }
	}
	stolen := func(d *record.RunData) {
		for i := range d.Trials {
			c := &d.Trials[i].Servers[0].Cells[0]
			c.StealNanos = c.CoreNanos / 2
		}
	}
	for name, tc := range map[string]struct {
		objective record.Objective
		change    func(*record.RunData)
		want      objectives.Outcome
		reason    objectives.Reason
	}{
		"a time below its most":           {of("CaseTime", "copy", "120"), nil, objectives.Met, ""},
		"a time above its most":           {of("CaseTime", "copy", "100"), nil, objectives.Missed, ""},
		"a time about at its most":        {of("CaseTime", "copy", "110"), nil, objectives.Undecided, objectives.IntervalStraddles},
		"no allocations":                  {of("CaseAllocations", "copy", "0.5"), nil, objectives.Met, ""},
		"allocations above their most":    {of("CaseAllocations", "move", "5"), nil, objectives.Missed, ""},
		"bytes that nobody prints":        {of("CaseBytes", "copy", "5"), nil, objectives.Undecided, objectives.NotMeasured},
		"a case that nobody prints":       {of("CaseTime", "sort", "5"), nil, objectives.Undecided, objectives.NotMeasured},
		"a case that it lacks":            {of("CaseTime", "copy", "120"), lost(1), objectives.Undecided, objectives.NotMeasured},
		"a case that it lacks in some":    {of("CaseTime", "copy", "120"), lost(6), objectives.Undecided, objectives.ImplementationFailures},
		"a case above, lacking in some":   {of("CaseTime", "copy", "100"), lost(6), objectives.Missed, ""},
		"a case of two processes":         {of("CaseTime", "copy", "120"), lost(3), objectives.Undecided, objectives.TooFewBlocks},
		"void processes":                  {of("CaseTime", "copy", "120"), stolen, objectives.Undecided, objectives.VoidCells},
		"a ratio above its most":          {ratio("CaseTime", "copy", "1.05"), nil, objectives.Missed, ""},
		"a ratio below its most":          {ratio("CaseTime", "copy", "1.15"), nil, objectives.Met, ""},
		"a ratio of 0 to 0":               {ratio("CaseAllocations", "copy", "1"), nil, objectives.Met, ""},
		"a ratio of a case that it lacks": {ratio("CaseTime", "copy", "1.15"), lost(1), objectives.Undecided, objectives.NotMeasured},
		"a ratio of void processes":       {ratio("CaseTime", "copy", "1.15"), stolen, objectives.Undecided, objectives.VoidCells},
		"a ratio to 0": {ratio("CaseAllocations", "copy", "1"), func(d *record.RunData) {
			for i := range d.Trials {
				if t := &d.Trials[i]; t.Manifest.Servers[0] == "go-slow" {
					t.Rows[1] = record.Exactly("Allocations", "copy", "allocs/op", record.LessIsBetter, 3)
				}
			}
		}, objectives.Undecided, objectives.ZeroHasNoRatio},
	} {
		t.Run(name, func(t *testing.T) {
			d := printing(10)
			d.Manifest.Plan.Objectives = []record.Objective{tc.objective}
			if tc.change != nil {
				tc.change(&d)
			}
			got := analysed(t, d).Objectives
			if len(got) != 1 || got[0].Outcome != tc.want || got[0].Reason != tc.reason {
				t.Errorf("got %+v, want %s %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestAnObjectiveHasAnEntryForEachCase(t *testing.T) {
	d := printing(3)
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectiveCaseTime, Max: "1"}, {Metric: v1alpha1.ObjectiveCaseTime, Case: "m*", Max: "1"}}
	var got []string
	for _, r := range analysed(t, d).Objectives {
		got = append(got, r.At()+" of "+r.Implementation)
	}
	want := []string{"copy of go", "copy of go-slow", "move of go", "move of go-slow", "move of go", "move of go-slow"}
	if !slices.Equal(got, want) {
		t.Errorf("the entries are %q, want %q", got, want)
	}
}

func TestARegressionOfACaseIsSeenThroughItsAnchor(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(now, then *record.RunData)
		want   objectives.Outcome
		reason objectives.Reason
	}{
		"nothing changed but the machine":         {func(_, then *record.RunData) { slower(then, "", 1.2) }, objectives.Met, ""},
		"it takes a fifth longer":                 {func(now, _ *record.RunData) { slower(now, "go-slow", 1.2) }, objectives.Missed, ""},
		"the earlier run has no such case":        {func(_, then *record.RunData) { without(then, "go-slow", "copy", 1) }, objectives.Undecided, objectives.LoadDiffers},
		"the anchor has another image":            {func(_, then *record.RunData) { images(then, "go", "sha256:other") }, objectives.Undecided, objectives.AnchorDiffers},
		"the earlier run is of another namespace": {func(_, then *record.RunData) { then.Manifest.Run.Namespace = "other" }, objectives.Undecided, objectives.NoEarlierRun},
	} {
		t.Run(name, func(t *testing.T) {
			now, then := printing(10), printing(10)
			tc.change(&now, &then)
			now.Manifest.Plan.Objectives = []record.Objective{{
				Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedCaseTime, Case: "copy", Max: "1.05",
				Against: &record.Reference{Anchor: "go"},
			}}
			earlier(&now, then, 3)
			got := analysed(t, now).Objectives
			if len(got) != 1 || got[0].Outcome != tc.want || got[0].Reason != tc.reason {
				t.Errorf("got %+v, want %s %s", got, tc.want, tc.reason)
			}
		})
	}
}

func slower(d *record.RunData, implementation string, factor float64) {
	for i := range d.Trials {
		t := &d.Trials[i]
		if implementation != "" && t.Manifest.Servers[0] != implementation {
			continue
		}
		for k := range t.Rows {
			if r := &t.Rows[k]; r.Metric == "Time" {
				*r = record.Exactly(r.Metric, r.Case, r.Unit, r.Better, r.Value*factor)
			}
		}
	}
}
