package histogram_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/stats/histogram"
)

// draw makes samples from 1 µs to an hour, most near a millisecond.
func draw(rng *rand.Rand, n int) []int64 {
	var out []int64
	for range n {
		out = append(out, min(int64(math.Exp(rng.NormFloat64()*3+6))+1, histogram.HighestMicros))
	}
	return out
}

// edges are latencies where the bin width changes, and the ends of the range.
func edges() []int64 {
	out := []int64{1, 2, histogram.HighestMicros - 1, histogram.HighestMicros}
	for v := int64(1024); v < histogram.HighestMicros; v *= 2 {
		out = append(out, v-1, v, v+1)
	}
	return out
}

func counted(tb testing.TB, samples []int64) *histogram.Histogram {
	tb.Helper()
	h := &histogram.Histogram{}
	for _, v := range samples {
		if err := h.Record(v, 1); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

func library(tb testing.TB, samples []int64) *hdrhistogram.Histogram {
	tb.Helper()
	h := hdrhistogram.New(1, histogram.HighestMicros, 3)
	for _, v := range samples {
		if err := h.RecordValue(v); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

func bars(h *histogram.Histogram) (out []hdrhistogram.Bar) {
	for b, n := range h.Bins() {
		out = append(out, hdrhistogram.Bar{From: b.Low, To: b.High, Count: n})
	}
	return out
}

func libraryBars(h *hdrhistogram.Histogram) (out []hdrhistogram.Bar) {
	for _, b := range h.Distribution() {
		if b.Count > 0 {
			out = append(out, b)
		}
	}
	return out
}

// sets are samples with equal results from histogram and library.
func sets() map[string][]int64 {
	rng := rand.New(rand.NewPCG(3, 1))
	return map[string][]int64{
		"no samples":                 nil,
		"one sample":                 {740},
		"the edges of the bins":      edges(),
		"a few samples":              draw(rng, 7),
		"many samples":               draw(rng, 20_000),
		"the longest latency, twice": {histogram.HighestMicros, histogram.HighestMicros},
	}
}

func TestAHistogramSaysWhatTheLibrarySays(t *testing.T) {
	for name, samples := range sets() {
		t.Run(name, func(t *testing.T) {
			got, want := counted(t, samples), library(t, samples)
			if diff := cmp.Diff(libraryBars(want), bars(got)); diff != "" {
				t.Errorf("bins (-want +got):\n%s", diff)
			}
			if got.Samples() != want.TotalCount() || got.Min() != want.Min() || got.Max() != want.Max() {
				t.Errorf("%d samples from %d to %d, want %d from %d to %d", got.Samples(), got.Min(), got.Max(), want.TotalCount(), want.Min(), want.Max())
			}
			if !near(got.Mean(), want.Mean()) || !near(got.StandardDeviation(), want.StdDev()) {
				t.Errorf("mean %v, standard deviation %v; want %v, %v", got.Mean(), got.StandardDeviation(), want.Mean(), want.StdDev())
			}
			for _, q := range []float64{0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
				if want := want.ValueAtQuantile(q * 100); got.Quantile(q) != want {
					t.Errorf("p%v = %d, want %d", q*100, got.Quantile(q), want)
				}
			}
		})
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

func TestRecord(t *testing.T) {
	for name, tc := range map[string]struct {
		micros, samples int64
		want            histogram.Bin
		wantError       string
	}{
		"a latency of a bin of its own":                  {micros: 2047, samples: 3, want: histogram.Bin{Low: 2047, High: 2047}},
		"a latency of a bin of two":                      {micros: 2049, samples: 3, want: histogram.Bin{Low: 2048, High: 2049}},
		"a latency of nothing counts as one microsecond": {micros: 0, samples: 3, want: histogram.Bin{Low: 1, High: 1}},
		"a clock that went back counts as nothing":       {micros: -5, samples: 3, want: histogram.Bin{Low: 1, High: 1}},
		"the longest latency":                            {micros: histogram.HighestMicros, samples: 3, want: histogram.BinOf(histogram.HighestMicros)},
		"a longer latency than any bin holds": {
			micros: 8_000_000_000, samples: 1, wantError: "recording 1 samples of 8000000000 µs: value 8000000000 is too large to be recorded",
		},
		"a negative count":         {micros: 10, samples: -1, wantError: "recording -1 samples of 10 µs: a count cannot be negative"},
		"more samples than counts": {micros: 10, samples: math.MaxInt64, wantError: "recording 9223372036854775807 samples of 10 µs: recording 9223372036854775807 would overflow the total count"},
	} {
		t.Run(name, func(t *testing.T) {
			h := counted(t, []int64{500})
			err := h.Record(tc.micros, tc.samples)
			if tc.wantError != "" {
				if err == nil || err.Error() != tc.wantError || h.Samples() != 1 {
					t.Errorf("Record() = %v and %d samples, want %q and one", err, h.Samples(), tc.wantError)
				}
				return
			}
			found := map[histogram.Bin]int64{}
			for b, n := range h.Bins() {
				found[b] = n
			}
			if err != nil || found[tc.want] != tc.samples || h.Samples() != 1+tc.samples {
				t.Errorf("Record() = %v, bins %v; want %d samples in %v", err, found, tc.samples, tc.want)
			}
		})
	}
}

// However samples are split, the sum of the parts equals the whole.
func TestAddEqualsOneHistogramOfAllSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for range 3 {
		var got histogram.Histogram
		var all []int64
		for range 16 {
			part := draw(rng, rng.IntN(400))
			all = append(all, part...)
			got.Add(counted(t, part))
		}
		want := counted(t, all)
		if diff := cmp.Diff(bars(want), bars(&got)); diff != "" || got.Samples() != want.Samples() {
			t.Errorf("%d samples, want %d (-want +got):\n%s", got.Samples(), want.Samples(), diff)
		}
	}
}

func TestWhatWasAddedStaysAsItIs(t *testing.T) {
	part := counted(t, []int64{100})
	var sum histogram.Histogram
	sum.Add(part)
	sum.Add(part)
	if err := sum.Record(5000, 1); err != nil {
		t.Fatal(err)
	}
	if sum.Samples() != 3 || part.Samples() != 1 || part.Max() != 100 {
		t.Errorf("%d samples; the part has %d up to %d, want it unchanged", sum.Samples(), part.Samples(), part.Max())
	}
}

func TestRanks(t *testing.T) {
	h := counted(t, []int64{10, 10, 10, 3000, 40_000})
	for name, tc := range map[string]struct {
		rank   int64
		want   histogram.Bin
		wantOK bool
	}{
		"the first sample":                   {1, histogram.Bin{Low: 10, High: 10}, true},
		"the last of a bin":                  {3, histogram.Bin{Low: 10, High: 10}, true},
		"the first of the next bin":          {4, histogram.Bin{Low: 3000, High: 3001}, true},
		"the last sample":                    {5, histogram.BinOf(40_000), true},
		"a rank beyond the last sample":      {6, histogram.Bin{}, false},
		"the largest rank that there can be": {math.MaxInt64, histogram.Bin{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := h.Ranks().Bin(tc.rank); got != tc.want || ok != tc.wantOK {
				t.Errorf("Bin(%d) = %v, %v; want %v, %v", tc.rank, got, ok, tc.want, tc.wantOK)
			}
		})
	}
	if _, ok := (&histogram.Histogram{}).Ranks().Bin(1); ok {
		t.Error("an empty histogram has a first sample")
	}
}

func TestEveryLatencyLiesInItsBin(t *testing.T) {
	for _, v := range append(edges(), draw(rand.New(rand.NewPCG(5, 1)), 1000)...) {
		b := histogram.BinOf(v)
		if v < b.Low || v > b.High || histogram.BinOf(b.Low) != b || histogram.BinOf(b.High) != b {
			t.Errorf("the bin of %d reaches from %d to %d", v, b.Low, b.High)
		}
		if next := histogram.BinOf(b.High + 1); next.Low != b.High+1 {
			t.Errorf("the bin above that of %d begins at %d, want %d", v, next.Low, b.High+1)
		}
		if width := float64(b.High - b.Low); width > float64(v)/1000 {
			t.Errorf("the bin of %d is %v wide: its third digit is lost", v, width)
		}
	}
}
