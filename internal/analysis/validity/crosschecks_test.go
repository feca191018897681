package validity

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// pair is a run of two equal servers at one level.
func pair(blocks int32) record.RunData {
	return recordtest.Run(recordtest.Options{
		Name: "pair", Seed: 3, Blocks: blocks, Levels: []int32{100}, Seconds: 5, Noise: 0.01,
		Servers: []recordtest.Server{{Name: "go", CPUMicros: 12, RSSBytes: 1 << 20}, {Name: "rust", CPUMicros: 12, RSSBytes: 1 << 20}},
	})
}

func reasonsOf(t *testing.T, d record.RunData, implementation string) (out [][]finding) {
	t.Helper()
	got, err := read(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Group(record.Point{Load: "sweep", Connections: 100}, implementation).Cells {
		out = append(out, found(c))
	}
	return out
}

func TestWarmupIsOverUnlessMostTrialsSayOtherwise(t *testing.T) {
	for name, tc := range map[string]struct {
		blocks, rising int32
		share          float64
		want           int
	}{
		"every trial gets faster":           {5, 5, 1.3, 5},
		"every trial gets slower":           {5, 5, 0.8, 5},
		"four of five trials get faster":    {5, 4, 1.3, 4},
		"three of five trials get faster":   {5, 3, 1.3, 0},
		"every trial gets a little faster":  {5, 5, 1.05, 0},
		"two trials are too few to say":     {2, 2, 1.3, 0},
		"no trial has a trend worth saying": {5, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := pair(tc.blocks)
			for block := int32(1); block <= tc.rising; block++ {
				_, seen := recordtest.Cell(&d, block, "rust", 100)
				slow(seen.Series.SegmentsOut, tc.share)
			}
			marked := 0
			for _, reasons := range reasonsOf(t, d, "rust") {
				if cmp.Equal(reasons, []finding{{WarmupNotOver, Suspect}}) {
					marked++
				} else if reasons != nil {
					t.Errorf("reasons %v", reasons)
				}
			}
			if marked != tc.want {
				t.Errorf("%d cells are marked, want %d", marked, tc.want)
			}
			for _, reasons := range reasonsOf(t, d, "go") {
				if reasons != nil {
					t.Errorf("the other implementation has reasons %v", reasons)
				}
			}
		})
	}
}

func TestNoisyNeighboursMustDisturbBothSidesAlike(t *testing.T) {
	for name, tc := range map[string]struct {
		hundredths int64
		want       []finding
	}{
		"four hundredths more on one side": {4, []finding{{NeighbourAsymmetry, Suspect}}},
		"two hundredths more on one side":  {2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := pair(2)
			_, seen := recordtest.Cell(&d, 2, "rust", 100)
			seen.BusyNanos += seen.CoreNanos * tc.hundredths / 100
			for _, implementation := range []string{"go", "rust"} {
				if diff := cmp.Diff([][]finding{nil, tc.want}, reasonsOf(t, d, implementation)); diff != "" {
					t.Errorf("reasons of %s by block (-want +got):\n%s", implementation, diff)
				}
			}
		})
	}
}

func TestAnswersMustBeThoseOfTheBaseline(t *testing.T) {
	answer := func(d *record.RunData, implementation string, change func(*record.Response)) {
		for i := range d.Trials {
			if d.Trials[i].Manifest.Servers[0] == implementation {
				change(&d.Trials[i].Generators[0].Responses[0])
			}
		}
	}
	shorten := func(d *record.RunData, bytes int64) {
		for block := int32(1); block <= 2; block++ {
			r, _ := recordtest.Cell(d, block, "rust", 100)
			r.Measurement.Bytes -= bytes * r.Measurement.Requests
		}
	}
	anyBody := func(d *record.RunData) {
		for i := range d.Manifest.Plan.Cells {
			d.Manifest.Plan.Cells[i].Request.Expect.AnyBody = true
		}
	}
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		want   []finding
	}{
		"another status": {
			change: func(d *record.RunData) { answer(d, "rust", func(r *record.Response) { r.Status = 204 }) },
			want:   []finding{{NotEquivalent, Void}},
		},
		"another body": {
			change: func(d *record.RunData) { answer(d, "rust", func(r *record.Response) { r.BodySHA256 = "other" }) },
			want:   []finding{{NotEquivalent, Suspect}},
		},
		"another status where any body will do": {
			change: func(d *record.RunData) {
				anyBody(d)
				answer(d, "rust", func(r *record.Response) { r.Status = 204 })
			},
			want: []finding{{NotEquivalent, Void}},
		},
		"a body of half the size where any will do": {
			change: func(d *record.RunData) {
				anyBody(d)
				answer(d, "rust", func(r *record.Response) { r.BodyBytes, r.BodySHA256 = 1, "other" })
			},
		},
		"answers that are far longer where any body will do": {
			change: func(d *record.RunData) {
				anyBody(d)
				shorten(d, -400)
			},
			want: []finding{{UnequalAnswers, Suspect}},
		},
		"another size of the headers": {
			change: func(d *record.RunData) {
				answer(d, "rust", func(r *record.Response) { r.HeaderBytes = 94 })
				shorten(d, 23)
			},
		},
		"a body of half the size": {
			change: func(d *record.RunData) {
				answer(d, "rust", func(r *record.Response) { r.BodyBytes, r.BodySHA256, r.HeaderBytes = 1, "other", 94 })
				shorten(d, 33)
			},
			want: []finding{{NotEquivalent, Void}},
		},
		"a body of ten bytes instead of eleven": {
			change: func(d *record.RunData) {
				answer(d, "rust", func(r *record.Response) { r.BodyBytes, r.BodySHA256 = 10, "other" })
				shorten(d, 1)
			},
			want: []finding{{NotEquivalent, Suspect}},
		},
		"a body of a size between those of the baseline": {
			change: func(d *record.RunData) {
				size := int64(4)
				answer(d, "rust", func(r *record.Response) { r.BodySHA256 = "other" })
				answer(d, "go", func(r *record.Response) { r.BodyBytes, r.BodySHA256, size = size, strconv.Itoa(int(size)), 40 })
			},
		},
		"another body than a baseline's that differs each time": {
			change: func(d *record.RunData) {
				answer(d, "rust", func(r *record.Response) { r.BodySHA256 = "other" })
				d.Trials[0].Generators[0].Responses[0].BodySHA256, d.Trials[1].Generators[0].Responses[0].BodySHA256 = "one", "two"
			},
		},
		"no answer was kept": {
			change: func(d *record.RunData) {
				for i := range d.Trials {
					d.Trials[i].Generators[0].Responses = nil
				}
			},
			want: []finding{{NotChecked, Suspect}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := pair(2)
			tc.change(&d)
			if diff := cmp.Diff([][]finding{tc.want, tc.want}, reasonsOf(t, d, "rust")); diff != "" {
				t.Errorf("reasons by block (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeveralGeneratorsShareACell(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.TrialData)
		want   []finding
	}{
		"all of them were there": {},
		"one has no record": {
			change: func(d *record.TrialData) { d.Generators[1] = record.GeneratorResult{} },
			want:   []finding{{GeneratorLost, Void}, {NotPinned, Void}},
		},
		"the last one has no record": {
			change: func(d *record.TrialData) { d.Generators = d.Generators[:3] },
			want:   []finding{{GeneratorLost, Void}, {NotPinned, Void}},
		},
		"one ran the whole level": {
			change: func(d *record.TrialData) { d.Generators[2].Cells[0].Measurement.Connections = 100 },
			want:   []finding{{WrongLabel, Void}},
		},
		"one stopped early": {
			change: func(d *record.TrialData) { halve(&d.Generators[3].Cells[0]) },
			want:   []finding{{CutShort, Void}},
		},
		"two shared a CPU": {
			change: func(d *record.TrialData) {
				d.Generators[1].Environment.Node = "loadgen"
				d.Generators[1].Cells[0].CPUsAllowed = d.Generators[0].Cells[0].CPUsAllowed
			},
			want: []finding{{GeneratorsShareCPUs, Void}},
		},
		"one is busy": {
			change: func(d *record.TrialData) { d.Generators[1].Cells[0].CPUNanos = 4_400_000_000 },
			want:   []finding{{GeneratorBusy, Suspect}},
		},
		"one started 60 ms after the others": {
			change: func(d *record.TrialData) {
				at := d.Generators[1].Cells[0].FirstConnection.Add(60 * time.Millisecond)
				d.Generators[1].Cells[0].FirstConnection = &at
			},
			want: []finding{{StartsApart, Suspect}},
		},
		"one's clock is known to 100 ms only": {
			change: func(d *record.TrialData) { d.Manifest.Clocks[2].RoundTripNanos = 200_000_000 },
			want:   []finding{{StartsApart, Suspect}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := recordtest.Run(recordtest.Options{
				Name: "many", Seed: 5, Blocks: 1, Levels: []int32{100}, Seconds: 5, Generators: 4,
				Servers: []recordtest.Server{{Name: "go", CPUMicros: 12, RSSBytes: 1 << 20}},
			})
			if tc.change != nil {
				tc.change(&d.Trials[0])
			}
			got, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			c := got.Groups[0].Cells[0]
			if diff := cmp.Diff(tc.want, found(c)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if tc.want == nil && (*c.Throughput < 70_000 || len(c.GeneratorUtilisation) != 4 || c.Observations[measured.StartSkew] > 3000) {
				t.Errorf("throughput %v, utilisation %v, skew %v µs", *c.Throughput, c.GeneratorUtilisation, c.Observations[measured.StartSkew])
			}
		})
	}
}

func TestAnArrivalRateIsKeptOrMissed(t *testing.T) {
	for name, tc := range map[string]struct {
		dropped, completed int64
		busy               bool
		want               []finding
		own                bool
	}{
		"all arrivals were started":       {0, 10_000, false, nil, false},
		"one in a hundred was dropped":    {100, 9_900, false, nil, false},
		"two in a hundred were dropped":   {200, 9_800, false, []finding{{RateMissed, Suspect}}, false},
		"a fifth was dropped":             {2000, 8_000, false, []finding{{RateMissed, Void}}, true},
		"a fifth was dropped by the tool": {2000, 8_000, true, []finding{{RateMissed, Void}, {GeneratorLimited, Suspect}}, false},
		"some were in flight at the end":  {0, 9_900, false, nil, false},
		"a fifth never ended":             {0, 8_000, false, []finding{{RateMissed, Void}}, true},
		"one in a hundred too many":       {0, 10_100, false, nil, false},
		"two in a hundred too many":       {0, 10_250, false, []finding{{RateExceeded, Suspect}}, false},
		"four times as many":              {0, 40_000, false, []finding{{RateExceeded, Void}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			at := record.Point{Load: "sweep", Connections: 100, RequestsPerSecond: 2000}
			d.Manifest.Plan.Cells[0].RequestsPerSecond = 2000
			run, seen := recordtest.Cell(&d, 1, "go", 100)
			run.Point, seen.Point, d.Trials[0].Manifest.Cells[0].RequestsPerSecond = at, at, 2000
			m := run.Measurement
			m.Asked, m.Dropped = 10_000, tc.dropped
			recordtest.SetRequests(m, tc.completed)
			grow(seen, 0, 0)
			seen.CPUNanos, seen.BusyNanos = seen.CPUNanos/2, seen.CPUNanos/2
			if tc.busy {
				run.CPUNanos = 4_900_000_000
			}
			got, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			c := got.Groups[0].Cells[0]
			if diff := cmp.Diff(tc.want, found(c)); diff != "" || c.ImplementationFailure() != tc.own {
				t.Errorf("implementation failure %v, reasons (-want +got):\n%s", c.ImplementationFailure(), diff)
			}
		})
	}
}

func TestTheObserverStaysOffTheServersCPUs(t *testing.T) {
	d := oneCell()
	d.Trials[0].Servers[0].Environment.CPUsAllowed = "0-1"
	if diff := cmp.Diff([][]finding{{{ObserverOnServer, Suspect}}}, reasonsOf(t, d, "go")); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestACellOfLessThanASecondIsTooShort(t *testing.T) {
	d := oneCell()
	run, _ := recordtest.Cell(&d, 1, "go", 100)
	d.Manifest.Plan.Cells[0].DurationSeconds = 1
	recordtest.SetRequests(run.Measurement, run.Measurement.Requests/5)
	run.CPUNanos /= 5
	run.Measurement.DurationMicros = 990_000
	_, seen := recordtest.Cell(&d, 1, "go", 100)
	grow(seen, 0, 0)
	if diff := cmp.Diff([][]finding{{{TooShort, Suspect}}}, reasonsOf(t, d, "go")); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestThePlanTightensLimits(t *testing.T) {
	loosest := record.Validity{MaxErrorRate: 0.001, MaxNeighbourCPU: 0.15, MaxSteal: 0.05}
	for name, tc := range map[string]struct {
		tighten func(*record.Validity)
		want    []finding
	}{
		"the loosest limits":   {func(*record.Validity) {}, []finding{{NoisyNeighbours, Suspect}}},
		"fewer neighbours":     {func(v *record.Validity) { v.MaxNeighbourCPU = 0.06 }, []finding{{NoisyNeighbours, Void}}},
		"fewer than is marked": {func(v *record.Validity) { v.MaxNeighbourCPU = 0.01 }, []finding{{NoisyNeighbours, Void}}},
		"less steal":           {func(v *record.Validity) { v.MaxSteal = 0.001 }, []finding{{NoisyNeighbours, Suspect}, {Steal, Void}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			d.Manifest.Plan.Validity = loosest
			tc.tighten(&d.Manifest.Plan.Validity)
			_, seen := recordtest.Cell(&d, 1, "go", 100)
			seen.BusyNanos = seen.CPUNanos + seen.CoreNanos*7/100
			if diff := cmp.Diff([][]finding{tc.want}, reasonsOf(t, d, "go")); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSidesOfABlockSendAsManyBytes(t *testing.T) {
	for name, tc := range map[string]struct {
		each   float64
		script bool
		want   []finding
	}{
		"as many as the checks said":                {128, false, nil},
		"a few more":                                {140, false, nil},
		"a fifth more":                              {155, false, []finding{{UnequalAnswers, Suspect}}},
		"a script's answer with another head":       {160, true, nil},
		"a script's answer of three times the size": {400, true, []finding{{UnequalAnswers, Suspect}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := pair(1)
			r, _ := recordtest.Cell(&d, 1, "rust", 100)
			r.Measurement.Bytes = int64(tc.each * float64(r.Measurement.Requests))
			if tc.script {
				for i := range d.Manifest.Plan.Cells {
					d.Manifest.Plan.Cells[i].Script = &record.Script{}
				}
			}
			for _, implementation := range []string{"go", "rust"} {
				if diff := cmp.Diff([][]finding{tc.want}, reasonsOf(t, d, implementation)); diff != "" {
					t.Errorf("reasons of %s (-want +got):\n%s", implementation, diff)
				}
			}
		})
	}
}

func TestThroughputOverTimeShowsTheLargestDip(t *testing.T) {
	d := pair(3)
	for block := int32(1); block <= 3; block++ {
		_, seen := recordtest.Cell(&d, block, "go", 100)
		for k := range seen.Series.SegmentsOut {
			seen.Series.SegmentsOut[k] = 1000
		}
	}
	_, seen := recordtest.Cell(&d, 2, "go", 100)
	seen.Series.SegmentsOut[20] = 100
	got, err := read(d)
	if err != nil {
		t.Fatal(err)
	}
	over := got.Groups[0].OverTime
	if over == nil || over.Cells != 3 || over.DipBlock != 2 || over.DipMillis != 2000 || over.LargestDip < 0.89 || over.LargestDip > 0.91 || len(over.Relative) != 48 {
		t.Fatalf("over time %+v", over)
	}
}
