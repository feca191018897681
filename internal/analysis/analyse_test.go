package analysis_test

import (
	"bytes"
	"encoding/json"
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func analyse(t *testing.T, d record.RunData) analysis.Table {
	t.Helper()
	got, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnalyseFindsThePlantedDifference(t *testing.T) {
	got := analyse(t, recordtest.Run(recordtest.Duel(10)))
	if len(got.Comparisons) != 1 {
		t.Fatalf("%d comparisons, want one: the limit takes no part", len(got.Comparisons))
	}
	c := got.Comparisons[0]
	if c.Verdict != verdict.Worse || math.Abs(*c.Overall[0].Ratio-1.2) > 0.03 {
		t.Errorf("verdict %s with a CPU time ratio of %v, want Slower and 1.2", c.Verdict, *c.Overall[0].Ratio)
	}
	if ok, reason := got.Conclusive(); !ok || reason != v1alpha1.ReasonDone {
		t.Errorf("conclusive %v %s", ok, reason)
	}
	h := got.Headline().Entries[0]
	if h.Implementation != "go-slow" || h.Baseline != "go" || len(h.Decided) != 4 || *h.Low > *h.Ratio || *h.High < *h.Ratio || h.Load != "sweep" {
		t.Errorf("headline %+v", h)
	}
}

func TestAnalyseRelatesCPUTimeToRequests(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(1))
	run, seen := recordtest.Cell(&d, 1, "go", 100)
	cell := analyse(t, d).Group(record.Point{Load: "sweep", Connections: 100}, "go").Cells[0]
	want := []float64{
		float64(run.Measurement.Requests) / float64(run.Measurement.DurationMicros) * 1e6,
		float64(seen.CPUNanos) / 1e3 / float64(run.Measurement.Requests),
		float64(seen.CPUNanos) / 1e3 / float64(run.Measurement.DurationMicros),
		float64(seen.RSSBytes),
	}
	if diff := cmp.Diff(want, []float64{*cell.Throughput, *cell.CPUPerRequest, *cell.ServerCPUs, *cell.ServerRSS}, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("throughput, CPU time per request, CPUs, memory (-want +got):\n%s", diff)
	}
}

func TestRepeatBlocksArePlannedBlocks(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(4))
	d.Manifest.Blocks, d.Manifest.Plan.Blocks, d.Manifest.RepeatBlocks = 2, 2, 2
	got := analyse(t, d).Coverage
	if got.PlannedTrials != 12 || got.MeasuredTrials != 12 || got.PlannedCells != 48 || got.MeasuredCells != 48 || len(got.Missing) != 0 {
		t.Errorf("coverage %+v", got)
	}
}

func TestKindsOfLatencyAreNeverMixed(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(2))
	var observed, corrected int64
	for block := int32(1); block <= 2; block++ {
		run, _ := recordtest.Cell(&d, block, "go", 10)
		observed += run.Measurement.Latency[0].Samples
		corrected += run.Measurement.Latency[1].Samples
	}
	got := analyse(t, d).Group(record.Point{Load: "sweep", Connections: 10}, "go").Latency
	if len(got) != 2 || got[0].Kind != record.Observed || got[0].Samples != observed || got[1].Kind != record.Corrected || got[1].Samples != corrected {
		t.Errorf("distributions %+v, want %d observed and %d corrected samples", got, observed, corrected)
	}
}

func TestCoverageSaysWhatIsMissing(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(2))
	recordtest.Drop(&d, 1, "go", v1alpha1.ReasonServerExited, "exit status 139")
	recordtest.Drop(&d, 2, "epoll", "", "")
	d.Manifest.Trials = d.Manifest.Trials[:len(d.Manifest.Trials)-1]
	d.Trials = d.Trials[:len(d.Trials)-1]
	got := analyse(t, d).Coverage
	if got.PlannedTrials != 6 || got.MeasuredTrials != 3 || got.PlannedCells != 24 || got.MeasuredCells != 12 || len(got.Missing) != 3 {
		t.Errorf("coverage %+v", got)
	}
	reasons := map[string]int{}
	for _, m := range got.Missing {
		reasons[m.Reason]++
	}
	if reasons[v1alpha1.ReasonServerExited] != 1 || reasons[analysis.ReasonNotStarted] != 2 {
		t.Errorf("reasons %v", reasons)
	}
}

func TestOnlyBlocksWithAnExternalDisturbanceAreDisturbed(t *testing.T) {
	o := recordtest.Duel(7)
	level := o.Levels[0]
	d := recordtest.Run(o)
	neighbour := func(block int32, implementation string) *record.CellRun {
		run, seen := recordtest.Cell(&d, block, implementation, level)
		seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/5
		return run
	}
	neighbour(5, "go")
	neighbour(2, "go-slow")
	neighbour(6, "epoll")
	neighbour(3, "go").Measurement.Errors.Status = 1
	run, _ := recordtest.Cell(&d, 4, "go", level)
	run.Measurement.Errors.Status = 1
	// Timeouts count against a server, but not next to noisy neighbours.
	neighbour(7, "go").Measurement.Errors.Timeout = int64(level)
	run, _ = recordtest.Cell(&d, 1, "go-slow", level)
	run.Measurement.Errors.Timeout = int64(level)
	table := analyse(t, d)
	if diff := cmp.Diff([]int32{2, 5, 7}, table.DisturbedBlocks()); diff != "" {
		t.Errorf("disturbed blocks (-want +got):\n%s", diff)
	}
	if c := table.Comparisons[0]; c.BaselineFailures != 2 || c.ContenderFailures != 1 {
		t.Errorf("failures of the baseline and the other: %d, %d", c.BaselineFailures, c.ContenderFailures)
	}
}

func TestGeneratorsOnSeveralNodesDoNotDifferBetweenTrials(t *testing.T) {
	o := recordtest.Duel(2)
	o.Generators = 2
	for _, f := range analyse(t, recordtest.Run(o)).Environment {
		if f.Differs {
			t.Errorf("%s %s differs: %+v", f.Role, f.Key, f.Values)
		}
		if f.Role == "generator" && f.Key == environment.Node && f.Values[0].Value != "loadgen, loadgen-1" {
			t.Errorf("the generators' nodes are %+v", f.Values)
		}
	}
}

func TestEnvironmentMarksWhatDiffers(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(2))
	d.Trials[1].Servers[0].Environment.Kernel = "6.1.0-19-amd64"
	for _, f := range analyse(t, d).Environment {
		if want := f.Role == "server" && f.Key == environment.Kernel; f.Differs != want {
			t.Errorf("%s %s differs: %v, values %v", f.Role, f.Key, f.Differs, f.Values)
		}
	}
}

func TestAnalyseRefusesRecordsThatContradictEachOther(t *testing.T) {
	for name, change := range map[string]func(*record.RunData){
		"a trial of another run":            func(d *record.RunData) { d.Trials[0].Manifest.Run.UID = "other" },
		"a trial of nobody":                 func(d *record.RunData) { d.Trials[0].Manifest.Servers[0] = "nobody" },
		"two trials in one place":           func(d *record.RunData) { d.Trials = append(d.Trials, d.Trials[0]) },
		"a baseline that was not planned":   func(d *record.RunData) { d.Manifest.Plan.Baseline = "nobody" },
		"a spec without implementations":    func(d *record.RunData) { d.Manifest.Plan.Implementations = nil },
		"a histogram that cannot be read":   func(d *record.RunData) { d.Trials[0].Generators[0].Cells[0].Measurement.Latency[0].HDR = "x" },
		"a histogram with another number":   func(d *record.RunData) { d.Trials[0].Generators[0].Cells[0].Measurement.Latency[0].Samples++ },
		"a kind of latency that is unknown": func(d *record.RunData) { d.Trials[0].Generators[0].Cells[0].Measurement.Latency[0].Kind = "Felt" },
	} {
		t.Run(name, func(t *testing.T) {
			d := recordtest.Run(recordtest.Duel(2))
			change(&d)
			if _, err := analysis.Analyse(d); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestARunWithoutTrialsHasATable(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(2))
	d.Trials = nil
	for i := range d.Manifest.Trials {
		d.Manifest.Trials[i].Manifest, d.Manifest.Trials[i].Reason = nil, v1alpha1.ReasonImagePull
	}
	got := analyse(t, d)
	if len(got.Coverage.Missing) != 6 || got.Comparisons[0].Verdict != verdict.Inconclusive || got.Comparisons[0].Reason != verdict.TooFewBlocks {
		t.Errorf("coverage %+v, comparison %+v", got.Coverage, got.Comparisons[0])
	}
}

func TestSpentRecordsGiveTheSameTable(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(4))
	want, err := json.Marshal(analyse(t, d))
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(analyse(t, d))
	if err != nil || !bytes.Equal(again, want) {
		t.Errorf("a second analysis differs, or fails: %v", err)
	}
	table, err := analysis.Spend(d)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(table); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the table of spent records differs: %v", err)
	}
	for _, trial := range d.Trials {
		for k, run := range trial.Generators[0].Cells {
			if run.Measurement.Latency != nil || trial.Servers[0].Cells[k].Series != nil {
				t.Fatalf("%s of %s is still held", run.Name(), trial.Manifest.Name)
			}
		}
	}
}

// Twelve times as many samples over time must not take more memory afterwards.
func TestSamplesOverTimeAreNotHeldAfterTheAnalysis(t *testing.T) {
	held := func(seconds int32) float64 {
		o := recordtest.Duel(25)
		o.Seconds = seconds
		recordtest.Run(o) // Afterwards package recordtest holds its distributions.
		runtime.GC()
		before := heap()
		d := recordtest.Run(o)
		table, err := analysis.Spend(d)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // Pools are emptied in steps.
			runtime.GC()
		}
		after := heap()
		runtime.KeepAlive(d)
		runtime.KeepAlive(table)
		return float64(after) - float64(before)
	}
	if short, long := held(5), held(60); long > 1.5*short {
		t.Errorf("%.0f bytes are held with cells of 5 s, %.0f with cells of a minute", short, long)
	}
}

// Each cell's histograms take more than 200 kB while it is read.
func TestCellsAreReadInTheSameMemory(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(25))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	table, err := analysis.Spend(d)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 300; each > 125_000 || len(table.Groups) == 0 {
		t.Errorf("%d bytes are allocated for each cell", each)
	}
}

// BenchmarkAnalyse1000Cells also reports the peak memory (garbage included) and the memory that the table keeps.
func BenchmarkAnalyse1000Cells(b *testing.B) {
	o := recordtest.Options{Name: "large", Seed: 1, Blocks: 20, Noise: 0.03, Seconds: 5, Levels: []int32{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		o.Servers = append(o.Servers, recordtest.Server{Name: name, CPUMicros: 10, RSSBytes: 1 << 20})
	}
	d := recordtest.Run(o)
	var table analysis.Table
	runtime.GC()
	before, largest := heap(), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if table, err = analysis.Analyse(d); err != nil {
			b.Fatal(err)
		}
		largest = max(largest, heap())
	}
	runtime.GC()
	held := heap()
	seconds, memory := b.Elapsed().Seconds()/float64(b.N), float64(largest-min(before, largest))/1e6
	b.ReportMetric(float64(held-min(before, held))/1e6, "table-MB")
	b.Log(figures.Of("analysis-time", seconds, "s", figures.AtMost(1), "1,000 cells with 2 histograms each").Line())
	b.Log(figures.Of("analysis-memory", memory, "MB", figures.AtMost(200), "largest heap after an analysis beyond that before it, garbage included").Line())
	runtime.KeepAlive(table)
	runtime.KeepAlive(d)
}

// heap includes objects that are not yet swept.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestTheHeadlineSaysWhyNothingCanBeCompared(t *testing.T) {
	data := recordtest.Run(recordtest.Duel(2))
	for i := range data.Trials {
		for j := range data.Trials[i].Servers[0].Cells {
			o := &data.Trials[i].Servers[0].Cells[j]
			o.BusyNanos = o.CPUNanos + o.CoreNanos/2
		}
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		t.Fatal(err)
	}
	entries := table.Headline().Entries
	if len(entries) != 1 {
		t.Fatalf("%d comparisons, want 1", len(entries))
	}
	for _, e := range entries {
		if e.Cells == 0 || e.VoidCells != e.Cells || len(e.VoidReasons) != 1 || e.VoidReasons[0] != validity.NoisyNeighbours {
			t.Errorf("%d of %d cells are void for %v, want all for other processes on the server's CPUs", e.VoidCells, e.Cells, e.VoidReasons)
		}
	}
}

// neighboured lets others use a share of the server's CPUs in each cell.
func neighboured(d record.RunData, share float64) record.RunData {
	for i := range d.Trials {
		for j := range d.Trials[i].Servers[0].Cells {
			o := &d.Trials[i].Servers[0].Cells[j]
			o.BusyNanos = o.CPUNanos + int64(share*float64(o.CoreNanos))
		}
	}
	return d
}

func TestALargeDifferenceIsIndicatedOnABusyMachine(t *testing.T) {
	for name, tc := range map[string]struct {
		micros, busy float64
		blocks       int32
		grade        verdict.Grade
		reason       string
	}{
		"ten times the CPU time, half of the CPU taken":       {112, 0.5, 8, verdict.Indicated, v1alpha1.ReasonIndicated},
		"the same on a quiet machine":                         {112, 0, 8, verdict.Proved, v1alpha1.ReasonDone},
		"less than what neighbors may do":                     {13.44, 0.5, 8, verdict.NotComparable, v1alpha1.ReasonNoValidResults},
		"ten times the CPU time in too few blocks":            {112, 0.5, 6, verdict.NotComparable, v1alpha1.ReasonNoValidResults},
		"ten times the CPU time, nearly all of the CPU taken": {112, 0.9, 8, verdict.NotComparable, v1alpha1.ReasonNoValidResults},
	} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.Duel(tc.blocks)
			o.Servers = o.Servers[:2]
			o.Servers[1].CPUMicros = tc.micros
			table := analyse(t, neighboured(recordtest.Run(o), tc.busy))
			e := table.Headline().Entries[0]
			if _, reason := table.Conclusive(); e.Grade != tc.grade || reason != tc.reason {
				t.Fatalf("%s with reason %s, want %s and %s (%+v)", e.Grade, reason, tc.grade, tc.reason, e.Indicated)
			}
			if i := e.Indicated; (i != nil) != (tc.grade == verdict.Indicated) || i != nil && (i.Verdict != verdict.Worse || i.Low > 0.06 || i.High < 0.19 || i.High > 0.25 || i.Void != i.Cells) {
				t.Errorf("indicated %+v", i)
			}
		})
	}
}
