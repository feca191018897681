package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// programs is a run of the programs go (the baseline) and go-slow, one process per block.
func programs(blocks int32, prints func(implementation string, block int32) []record.Case) record.RunData {
	o := recordtest.Duel(blocks)
	o.Servers, o.Levels = o.Servers[:2], o.Levels[:1]
	d := recordtest.Run(o)
	plan := &d.Manifest.Plan
	plan.Cells, plan.Loads = nil, nil
	plan.Programs = &record.Programs{Format: record.JSONLines, LimitSeconds: 30}
	begun := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for i := range d.Trials {
		t := &d.Trials[i]
		m := &t.Manifest
		m.Type, m.Cells, t.Generators = record.Microbenchmark, nil, nil
		t.Servers[0].Cells[0].Point = record.Point{}
		t.Servers[0].Program = &record.ProgramRun{
			Started: begun, Ended: begun.Add(2 * time.Second), Output: "output.txt", Cases: prints(m.Servers[0], m.Block),
		}
		for _, c := range t.Servers[0].Program.Cases {
			for _, v := range c.Values {
				t.Rows = append(t.Rows, record.Exactly(v.Metric, c.Name, v.Unit, v.Better, inference.Median(v.Samples)))
			}
		}
	}
	return d
}

func timed(name string, nanos ...float64) record.Case {
	return record.Case{Name: name, Values: []record.CaseValue{{Metric: "Time", Unit: "ns", Better: record.LessIsBetter, Samples: nanos}}}
}

// noisy adds half a percent of noise by block.
func noisy(nanos float64, block int32) float64 { return nanos * (1 + 0.005*float64(block%3-1)) }

// stolen gives half of a process's CPU to the hypervisor.
func stolen(d *record.RunData, block int32, implementation string) {
	for i := range d.Trials {
		if m := d.Trials[i].Manifest; m.Block == block && m.Servers[0] == implementation {
			c := &d.Trials[i].Servers[0].Cells[0]
			c.StealNanos = c.CoreNanos / 2
		}
	}
}

func caseOf(t *testing.T, table analysis.Table, implementation, name string) analysis.Case {
	t.Helper()
	for _, c := range table.Cases {
		if c.Implementation == implementation && c.Case == name {
			return c
		}
	}
	t.Fatalf("no case %s of %s in %+v", name, implementation, table.Cases)
	return analysis.Case{}
}

func TestACaseIsTheMeanOfTheProcessesThatCount(t *testing.T) {
	d := programs(4, func(_ string, block int32) []record.Case {
		times := []float64{1000, 10 * float64(block), 1}
		return []record.Case{timed("copy", times[:4-min(block, 3)]...)}
	})
	stolen(&d, 1, "go")
	c := caseOf(t, analysed(t, d), "go", "copy")
	// The medians of blocks 2 to 4 are (1000 + 20) / 2, 1000 and 1000.
	if c.Processes != 4 || c.Repetitions != 1 || c.Summary.N != 3 || math.Abs(c.Summary.Mean-2510.0/3) > 1e-9 || c.Summary.Min != 510 {
		t.Errorf("got %+v, %+v", c, c.Summary)
	}
}

func TestACaseOfVoidProcessesAloneHasNoMean(t *testing.T) {
	d := programs(2, func(string, int32) []record.Case { return []record.Case{timed("copy", 5)} })
	stolen(&d, 1, "go")
	stolen(&d, 2, "go")
	table := analysed(t, d)
	if c := caseOf(t, table, "go", "copy"); c.Summary != nil || c.Processes != 2 {
		t.Errorf("got %+v", c)
	}
	if c := caseOf(t, table, "go-slow", "copy"); c.Summary == nil || c.Summary.N != 2 {
		t.Errorf("the other side has %+v", c)
	}
	if len(table.CaseGaps) != 0 {
		t.Errorf("what was printed is missing: %+v", table.CaseGaps)
	}
}

func TestTheCasesOfAProgramAloneAreCounted(t *testing.T) {
	o := func(string, int32) []record.Case { return []record.Case{timed("copy", 5), timed("move", 7)} }
	if n := analysed(t, programs(2, o)).Headline().AloneCases; n != 0 {
		t.Errorf("%d cases are alone where two programs are compared", n)
	}
	alone := programs(2, o)
	alone.Manifest.Plan.Implementations = alone.Manifest.Plan.Implementations[:1]
	name := alone.Manifest.Plan.Implementations[0].Name
	alone.Manifest.Plan.Baseline = name
	of := func(trial record.PlannedTrial) bool { return trial.Servers[0] != name }
	alone.Manifest.Plan.Trials = slices.DeleteFunc(alone.Manifest.Plan.Trials, of)
	alone.Manifest.Trials = slices.DeleteFunc(alone.Manifest.Trials, func(e record.TrialEntry) bool { return of(e.PlannedTrial) })
	alone.Trials = slices.DeleteFunc(alone.Trials, func(d record.TrialData) bool { return d.Manifest.Servers[0] != name })
	if h := analysed(t, alone).Headline(); h.AloneCases != 2 || len(h.Cases)+len(h.Entries)+len(h.Peaks) != 0 {
		t.Errorf("the headline is %+v", h)
	}
	stolen(&alone, 1, name)
	stolen(&alone, 2, name)
	if n := analysed(t, alone).Headline().AloneCases; n != 0 {
		t.Errorf("%d cases of void processes count", n)
	}
}

func TestCasesKeepTheOrderInWhichTheyWerePrinted(t *testing.T) {
	table := analysed(t, programs(2, func(name string, block int32) []record.Case {
		switch {
		case name == "go" && block == 1:
			return []record.Case{timed("z", 5), timed("a", 5)}
		case name == "go":
			return []record.Case{timed("m", 5), timed("z", 5), timed("a", 5)}
		}
		return []record.Case{timed("a", 5)}
	}))
	var got []string
	for _, c := range table.Cases {
		got = append(got, fmt.Sprintf("%s %s in %d", c.Implementation, c.Case, c.Processes))
	}
	if diff := cmp.Diff([]string{"go z in 2", "go a in 2", "go m in 1", "go-slow a in 2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlyATimeCanBeTooShort(t *testing.T) {
	for name, tc := range map[string]struct {
		metric, unit string
		value        float64
		want         bool
	}{
		"a time that no work takes":         {"Time", "ns", 0.3, true},
		"a time of 0":                       {"Time", "ns", 0, true},
		"a cycle at 1 GHz":                  {"Time", "ns", 1, false},
		"the time of a processor":           {"CPU time", "ns", 0.3, false},
		"a time of the program's own unit":  {"Time", "ticks", 0.3, false},
		"a small number of something else":  {"Allocations", "1", 0, false},
		"a metric that ends with its words": {"Load Time", "ns", 0.3, false},
	} {
		t.Run(name, func(t *testing.T) {
			table := analysed(t, programs(2, func(string, int32) []record.Case {
				c := timed("copy", tc.value)
				c.Values[0].Metric, c.Values[0].Unit = tc.metric, tc.unit
				return []record.Case{c}
			}))
			if got := caseOf(t, table, "go", "copy").OptimisedAway; got != tc.want {
				t.Errorf("optimised away: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhatCouldNotBeReadIsSaidOncePerImplementation(t *testing.T) {
	d := programs(3, func(string, int32) []record.Case { return []record.Case{timed("copy", 5)} })
	for i := range d.Trials {
		if m := d.Trials[i].Manifest; m.Servers[0] == "go-slow" && m.Block > 1 {
			p := d.Trials[i].Servers[0].Program
			p.Unread, p.UnreadMore = []record.Unread{{Line: int(m.Block), Text: "hello", Why: "no JSON"}}, 4
		}
	}
	want := []analysis.UnreadOutput{{Implementation: "go-slow", Processes: 2, Parts: 10, Block: 2, Unread: record.Unread{Line: 2, Text: "hello", Why: "no JSON"}}}
	table := analysed(t, d)
	if diff := cmp.Diff(want, table.Unread); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, table.Headline().Unread); diff != "" {
		t.Errorf("the headline (-want +got):\n%s", diff)
	}
}

func TestNamesThatTheRunGivesAreListed(t *testing.T) {
	d := programs(2, func(name string, _ int32) []record.Case {
		one, other := timed("copy/1", 5), timed("copy/2", 5)
		if name == "go-slow" {
			one.Printed, other.Printed = "BM_1", "BM_2"
		}
		return []record.Case{one, other}
	})
	names := []record.CaseName{{Printed: "BM_3", Name: "move"}, {Printed: "BM_*", Name: "copy/*"}}
	d.Manifest.Plan.Programs.Outputs = []record.ProgramOutput{{Implementation: "go-slow", Cases: names}}
	want := []analysis.CaseName{{Implementation: "go-slow", CaseName: names[0]}, {Implementation: "go-slow", CaseName: names[1], Cases: 2}}
	table := analysed(t, d)
	if diff := cmp.Diff(want, table.CaseNames); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:1], table.Headline().Unprinted); diff != "" {
		t.Errorf("the headline (-want +got):\n%s", diff)
	}
}

func TestGapsSayWhoLacksWhatAndWhy(t *testing.T) {
	failed := func(name, why string) record.Case { return record.Case{Name: name, Failure: why} }
	table := analysed(t, programs(3, func(name string, block int32) []record.Case {
		out := []record.Case{timed("both", 5)}
		switch {
		case name == "go":
			out = append(out, timed("print", 5), timed("sort", 5))
		case block == 1:
			out = append(out, failed("sort", "no memory"))
		case block == 2:
			out = append(out, failed("sort", "no luck"))
		default:
			out = append(out, timed("sort", 5))
		}
		return append(out, failed("never", "not here"))
	}))
	want := []analysis.CaseGap{
		{Implementation: "go", Case: "never", Processes: 3, Failure: "not here"},
		{Implementation: "go-slow", Case: "never", Processes: 3, Failure: "not here"},
		{Implementation: "go-slow", Case: "print", Processes: 3},
		{Implementation: "go-slow", Case: "sort", Processes: 2, Failure: "no memory"},
	}
	if diff := cmp.Diff(want, table.CaseGaps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheHeadlineCountsHowCasesCameOut(t *testing.T) {
	d := programs(10, func(name string, block int32) []record.Case {
		factors := map[string]float64{"a": 1.5, "b": 0.5, "c": 1, "d": 1.3, "e": 1}
		var out []record.Case
		for _, c := range []string{"a", "b", "c", "d", "e", "f"} {
			nanos := 100.0
			if name == "go-slow" {
				nanos = noisy(100*factors[c], block)
			}
			switch {
			case c == "e":
				nanos /= 1000 // No work takes so little.
			case c == "f" && name == "go-slow":
				continue
			}
			out = append(out, timed(c, nanos))
		}
		return out
	})
	stolen(&d, 4, "go-slow")
	outcomes := analysed(t, d).Headline().Cases
	if len(outcomes) != 1 {
		t.Fatalf("%d outcomes: %+v", len(outcomes), outcomes)
	}
	o := outcomes[0]
	// Half (b) is farther from 1 than one and a half times.
	if o.Largest == nil || o.Largest.Case != "b" {
		t.Errorf("the largest difference is %+v", o.Largest)
	}
	o.Largest = nil
	want := analysis.CaseOutcome{
		Implementation: "go-slow", Baseline: "go", Cases: 5, Better: 1, Worse: 2, Same: 1, Undecided: 1, Processes: 20, VoidProcesses: 1,
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMetricInSeveralUnitsLosesItsValuesOnly(t *testing.T) {
	for name, change := range map[string]func(*record.CaseValue){
		"another unit":      func(v *record.CaseValue) { v.Unit = "ms" },
		"another direction": func(v *record.CaseValue) { v.Better = record.MoreIsBetter },
	} {
		t.Run(name, func(t *testing.T) {
			table := analysed(t, programs(10, func(name string, block int32) []record.Case {
				c := timed("copy", noisy(5, block))
				c.Values = append(c.Values, record.CaseValue{Metric: "CPU time", Unit: "ns", Better: record.LessIsBetter, Samples: []float64{noisy(5, block)}})
				if name == "go-slow" && block == 2 {
					change(&c.Values[0])
				}
				return []record.Case{c, timed("sort", noisy(5, block))}
			}))
			for _, r := range table.Rows {
				mixed := r.Case == "copy" && r.Metric == "Time"
				if (r.Reason == verdict.UnitsDiffer) != mixed || (r.Verdict == verdict.Inconclusive) != mixed || r.Decides != (r.Metric == "Time") || r.VoidBlocks != 0 {
					t.Errorf("%s of case %s: %s %s, decides %v, %d void", r.Metric, r.Case, r.Verdict, r.Reason, r.Decides, r.VoidBlocks)
				}
			}
			if o := table.Headline().Cases[0]; o.Same != 1 || o.Undecided != 1 {
				t.Errorf("the outcome is %+v", o)
			}
			for _, c := range table.Cases {
				if (c.Summary == nil) != (c.Case == "copy" && c.Metric == "Time") {
					t.Errorf("%s of case %s of %s has the summary %+v", c.Metric, c.Case, c.Implementation, c.Summary)
				}
			}
		})
	}
}

func TestACaseThatFailedInSomeProcessesIsCountedAgainstItsSide(t *testing.T) {
	table := analysed(t, programs(10, func(name string, block int32) []record.Case {
		if name == "go-slow" && block > 8 {
			return []record.Case{{Name: "copy", Failure: "no"}, timed("sort", noisy(50, block))}
		}
		if name == "go-slow" {
			return []record.Case{timed("copy", noisy(50, block)), timed("sort", noisy(50, block))}
		}
		return []record.Case{timed("copy", 100), timed("sort", 100)}
	}))
	for _, r := range table.Rows {
		want := verdict.Better
		if r.Case == "copy" {
			want = verdict.Inconclusive
		}
		if r.Verdict != want {
			t.Errorf("%s is %s, %s", r.Case, r.Verdict, r.Reason)
		}
	}
}

func TestProcessesAreTheCellsOfTheirRun(t *testing.T) {
	d := programs(3, func(string, int32) []record.Case { return []record.Case{timed("copy", 5)} })
	stolen(&d, 1, "go")
	stolen(&d, 3, "go-slow")
	for i := range d.Trials {
		if d.Trials[i].Manifest.Block == 2 {
			d.Trials[i].Servers[0].Cells[0].BusyNanos = 0 // It is unknown who else used its CPUs.
		}
	}
	recordtest.Drop(&d, 3, "go", "ProgramFailed", "exit code 1")
	table := analysed(t, d)
	c := table.Coverage
	if c.PlannedTrials != 6 || c.MeasuredTrials != 5 || c.PlannedCells != 6 || c.MeasuredCells != 5 {
		t.Errorf("got %+v", c)
	}
	if c.VoidCells != 2 || c.SuspectCells != 2 || c.PinnedCells != 5 {
		t.Errorf("%d cells are void, %d suspect, %d pinned", c.VoidCells, c.SuspectCells, c.PinnedCells)
	}
	if len(c.Missing) != 1 || c.Missing[0].Implementation != "go" || c.Missing[0].Block != 3 || c.Missing[0].Message != "exit code 1" {
		t.Errorf("missing are %+v", c.Missing)
	}
	if diff := cmp.Diff([]int32{1, 3}, table.DisturbedBlocks()); diff != "" {
		t.Errorf("disturbed blocks (-want +got):\n%s", diff)
	}
}

func TestTheProcessesOfALimitAreCountedApart(t *testing.T) {
	d := programs(3, func(string, int32) []record.Case { return []record.Case{timed("copy", 5)} })
	d.Manifest.Plan.Implementations[1].Role = record.RoleReference
	stolen(&d, 2, "go-slow")
	table := analysed(t, d)
	if c := table.Coverage; c.VoidCells != 1 || c.References.VoidCells != 1 || c.Contenders().VoidCells != 0 || c.Contenders().PlannedCells != 3 {
		t.Errorf("got %+v", c)
	}
	if blocks := table.DisturbedBlocks(); len(blocks) != 0 || len(table.Rows) != 0 {
		t.Errorf("a limit disturbs the blocks %v, and is compared in %d rows", blocks, len(table.Rows))
	}
}

func TestWorkThatWasOptimisedAwayLeavesARunInconclusive(t *testing.T) {
	table := analysed(t, programs(10, func(name string, block int32) []record.Case {
		if name == "go" {
			return []record.Case{timed("copy", 0.1)}
		}
		return []record.Case{timed("copy", noisy(0.2, block))}
	}))
	if ok, why := table.Conclusive(); ok || table.Headline().Cases[0].Undecided != 1 {
		t.Errorf("conclusive %v, %s, with the outcome %+v", ok, why, table.Headline().Cases[0])
	}
}
