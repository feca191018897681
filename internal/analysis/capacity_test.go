package analysis_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/trial/search"
)

var bound = record.Search{Percentile: 99, MaxMilliseconds: 20, StartRequestsPerSecond: 500, Steps: 12}

// searched is a run of two servers that sustain 4,850 and 9,700 requests/s.
func searched(blocks int32, change func(*record.RunData)) record.RunData {
	d := recordtest.Search(recordtest.Options{
		Name: "capacity", Seed: 5, Blocks: blocks, Noise: 0.03, Seconds: 2,
		Servers: []recordtest.Server{{Name: "gohttp", CPUMicros: 200}, {Name: "epoll", CPUMicros: 100}},
	}, bound)
	if change != nil {
		change(&d)
	}
	return d
}

func eachStep(implementation string, blocks int32, change func(*record.CellRun, *record.CellObservation)) func(*record.RunData) {
	return func(d *record.RunData) {
		for i := range d.Trials {
			t := &d.Trials[i]
			if t.Manifest.Servers[0] != implementation || t.Manifest.Block > blocks {
				continue
			}
			for k := range t.Generators[0].Cells {
				change(&t.Generators[0].Cells[k], &t.Servers[0].Cells[k])
			}
		}
	}
}

func missed(run *record.CellRun) bool { return run.Measurement.Dropped > 0 }

func capacityOf(t *testing.T, table analysis.Table, implementation string) capacity.Capacity {
	t.Helper()
	for _, c := range table.Capacities {
		if c.Implementation == implementation {
			return c
		}
	}
	t.Fatalf("no capacity of %s", implementation)
	return capacity.Capacity{}
}

func TestCapacityIsFoundAndCompared(t *testing.T) {
	table := analyse(t, searched(10, nil))
	for name, want := range map[string]float64{"gohttp": 4850, "epoll": 9700} {
		c := capacityOf(t, table, name)
		if c.Rate == nil || c.Rate.N != 10 || c.Found != 10 || c.IsBound || c.ImplementationFailures != 0 {
			t.Fatalf("%s: %+v", name, c)
		}
		if math.Abs(c.Rate.Mean/want-1) > 0.05 || *c.Rate.Low >= c.Rate.Mean || *c.Rate.High <= c.Rate.Mean {
			t.Errorf("%s keeps %.0f (%.0f to %.0f), want about %.0f", name, c.Rate.Mean, *c.Rate.Low, *c.Rate.High, want)
		}
	}
	r := capacityOf(t, table, "epoll").ToBaseline
	if r.Verdict != verdict.Better || r.Blocks != 10 || math.Abs(*r.Ratio-2) > 0.1 {
		t.Errorf("epoll against gohttp: %+v", r)
	}
	if capacityOf(t, table, "gohttp").ToBaseline != nil {
		t.Error("the baseline is compared with itself")
	}
}

func TestStepsOfSearchesAreNoLevels(t *testing.T) {
	d := searched(7, nil)
	table := analyse(t, d)
	if len(table.Levels)+len(table.Groups)+len(table.Comparisons) != 0 {
		t.Errorf("%d levels, %d groups, %d comparisons", len(table.Levels), len(table.Groups), len(table.Comparisons))
	}
	steps := 0
	for _, trial := range d.Trials {
		steps += len(trial.Generators[0].Cells)
	}
	if c := table.Coverage; c.PlannedCells != steps || c.MeasuredCells != steps || c.PinnedCells != steps || c.VoidCells != 0 || c.SuspectCells != 0 {
		t.Errorf("coverage of %d steps: %+v", steps, c)
	}
	if conclusive, reason := table.Conclusive(); !conclusive {
		t.Errorf("not conclusive: %s", reason)
	}
	h := table.Headline()
	if len(h.Entries) != 1 || h.Entries[0].Metric != verdict.Capacity || h.Entries[0].Verdict != verdict.Better {
		t.Errorf("headline: %+v", h.Entries)
	}
}

func TestSearchesAndLevelsShareOneBudgetAndOneHeadline(t *testing.T) {
	o := recordtest.Duel(7)
	o.Levels = o.Levels[:1]
	alone := analyse(t, recordtest.Run(o))
	d := searched(7, func(d *record.RunData) {
		levels := recordtest.Run(o)
		d.Manifest.Plan.Loads = append(d.Manifest.Plan.Loads, levels.Manifest.Plan.Loads...)
		d.Manifest.Plan.Cells = append(d.Manifest.Plan.Cells, levels.Manifest.Plan.Cells...)
	})
	both := analyse(t, d)
	if len(alone.Headline().Entries) != 1 || len(both.Headline().Entries) != 2 {
		t.Errorf("headlines: %+v and %+v, want a line for each load", alone.Headline().Entries, both.Headline().Entries)
	}
	search := both.Capacities[1].ToBaseline
	if search.P == nil || search.AdjustedP == nil || *search.AdjustedP < *search.P/loadsShareOfTests {
		t.Errorf("the search has an adjusted p of %v for %v: it must pay its share", search.AdjustedP, search.P)
	}
}

// loadsShareOfTests is the budget share of loads and searches.
const loadsShareOfTests = 0.9

func TestWhatSearchesAreWorth(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		// wantN is the number of trials with a number.
		wantN, wantFailures int
		wantBound           capacity.Bound
		wantVerdict         verdict.Verdict
		wantReason          verdict.Reason
	}{
		"searches that miss no rate give a lower bound, which can win": {
			eachStep("epoll", 8, func(run *record.CellRun, _ *record.CellObservation) {
				m := run.Measurement
				recordtest.SetRequests(m, m.Asked)
				if m.Dropped = 0; m.Asked > 0 {
					m.Latency = []record.Latency{recordtest.Equal(record.FromIntended, 1000, m.Asked)}
				}
			}), 8, 0, capacity.NotReached, verdict.Better, "",
		},
		"a busy generator beside an idle server is the limit": {
			eachStep("gohttp", 8, func(run *record.CellRun, seen *record.CellObservation) {
				run.CPUNanos = 1_900_000_000
				seen.CPUNanos, seen.BusyNanos = seen.CPUNanos/2, seen.BusyNanos/2
			}), 8, 0, "", verdict.Inconclusive, verdict.BoundsOnly,
		},
		"a busy generator beside a busy server is not": {
			eachStep("epoll", 8, func(run *record.CellRun, _ *record.CellObservation) { run.CPUNanos = 1_900_000_000 }), 8, 0, "", verdict.Better, "",
		},
		"misses beside noisy neighbours give a lower bound": {
			eachStep("epoll", 1, func(run *record.CellRun, seen *record.CellObservation) {
				if missed(run) {
					seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/2
				}
			}), 8, 0, capacity.Disturbed, verdict.Better, "",
		},
		"bounds met beside noisy neighbours are met": {
			eachStep("epoll", 8, func(run *record.CellRun, seen *record.CellObservation) {
				if !missed(run) {
					seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/2
				}
			}), 8, 0, "", verdict.Better, "",
		},
		"errors at a rate that was missed are what a search looks for": {
			eachStep("epoll", 8, func(run *record.CellRun, _ *record.CellObservation) {
				if missed(run) {
					run.Measurement.Errors.Timeout = 500
				}
			}), 8, 0, "", verdict.Better, "",
		},
		"a server that was not pinned gives no number": {
			eachStep("epoll", 1, func(_ *record.CellRun, seen *record.CellObservation) { seen.CPUsAllowed = "0-7" }),
			7, 0, "", verdict.Better, "",
		},
		"wrong answers are a fault of its own": {
			eachStep("epoll", 1, func(run *record.CellRun, _ *record.CellObservation) {
				run.Audit = &record.Audit{Requests: 10, WrongBody: 10}
			}), 7, 1, "", verdict.Inconclusive, verdict.ImplementationFailures,
		},
		"a search that keeps no rate cannot help to win": {
			eachStep("epoll", 1, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Read = 1 }),
			7, 1, "", verdict.Inconclusive, verdict.ImplementationFailures,
		},
		"a tool that failed has found no boundary": {
			eachStep("epoll", 1, func(run *record.CellRun, _ *record.CellObservation) {
				if missed(run) {
					run.Measurement, run.Error = nil, "k6 was killed"
				}
			}), 8, 0, capacity.Disturbed, verdict.Better, "",
		},
		"a trial that is missing": {
			func(d *record.RunData) { recordtest.Drop(d, 1, "epoll", v1alpha1.ReasonPodLost, "") }, 7, 0, "", verdict.Better, "",
		},
		"a generator without records has tried nothing": {
			func(d *record.RunData) { d.Trials[0].Generators, d.Trials[1].Generators = nil, nil }, 7, 0, "", verdict.Better, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := capacityOf(t, analyse(t, searched(8, tc.change)), "epoll")
			if c.Rate == nil || c.Rate.N != tc.wantN || c.ImplementationFailures != tc.wantFailures {
				t.Fatalf("got %+v, want %d numbers and %d implementation failures", c, tc.wantN, tc.wantFailures)
			}
			if len(c.Trials) > 0 && c.Trials[0].Block == 1 && c.Trials[0].Bound != tc.wantBound {
				t.Errorf("bound %q, want %q", c.Trials[0].Bound, tc.wantBound)
			}
			if c.IsBound != (tc.wantBound != "") {
				t.Errorf("is a bound: %v", c.IsBound)
			}
			if c.ToBaseline.Verdict != tc.wantVerdict || c.ToBaseline.Reason != tc.wantReason {
				t.Errorf("%s %s, want %s %s", c.ToBaseline.Verdict, c.ToBaseline.Reason, tc.wantVerdict, tc.wantReason)
			}
			if sum := c.Found + c.BelowStart + c.NotReached + c.NotTried + c.Unusable + c.Missing; sum != 8 {
				t.Errorf("the outcomes add up to %d of 8 blocks: %+v", sum, c)
			}
		})
	}
}

func TestTwoBlocksGiveARatioAndNoVerdict(t *testing.T) {
	c := capacityOf(t, analyse(t, searched(2, nil)), "epoll")
	if c.Rate.N != 2 || c.Rate.Low != nil || c.ToBaseline.Verdict != verdict.Inconclusive || c.ToBaseline.Reason != verdict.TooFewBlocks || c.ToBaseline.Ratio == nil {
		t.Errorf("%+v, %+v", c, c.ToBaseline)
	}
}

func TestCapacityIsAnObjective(t *testing.T) {
	nothing := eachStep("epoll", 8, func(run *record.CellRun, _ *record.CellObservation) { run.Measurement.Errors.Read = 1 })
	for name, tc := range map[string]struct {
		min        string
		change     func(*record.RunData)
		want       objectives.Outcome
		wantReason objectives.Reason
	}{
		"far below the capacity": {"5000", nil, objectives.Met, ""},
		"far above it":           {"20000", nil, objectives.Missed, ""},
		"about it":               {"9600", nil, objectives.Undecided, objectives.IntervalStraddles},
		"above rates none of which was sustained": {"501", nothing, objectives.Missed, ""},
		"below rates none of which was sustained": {"0.5", nothing, objectives.Undecided, objectives.NoRateSustained},
		"a lower bound below it": {"20000", eachStep("epoll", 8, func(run *record.CellRun, seen *record.CellObservation) {
			run.CPUNanos = 1_900_000_000
			seen.CPUNanos, seen.BusyNanos = seen.CPUNanos/2, seen.BusyNanos/2
		}), objectives.Undecided, objectives.LowerBound},
		"one search without a rate": {"5000", eachStep("epoll", 1, func(run *record.CellRun, _ *record.CellObservation) {
			run.Measurement.Errors.Read = 1
		}), objectives.Undecided, objectives.ImplementationFailures},
	} {
		t.Run(name, func(t *testing.T) {
			d := searched(8, tc.change)
			d.Manifest.Plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectiveCapacity, Load: recordtest.SearchLoad, Min: tc.min, Implementations: []string{"epoll"}}}
			got := analyse(t, d).Objectives
			if len(got) != 1 || got[0].Outcome != tc.want || got[0].Reason != tc.wantReason || got[0].Unit != "requests/s" {
				t.Errorf("got %+v, want %s %s", got, tc.want, tc.wantReason)
			}
		})
	}
}

func TestEachSearchIsKeptWithItsSteps(t *testing.T) {
	c := capacityOf(t, analyse(t, searched(1, nil)), "gohttp")
	trial := c.Trials[0]
	if trial.Result != search.Found || trial.Highest.Rate == 0 || *trial.Rate < float64(trial.Highest.Rate) || *trial.Rate > float64(trial.Lowest.Rate) || trial.Lowest.Rate <= trial.Highest.Rate {
		t.Errorf("%+v", trial)
	}
	for k, s := range trial.Steps {
		if s.Step != int32(k+1) || s.Met == (s.Why != "") || s.Validity != validity.Valid || !s.Pinned {
			t.Errorf("step %d: %+v", k+1, s)
		}
	}
	if trial.Steps[0].Rate != bound.StartRequestsPerSecond {
		t.Errorf("the first rate is %d", trial.Steps[0].Rate)
	}
}

func TestASearchThatWasDisturbedIsWorthAnotherBlock(t *testing.T) {
	late := func(when func(*record.CellRun) bool) func(*record.CellRun, *record.CellObservation) {
		return func(run *record.CellRun, _ *record.CellObservation) {
			if when(run) {
				run.Measurement, run.Error, run.Late = nil, "the generator was late for the cell: 120ms", true
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		want   []int32
	}{
		"nothing happened":                 {nil, nil},
		"misses were steps begun too late": {eachStep("epoll", 1, late(missed)), []int32{1}},
		"all steps were begun too late":    {eachStep("epoll", 2, late(func(*record.CellRun) bool { return true })), []int32{1, 2}},
		"it answered wrongly by itself": {eachStep("epoll", 1, func(run *record.CellRun, _ *record.CellObservation) {
			run.Audit = &record.Audit{Requests: 10, WrongBody: 10}
		}), nil},
		"noisy neighbours hindered, and it met it": {eachStep("epoll", 8, func(run *record.CellRun, seen *record.CellObservation) {
			if !missed(run) {
				seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/2
			}
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, analyse(t, searched(8, tc.change)).DisturbedBlocks()); diff != "" {
				t.Errorf("disturbed blocks (-want +got):\n%s", diff)
			}
		})
	}
}
