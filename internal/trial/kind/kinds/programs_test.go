package kinds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
)

// programs is a run of two programs, "old" and "new", which takes factor times as long.
func programs(t *testing.T, blocks int32, factor float64, changes ...func(*record.TrialData)) record.RunData {
	t.Helper()
	o := recordtest.Duel(blocks)
	o.Servers, o.Levels = o.Servers[:2], o.Levels[:1]
	d := recordtest.Run(o)
	plan := &d.Manifest.Plan
	plan.Cells, plan.Loads, plan.Trials, plan.Objectives = nil, nil, nil, nil
	plan.Programs = &record.Programs{Format: record.JSONLines, LimitSeconds: 30}
	rng := rand.New(rand.NewPCG(uint64(blocks), 11))
	for i := range d.Trials {
		one := &d.Trials[i]
		one.Manifest.Type, one.Manifest.Cells, one.Manifest.Programs = record.Microbenchmark, nil, plan.Programs
		one.Generators = nil
		slow := 1.0
		if one.Manifest.Servers[0] == o.Servers[1].Name {
			slow = factor
		}
		samples := func(nanos float64) []float64 {
			return []float64{nanos * math.Exp(0.01*rng.NormFloat64()), nanos * math.Exp(0.01*rng.NormFloat64()), 10 * nanos}
		}
		begun := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
		one.Servers[0].Cells = one.Servers[0].Cells[:1]
		one.Servers[0].Cells[0].Point = record.Point{}
		one.Servers[0].Program = &record.ProgramRun{Started: begun, Ended: begun.Add(2 * time.Second), Output: "output.txt"}
		for _, size := range []int{16, 256} {
			one.Servers[0].Program.Cases = append(one.Servers[0].Program.Cases, record.Case{
				Name: fmt.Sprintf("parse/size:%d", size), Axes: []record.Axis{{Name: "size", Value: fmt.Sprint(size)}}, Values: []record.CaseValue{
					{Metric: "Time", Unit: "ns", Better: record.LessIsBetter, Samples: samples(float64(size) * slow)},
					{Metric: "Allocations", Unit: "1", Better: record.LessIsBetter, Samples: []float64{0}},
				},
			})
		}
		for _, change := range changes {
			change(one)
		}
		one.Rows = microbenchmark.Kind{}.Rows(*one)
		plan.Trials = append(plan.Trials, one.Manifest.PlannedTrial)
		d.Manifest.Trials[i].PlannedTrial = one.Manifest.PlannedTrial
	}
	return d
}

func analysed(t *testing.T, d record.RunData) (analysis.Table, string) {
	t.Helper()
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.HTML(table)
	if err != nil {
		t.Fatal(err)
	}
	return table, string(page)
}

func TestProgramsAreComparedByTheFirstMetricOfEachCase(t *testing.T) {
	table, page := analysed(t, programs(t, 10, 1.1))
	for _, r := range table.Rows {
		if r.Metric == "Time" && (!r.Decides || r.Verdict != verdict.Worse || math.Abs(*r.Ratio-1.1) > 0.02) {
			t.Errorf("%s: %s, %s, ratio %v", r.Case, r.Verdict, r.Reason, *r.Ratio)
		}
		if r.Metric == "Allocations" && (r.Decides || r.Verdict != verdict.NoDifference || r.Reason != verdict.BothZero) {
			t.Errorf("allocations of %s: %s, %s", r.Case, r.Verdict, r.Reason)
		}
	}
	if conclusive, why := table.Conclusive(); !conclusive {
		t.Errorf("not conclusive: %s", why)
	}
	if c := table.Coverage; c.PlannedTrials != 20 || c.MeasuredTrials != 20 || c.PlannedCells != 20 || c.MeasuredCells != 20 || c.VoidCells != 0 {
		t.Errorf("the coverage is %+v", c)
	}
	for _, want := range []string{`id="cases"`, `id="values"`, "2 worse", "parse/size:*", "0 on both sides", "20 of 20 processes valid"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestAVoidProcessCountsNowhereAndDisturbsItsBlock(t *testing.T) {
	stolen := func(d *record.TrialData) {
		if d.Manifest.Block == 3 {
			c := &d.Servers[0].Cells[0]
			c.StealNanos = c.CoreNanos / 2
		}
	}
	table, page := analysed(t, programs(t, 10, 1.1, stolen))
	if blocks := table.DisturbedBlocks(); !slices.Equal(blocks, []int32{3}) {
		t.Errorf("the blocks %v are disturbed, want 3", blocks)
	}
	for _, r := range table.Rows {
		if r.Metric == "Time" && (r.Blocks != 9 || r.VoidBlocks != 1) {
			t.Errorf("%s: %d blocks, %d void", r.Case, r.Blocks, r.VoidBlocks)
		}
	}
	if table.Coverage.VoidCells != 2 || !strings.Contains(page, "void: 2 of 20 processes") || strings.Contains(page, "every process passed every check") {
		t.Errorf("%d processes are void, and the page does not say so", table.Coverage.VoidCells)
	}
	if !strings.Contains(page, "the hypervisor took 50.0 % of the program&#39;s CPU time (steal)") {
		t.Error("the page does not say what befell the program")
	}
}

// A program is no server, and has neither loads nor cells.
func TestAReportOnProgramsSpeaksOfNothingElse(t *testing.T) {
	unpinned := func(d *record.TrialData) {
		c := &d.Servers[0].Cells[0]
		switch d.Manifest.Block {
		case 1:
			c.CPUsAllowed = "0-63"
		case 2:
			c.Error = "no such process"
		case 3:
			c.BusyNanos = c.CoreNanos
		case 4:
			d.Servers[0].Environment.Kernel = "7.0"
		case 5:
			c.Unknown = []string{"the kernel does not say"}
		}
	}
	for name, d := range map[string]record.RunData{"sound": programs(t, 7, 1), "troubled": programs(t, 10, 1.1, unpinned)} {
		d.Manifest.Plan.Notes = nil // They are a sweep's.
		_, page := analysed(t, d)
		_, page, _ = strings.Cut(page, "<body")
		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
		for _, found := range regexp.MustCompile(`(?i).{0,60}\b(cells?|the server|server's|requests?)\b.{0,60}`).FindAllString(text, -1) {
			t.Errorf("%s: %s", name, found)
		}
	}
}

func TestAProgramThatDoesNotOwnItsCPUsIsVoid(t *testing.T) {
	table, _ := analysed(t, programs(t, 7, 1, func(d *record.TrialData) { d.Servers[0].Cells[0].CPUsAllowed = "0-63" }))
	for _, p := range table.Programs {
		if p.VoidCode() != validity.NotPinned {
			t.Fatalf("%s is %s: %+v", p.Trial, p.Validity, p.Reasons)
		}
	}
	if conclusive, why := table.Conclusive(); table.Counts() || conclusive || why != v1alpha1.ReasonNoValidResults {
		t.Errorf("of void processes alone the run is conclusive %v, %s", conclusive, why)
	}
}

func TestACaseThatIsLackingOrHasFailedIsNamed(t *testing.T) {
	lacks := func(d *record.TrialData) {
		own := d.Servers[0].Program
		if d.Manifest.Servers[0] == recordtest.Duel(1).Servers[1].Name {
			own.Cases = own.Cases[:1]
			return
		}
		own.Cases = append(own.Cases, record.Case{Name: "print", Failure: "no <paper>"})
	}
	table, page := analysed(t, programs(t, 7, 1, lacks))
	if len(table.CaseGaps) != 3 {
		t.Errorf("the gaps are %+v", table.CaseGaps)
	}
	for _, r := range table.Rows {
		if r.Case != "parse/size:16" {
			t.Errorf("%s is compared, which one side does not have", r.Case)
		}
	}
	if strings.Contains(page, "every process passed every check") {
		t.Error("the caveats say that nothing is wrong")
	}
	if !strings.Contains(page, "no &lt;paper&gt;") || !strings.Contains(page, "did not print the case parse/size:256") {
		t.Error("the page does not name them")
	}
}

// What remains flatters the side that failed.
func TestACaseThatFailsInSomeProcessesWinsNothing(t *testing.T) {
	fails := func(d *record.TrialData) {
		if d.Manifest.Servers[0] == recordtest.Duel(1).Servers[1].Name && d.Manifest.Block%3 == 0 {
			c := &d.Servers[0].Program.Cases[0]
			c.Values, c.Failure = nil, "too hard"
		}
	}
	table, _ := analysed(t, programs(t, 12, 0.8, fails))
	for _, r := range table.Rows {
		if r.Metric != "Time" {
			continue
		}
		if failing := r.Case == "parse/size:16"; failing && r.Verdict != verdict.Inconclusive || !failing && r.Verdict != verdict.Better {
			t.Errorf("%s is %s, %s", r.Case, r.Verdict, r.Reason)
		}
	}
}

func TestATimeThatNoWorkCanTakeIsMarked(t *testing.T) {
	table, page := analysed(t, programs(t, 7, 1, func(d *record.TrialData) {
		d.Servers[0].Program.Cases[0].Values[0].Samples = []float64{0.01, 0.011}
	}))
	if o := table.Headline().Cases[0]; o.Undecided == 0 {
		t.Errorf("the headline counts it: %+v", o)
	}
	if !table.Cases[0].OptimisedAway || !strings.Contains(page, "optimised away") {
		t.Errorf("%+v is not marked", table.Cases[0])
	}
}
