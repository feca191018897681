package analysis_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// twins are two servers on a drifting machine; the second costs more CPU time.
func twins(duet bool, more float64, deltas ...func(*recordtest.Options)) record.RunData {
	o := recordtest.Options{
		Name: "twins", Seed: 11, Blocks: 10, Levels: []int32{10, 100}, Seconds: 5, Noise: 0.004, Drift: 0.07, Duet: duet,
		Servers: []recordtest.Server{{Name: "go", CPUMicros: 11.2, RSSBytes: 9 << 20}, {Name: "go2", CPUMicros: 11.2 * more, RSSBytes: 9 << 20}},
	}
	for _, d := range deltas {
		d(&o)
	}
	return recordtest.Run(o)
}

func TestADuetSeesThroughDriftThatHidesADifferenceFromBlocks(t *testing.T) {
	for name, tc := range map[string]struct {
		duet bool
		more float64
		want verdict.Verdict
	}{
		"one after the other, 6 %": {false, 1.06, verdict.Inconclusive},
		"in turns, 6 %":            {true, 1.06, verdict.Worse},
		"in turns, 3 %":            {true, 1.03, verdict.NoDifference},
		"one after the other, 0 %": {false, 1, verdict.Inconclusive},
		"in turns, 0 %":            {true, 1, verdict.NoDifference},
	} {
		t.Run(name, func(t *testing.T) {
			got := analyse(t, twins(tc.duet, tc.more)).Comparisons[0]
			r := got.Deciding()
			if got.Verdict != tc.want || *r.Low > tc.more || *r.High < 1/tc.more {
				t.Errorf("%s by %s: ratio %.4f (%.4f to %.4f), want %s", got.Verdict, got.Metric, *r.Ratio, *r.Low, *r.High, tc.want)
			}
		})
	}
}

func TestATrialOfADuetIsCountedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		duet bool
		want int
	}{
		"in turns":            {true, 10},
		"one after the other": {false, 20},
	} {
		c := analyse(t, twins(tc.duet, 1)).Coverage
		if c.PlannedTrials != tc.want || c.MeasuredTrials != tc.want || c.PlannedCells != 40 || c.MeasuredCells != 40 {
			t.Errorf("%s: %d of %d trials with %d of %d cells, want %d and 40", name, c.MeasuredTrials, c.PlannedTrials, c.MeasuredCells, c.PlannedCells, tc.want)
		}
	}
}

func TestADuetIsReadAsTwoTrialsOfItsBlock(t *testing.T) {
	d := twins(true, 1.2)
	before, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	got := analyse(t, d)
	if after, err := json.Marshal(d); err != nil || string(after) != string(before) {
		t.Errorf("analysing a duet has changed its records (%v)", err)
	}
	c := got.Coverage
	if c.PlannedTrials != 10 || c.MeasuredTrials != 10 || c.MeasuredCells != 40 || c.PinnedCells != 40 || c.VoidCells != 0 || len(c.Missing) != 0 {
		t.Errorf("coverage %+v", c)
	}
	for _, g := range got.Groups {
		if len(g.Latency) != 0 || g.MeanLatency != nil || g.Throughput == nil || g.Throughput.N != 10 || len(g.Findings) != 0 {
			t.Errorf("%s at %d: %+v", g.Implementation, g.Connections, g)
		}
	}
	want := []environment.Unknown{}
	for _, name := range []string{"go", "go2"} {
		for _, sentence := range []string{
			"The latencies are unknown, since in a duet the load generator is frozen while the other server has its turn.",
			"The generator's traffic and its agent's CPU time are unknown, since the two servers of a duet share them.",
		} {
			want = append(want, environment.Unknown{Implementation: name, Sentence: sentence, Cells: 20})
		}
	}
	if diff := cmp.Diff(want, got.Unknowns); diff != "" {
		t.Errorf("what is unknown (-want +got):\n%s", diff)
	}
	images := map[string]int{}
	for _, f := range got.Environment {
		if f.Key == environment.Image {
			images[f.Role+" "+f.Implementation] += f.Values[0].Trials
		}
	}
	if diff := cmp.Diff(map[string]int{"server go": 10, "server go2": 10, "generator ": 20}, images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	seen := map[string]bool{}
	for _, a := range got.Artifacts {
		if seen[a.Key] {
			t.Errorf("the artifact %s is listed twice", a.Key)
		}
		seen[a.Key] = true
	}
}

func TestThroughputOfADuetIsOfTheTimeInWhichTheToolRan(t *testing.T) {
	d := twins(true, 1, func(o *recordtest.Options) { o.Blocks = 1 })
	run, seen := &d.Trials[0].Generators[0].Cells[1], &d.Trials[0].Servers[1].Cells[0]
	run.Measurement.Requests, run.ActiveNanos, run.CPUNanos, seen.CPUNanos = 1_000_000, 5_000_000_000, 2_500_000_000, 4_000_000_000
	c := analyse(t, d).Group(run.Point, d.Trials[0].Manifest.Servers[1]).Cells[0]
	want := []float64{200_000, 4, 0.8, 0.5, 5}
	if diff := cmp.Diff(want, []float64{*c.Throughput, *c.CPUPerRequest, *c.ServerCPUs, *c.GeneratorCPUs, c.LoadSeconds}); diff != "" {
		t.Errorf("throughput, CPU time per request, CPUs of server and generator, seconds (-want +got):\n%s", diff)
	}
}

func TestValidityOfADuet(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.TrialData)
		want   validity.Code
	}{
		"a good one":                   {change: func(*record.TrialData) {}},
		"servers on different CPUs":    {func(d *record.TrialData) { d.Servers[1].Cells[0].CPUsAllowed = "0" }, validity.NotTogether},
		"servers on different nodes":   {func(d *record.TrialData) { d.Servers[1].Environment.Node = "elsewhere" }, validity.NotTogether},
		"a server that was not seen":   {func(d *record.TrialData) { d.Servers[1].Cells = nil }, validity.NotTogether},
		"a server on two CPUs":         {func(d *record.TrialData) { d.Servers[0].Cells[0].CPUsAllowed = "0-1" }, validity.NotPinned},
		"a time that is unknown":       {func(d *record.TrialData) { d.Generators[0].Cells[0].ActiveNanos = 0 }, validity.CutShort},
		"somebody else on their CPU":   {func(d *record.TrialData) { d.Servers[0].Cells[0].BusyNanos += d.Servers[0].Cells[0].CoreNanos / 5 }, validity.NoisyNeighbours},
		"a tool that failed, for both": {func(d *record.TrialData) { d.Generators[0].Cells[0].Measurement = nil }, validity.ToolFailed},
	} {
		t.Run(name, func(t *testing.T) {
			d := twins(true, 1, func(o *recordtest.Options) { o.Blocks = 1 })
			tc.change(&d.Trials[0])
			c := analyse(t, d).Group(d.Trials[0].Generators[0].Cells[0].Point, d.Trials[0].Manifest.Servers[0]).Cells[0]
			if tc.want == "" {
				if c.Validity != validity.Valid {
					t.Errorf("%+v", c.Reasons)
				}
				return
			}
			if len(c.Reasons) == 0 || c.Reasons[0].Code != tc.want && c.Reasons[len(c.Reasons)-1].Code != tc.want || c.Validity != validity.Void {
				t.Errorf("%s: %+v, want %s", c.Validity, c.Reasons, tc.want)
			}
		})
	}
}

func TestEveryCellOfAGoodDuetIsValid(t *testing.T) {
	o := recordtest.Duel(3)
	o.Servers, o.Duet = o.Servers[:2], true
	for _, g := range analyse(t, recordtest.Run(o)).Groups {
		for _, c := range g.Cells {
			if c.Validity != validity.Valid || !c.Pinning.Pinned || !c.Pinning.ServerPinned {
				t.Errorf("%s at %d: %s, %+v %+v", g.Implementation, g.Connections, c.Validity, c.Pinning, c.Reasons)
			}
			if _, known := c.Observations[measured.AgentShare]; known || c.Observations[measured.NeighbourShare] > 0.02 || c.Observations[measured.Fairness] == 0 {
				t.Errorf("%s at %d shows %v", g.Implementation, g.Connections, c.Observations)
			}
		}
	}
}

func TestTheAnswersOfEachServerOfADuetAreItsOwn(t *testing.T) {
	d := twins(true, 1)
	for i := range d.Trials {
		g := &d.Trials[i].Generators[0]
		other := record.Response{Path: "/", Status: 200, BodyBytes: 3, BodySHA256: "other", HeaderBytes: 117}
		for k := range g.Responses {
			if other.Server = g.Responses[k].Server; d.Trials[i].Manifest.Servers[other.Server] == "go2" {
				g.Responses[k] = other
			}
		}
	}
	for _, g := range analyse(t, d).Groups {
		for _, c := range g.Cells {
			differs := len(c.Reasons) == 1 && c.Reasons[0].Code == validity.NotEquivalent
			if differs != (g.Implementation == "go2") {
				t.Errorf("%s in block %d: %+v", g.Implementation, c.Block, c.Reasons)
			}
		}
	}
}

func TestAFailedDuetIsMissingOnBothSides(t *testing.T) {
	d := twins(true, 1)
	m := d.Trials[3].Manifest
	recordtest.Drop(&d, m.Block, m.Servers[0], v1alpha1.ReasonPodLost, "gone")
	got := analyse(t, d).Coverage.Missing
	if len(got) != 2 || got[0].Implementation == got[1].Implementation || got[0].Reason != v1alpha1.ReasonPodLost || got[1].Reason != v1alpha1.ReasonPodLost {
		t.Errorf("missing: %+v", got)
	}
}

func TestTheRowsOfEachServerOfADuetAreItsOwn(t *testing.T) {
	d := twins(true, 1)
	for i := range d.Trials {
		for server, name := range d.Trials[i].Manifest.Servers {
			row := record.Exactly("Time", "parse", "ns", record.LessIsBetter, map[string]float64{"go": 100, "go2": 150}[name]+float64(i%3)/100)
			row.Server = server
			d.Trials[i].Rows = append(d.Trials[i].Rows, row)
		}
	}
	got := analyse(t, d)
	if len(got.Rows) != 1 || got.Rows[0].Ratio == nil || math.Abs(*got.Rows[0].Ratio-1.5) > 0.01 || got.Rows[0].Verdict != verdict.Worse {
		t.Errorf("they are compared as %+v", got.Rows)
	}
	d.Trials[0].Rows[0].Server = 2
	if _, err := analysis.Analyse(d); err == nil || !strings.Contains(err.Error(), "Time of case parse is of server 2, and the trial has 2") {
		t.Errorf("a row of a third server ends with %v", err)
	}
}
