package measured_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// course is a cell in equal intervals of 100 ms, before change.
func course(t *testing.T, block int32, change func(counts []int64)) *measured.Facts {
	t.Helper()
	d := trial(1)
	d.Manifest.Block = block
	counts := slices.Repeat([]int64{1000}, 50)
	if change != nil {
		change(counts)
	}
	d.Servers[0].Cells[0].Series = &record.Series{EveryMillis: 100, SegmentsOut: counts}
	return read(t, d)
}

func none(from, to int) func([]int64) {
	return func(counts []int64) { clear(counts[from:to]) }
}

func TestACourseIsOfCellsLongEnough(t *testing.T) {
	counts := func(n int) []int64 { return slices.Repeat([]int64{5}, n) }
	for name, tc := range map[string]struct {
		series *record.Series
		want   *measured.OverTime
	}{
		"nothing was sampled":      {nil, nil},
		"ten intervals":            {&record.Series{EveryMillis: 100, SegmentsOut: counts(10)}, nil},
		"eleven intervals":         {&record.Series{EveryMillis: 100, SegmentsOut: counts(11)}, &measured.OverTime{EveryMillis: 100, Cells: 1}},
		"eleven of CPU time alone": {&record.Series{EveryMillis: 100, CPUNanos: counts(11)}, &measured.OverTime{EveryMillis: 100, Cells: 1, ByCPU: true}},
		"a server that did nothing": {
			&record.Series{EveryMillis: 100, SegmentsOut: make([]int64, 11), CPUNanos: make([]int64, 11)}, nil,
		},
		"intervals of no length": {&record.Series{SegmentsOut: counts(11)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			d.Servers[0].Cells[0].Series = tc.series
			f := read(t, d)
			got := measured.NewOverTime([]measured.Values{f.Values})
			if got != nil {
				got.Relative, got.Least, got.Most, got.DipBlock, got.DipMillis = nil, nil, nil, 0, 0
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("over time (-want +got):\n%s", diff)
			}
			if f.HasCourse() != (tc.want != nil) {
				t.Errorf("HasCourse() = %v", f.HasCourse())
			}
		})
	}
}

func TestTheLargestDipIsThatOfOneCell(t *testing.T) {
	halved := func(counts []int64) { counts[20] = 500 }
	got := measured.NewOverTime([]measured.Values{course(t, 1, nil).Values, course(t, 2, halved).Values, course(t, 3, nil).Values})
	if got.Cells != 3 || len(got.Relative) != 48 {
		t.Fatalf("%d cells of %d intervals", got.Cells, len(got.Relative))
	}
	// The slow interval lowers its cell's mean.
	want := 1 - 500/(47_500./48)
	if math.Abs(got.LargestDip-want) > 1e-9 || got.DipBlock != 2 || got.DipMillis != 2000 {
		t.Errorf("the dip is %v in block %d at %d ms, want %v in block 2 at 2000 ms", got.LargestDip, got.DipBlock, got.DipMillis, want)
	}
	if got.Least[19] >= got.Relative[19] || got.Most[19] != 1 {
		t.Errorf("at the dip %v lies between %v and %v", got.Relative[19], got.Least[19], got.Most[19])
	}
}

func TestStandstillsAreOfTheServersOwnMaking(t *testing.T) {
	both := func(changes ...func([]int64)) func([]int64) {
		return func(counts []int64) {
			for _, change := range changes {
				change(counts)
			}
		}
	}
	for name, tc := range map[string]struct {
		change func([]int64)
		stills int
		share  float64
	}{
		"a server that goes on":            {nil, 0, 0},
		"four intervals":                   {none(20, 24), 1, 4. / 48},
		"one interval is too few":          {none(20, 21), 0, 0},
		"twice":                            {both(none(10, 12), none(30, 33)), 2, 5. / 48},
		"from the first interval on":       {none(0, 10), 0, 0},
		"an observer that made up for it":  {both(none(20, 24), func(c []int64) { c[19] = 5000 }), 0, 0},
		"a server that made up afterwards": {both(none(20, 24), func(c []int64) { c[24] = 5000 }), 1, 4. / 48},
	} {
		t.Run(name, func(t *testing.T) {
			f := course(t, 1, tc.change)
			if share := f.Observations[measured.StillShare]; f.Stills != tc.stills || math.Abs(share-tc.share) > 1e-9 {
				t.Errorf("%d standstills of %v in all, want %d of %v", f.Stills, share, tc.stills, tc.share)
			}
		})
	}
}

func TestPausesReplaceTheStretchesOfTheSeries(t *testing.T) {
	for name, tc := range map[string]struct {
		pauses  record.Pauses
		stills  int
		longest float64
		share   float64
	}{
		"none, though the series has some":   {record.Pauses{}, 0, 0, 0},
		"three of 190 ms":                    {record.Pauses{AtMillis: []int64{800, 1800, 2800}, Millis: []int64{190, 190, 190}}, 3, 190, 570. / 4800},
		"what begins or ends with the load":  {record.Pauses{AtMillis: []int64{0, 50, 4850}, Millis: []int64{90, 190, 150}}, 0, 0, 0},
		"no longer than answers take anyway": {record.Pauses{AtMillis: []int64{800}, Millis: []int64{1}}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			run, seen := first(d)
			run.Measurement.Requests = 100_000
			counts := slices.Repeat([]int64{1000}, 50)
			none(20, 24)(counts)
			seen.Series, seen.Pauses = &record.Series{EveryMillis: 100, SegmentsOut: counts}, &tc.pauses
			f := read(t, d)
			if share := f.Observations[measured.StillShare]; f.Stills != tc.stills || f.LongestStill != tc.longest || math.Abs(share-tc.share) > 1e-9 {
				t.Errorf("%d standstills, at most %v ms, of %v in all, want %d, %v, %v", f.Stills, f.LongestStill, share, tc.stills, tc.longest, tc.share)
			}
		})
	}
}

func TestOthersCanHoldUpAServer(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.CellRun, *record.CellObservation)
		want   float64
	}{
		"nobody":       {func(*record.CellRun, *record.CellObservation) {}, 0},
		"a hypervisor": {func(_ *record.CellRun, o *record.CellObservation) { o.StealNanos = 500_000_000 }, 0.1},
		"a quota":      {func(_ *record.CellRun, o *record.CellObservation) { o.ThrottledNanos = 500_000_000 }, 0.1},
		"neighbours":   {func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = 4_500_000_000 }, 0.1},
		"lost segments": {func(r *record.CellRun, o *record.CellObservation) {
			r.Network.Retransmits, o.Network.Retransmits = 10, 15
		}, 0.1},
		"noisy neighbours beside the generator": {
			func(r *record.CellRun, _ *record.CellObservation) {
				r.CoreNanos, r.BusyNanos = 5_000_000_000, r.CPUNanos+500_000_000
			}, 0.1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			tc.change(first(d))
			if got := read(t, d).HeldUp(); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("HeldUp() = %v, want %v", got, tc.want)
			}
		})
	}
}
