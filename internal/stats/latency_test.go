package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/statstest"
)

// library makes a histogram of samples as the agents do, with the library.
func library(tb testing.TB, samples []int64) *hdrhistogram.Histogram {
	tb.Helper()
	h := statstest.NewHistogram()
	for _, v := range samples {
		if err := h.RecordValue(v); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

// exact reads a distribution of samples that are known exactly.
func exact(tb testing.TB, samples []int64) *spread {
	tb.Helper()
	d := distributions{}
	if err := d.read(&decoder{}, statstest.Encode(record.Observed, library(tb, samples))); err != nil {
		tb.Fatal(err)
	}
	return d[record.Observed]
}

// draw makes samples from 1 µs to an hour, most of them near a millisecond.
func draw(rng *rand.Rand, n int) []int64 {
	var out []int64
	for range n {
		out = append(out, min(int64(math.Exp(rng.NormFloat64()*3+6))+1, highestMicros))
	}
	return out
}

func TestTheBinsAreThoseOfTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	samples := append(draw(rng, 20_000), 1, 2047, 2048, 2049, 4095, 4096, highestMicros)
	h, s := library(t, samples), exact(t, samples)
	ranks := s.low.ranks()
	var rank int64
	for _, b := range h.Distribution() {
		if b.Count == 0 {
			continue
		}
		rank += b.Count
		low, size := bin(binOf(ranks, rank))
		if low != b.From || low+size-1 != b.To {
			t.Errorf("the bin of rank %d reaches from %d to %d, want %d to %d", rank, low, low+size-1, b.From, b.To)
		}
	}
	if got := s.low.mean(); math.Abs(got-h.Mean()) > 1e-9*got || s.low.largest() != h.Max() || s.low.total != h.TotalCount() {
		t.Errorf("mean %v, largest %d; want %v, %d", got, s.low.largest(), h.Mean(), h.Max())
	}
}

// A level of 16 generators and several blocks: whatever way the samples are split, the merged distribution is the same.
func TestMergingEqualsOneHistogramOfAllSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for range 3 {
		group, dec := distributions{}, decoder{}
		var all []int64
		for range 1 + rng.IntN(5) {
			cell := distributions{}
			for range 16 {
				part := draw(rng, rng.IntN(400))
				all = append(all, part...)
				if err := cell.read(&dec, statstest.Encode(record.Observed, library(t, part))); err != nil {
					t.Fatal(err)
				}
			}
			group.of(record.Observed).merge(cell[record.Observed])
		}
		got, want := group[record.Observed], exact(t, all)
		if diff := cmp.Diff(want.low.counts, got.low.counts); diff != "" || got.low.total != want.low.total || got.high != nil {
			t.Errorf("%d merged samples, %d in one histogram (-want +got):\n%s", got.low.total, want.low.total, diff)
		}
		slices.Sort(all)
		d := got.distribution()
		for _, q := range []float64{0.5, 0.99, 0.999} {
			want := float64(all[int(math.Ceil(q*float64(len(all))-1e-6))-1])
			if v := d.quantile(q); v.Micros != nil && (v.LowMicros != nil || math.Abs(float64(*v.Micros)-want) > max(1, want*0.001)) {
				t.Errorf("p%v = %d, want %v within 0.1 %%", q*100, *v.Micros, want)
			}
		}
	}
}

// Brackets of random widths: the real quantile and mean lie between the two ends, and exact samples may be among them.
func TestBracketsHoldTheRealQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	for range 3 {
		d, dec := distributions{}, decoder{}
		var all []int64
		for k := range 16 {
			samples := draw(rng, 2000)
			all = append(all, samples...)
			l := statstest.Encode(record.WithConnection, library(t, samples))
			if k%3 > 0 {
				var low, high []int64
				for _, v := range samples {
					low, high = append(low, max(v-rng.Int64N(v), 1)), append(high, min(v+rng.Int64N(v), highestMicros))
				}
				l = statstest.EncodeBrackets(record.WithConnection, library(t, low), library(t, high))
			}
			if err := d.read(&dec, l); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(all)
		got := d[record.WithConnection].describe(record.WithConnection)
		if got.Samples != int64(len(all)) || got.MeanLowMicros == nil {
			t.Fatalf("%d samples of %d, lower end of the mean %v", got.Samples, len(all), got.MeanLowMicros)
		}
		var sum float64
		for _, v := range all {
			sum += float64(v)
		}
		if mean := sum / float64(len(all)); mean < *got.MeanLowMicros*0.999 || mean > got.MeanMicros*1.001 {
			t.Errorf("the mean %v lies outside [%v, %v]", mean, *got.MeanLowMicros, got.MeanMicros)
		}
		for _, q := range got.Quantiles {
			real := all[int(math.Ceil(q.Q*float64(len(all))-1e-6))-1]
			if q.LowMicros == nil || *q.LowMicros > real || *q.Micros < real {
				t.Errorf("p%v = %d lies outside %v to %v", q.Q*100, real, q.LowMicros, q.Micros)
			}
		}
	}
}

func TestABracketWithoutWidthIsExact(t *testing.T) {
	h := library(t, draw(rand.New(rand.NewPCG(17, 1)), 20_000))
	d := distributions{}
	if err := d.read(&decoder{}, statstest.EncodeBrackets(record.WithConnection, h, h)); err != nil {
		t.Fatal(err)
	}
	for _, q := range d[record.WithConnection].describe(record.WithConnection).Quantiles {
		if q.Micros == nil || q.LowMicros != nil {
			t.Errorf("p%v = %v to %v, want one value", q.Q*100, q.LowMicros, q.Micros)
		}
	}
}

func TestQuantilesThatAreNotKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		samples, timeouts, dropped int64
		q                          float64
		want                       UnknownReason
	}{
		"p99 of a thousand samples is known":            {1000, 0, 0, 0.99, ""},
		"p99 of 999 samples has too few beyond it":      {999, 0, 0, 0.99, TooFewSamples},
		"p50 of twenty is known":                        {20, 0, 0, 0.5, ""},
		"p50 of nineteen is not":                        {19, 0, 0, 0.5, TooFewSamples},
		"p99 below a few timeouts is known":             {9_950, 50, 0, 0.99, ""},
		"p99 among timeouts is not":                     {9_850, 150, 0, 0.99, TimedOut},
		"p99 among arrivals that were dropped is not":   {9_850, 0, 150, 0.99, NotSent},
		"p99 among both is among timeouts":              {9_850, 75, 75, 0.99, TimedOut},
		"timeouts count as samples beyond a percentile": {990, 10, 0, 0.99, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := exact(t, slices.Repeat([]int64{100}, int(tc.samples)))
			s.timeouts, s.dropped = tc.timeouts, tc.dropped
			got := s.distribution().quantile(tc.q)
			if got.Unknown != tc.want || (got.Micros == nil) != (tc.want != "") {
				t.Errorf("quantile = %+v, want unknown %q", got, tc.want)
			}
		})
	}
}

func TestMergeRefusesWhatIsNotWhatItSays(t *testing.T) {
	wide := hdrhistogram.New(1, 36_000_000_000, 3)
	if err := wide.RecordValue(20_000_000_000); err != nil {
		t.Fatal(err)
	}
	good := statstest.Encode(record.Observed, library(t, []int64{100, 100, 100, 100, 100}))
	for name, change := range map[string]func(*record.Latency){
		"an unknown kind":                  func(l *record.Latency) { l.Kind = "Guessed" },
		"another number of samples":        func(l *record.Latency) { l.Samples = 6 },
		"bytes that are no histogram":      func(l *record.Latency) { l.HDR = "AAAA" },
		"text that is no base64 encoding":  func(l *record.Latency) { l.HDR = "<script>" },
		"upper ends that are no histogram": func(l *record.Latency) { l.HDRHigh = "AAAA" },
		"upper ends of fewer samples":      func(l *record.Latency) { l.HDRHigh = statstest.Encode(record.Observed, library(t, []int64{100})).HDR },
		"a sample beyond an hour":          func(l *record.Latency) { *l = statstest.Encode(record.Observed, wide) },
	} {
		t.Run(name, func(t *testing.T) {
			l := good
			change(&l)
			if err := (distributions{}).read(&decoder{}, l); err == nil {
				t.Error("it was merged")
			}
		})
	}
}

// FuzzDecode compares the reader with the library on whatever is a histogram, and otherwise wants an error and no panic.
func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 7, 3000} {
		f.Add(statstest.Encode(record.Observed, library(f, draw(rng, n))).HDR)
	}
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		var d decoder
		got, err := d.decode(text)
		if err != nil {
			return
		}
		want, err := hdrhistogram.Decode([]byte(text))
		if err != nil {
			t.Fatalf("the library refuses what was read: %v", err)
		}
		if got.total != want.TotalCount() {
			t.Errorf("%d samples, want %d", got.total, want.TotalCount())
		}
	})
}

// BenchmarkMerge64 merges the histograms of 16 generators in 4 blocks, two kinds each.
func BenchmarkMerge64(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 1))
	var parts []record.Latency
	for range 64 {
		h := library(b, draw(rng, 4000))
		parts = append(parts, statstest.Encode(record.Observed, h), statstest.Encode(record.Corrected, h))
	}
	b.ReportAllocs()
	for b.Loop() {
		d, dec := distributions{}, decoder{}
		for _, l := range parts {
			if err := d.read(&dec, l); err != nil {
				b.Fatal(err)
			}
		}
	}
}
