package measured

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

func counted(t *testing.T, samples []int64) *histogram.Histogram {
	t.Helper()
	h := &histogram.Histogram{}
	for _, v := range samples {
		if err := h.Record(v, 1); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func exact(t *testing.T, samples []int64) *Spread {
	t.Helper()
	d := Distributions{}
	if err := d.Read(&histogram.Decoder{}, recordtest.Encode(record.Observed, counted(t, samples))); err != nil {
		t.Fatal(err)
	}
	return d[record.Observed]
}

// draw makes samples from 1 µs to an hour, most near a millisecond.
func draw(rng *rand.Rand, n int) []int64 {
	var out []int64
	for range n {
		out = append(out, min(int64(math.Exp(rng.NormFloat64()*3+6))+1, histogram.HighestMicros))
	}
	return out
}

// However the samples are split among generators and blocks, the merged distribution is the same.
func TestMergingEqualsOneHistogramOfAllSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for range 3 {
		group, dec := Distributions{}, histogram.Decoder{}
		var all []int64
		for range 1 + rng.IntN(5) {
			cell := Distributions{}
			for range 16 {
				part := draw(rng, rng.IntN(400))
				all = append(all, part...)
				if err := cell.Read(&dec, recordtest.Encode(record.Observed, counted(t, part))); err != nil {
					t.Fatal(err)
				}
			}
			group.of(record.Observed).merge(cell[record.Observed])
		}
		got, want := group[record.Observed], exact(t, all)
		if diff := cmp.Diff(want.low.Ranks(), got.low.Ranks()); diff != "" || got.high != nil {
			t.Errorf("%d merged samples, %d in one histogram (-want +got):\n%s", got.low.Samples(), want.low.Samples(), diff)
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

// Brackets of random widths, with exact samples among them, contain the real quantile and mean.
func TestBracketsHoldTheRealQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	for range 3 {
		d, dec := Distributions{}, histogram.Decoder{}
		var all []int64
		for k := range 16 {
			samples := draw(rng, 2000)
			all = append(all, samples...)
			l := recordtest.Encode(record.WithConnection, counted(t, samples))
			if k%3 > 0 {
				var low, high []int64
				for _, v := range samples {
					low, high = append(low, max(v-rng.Int64N(v), 1)), append(high, min(v+rng.Int64N(v), histogram.HighestMicros))
				}
				l = recordtest.EncodeBrackets(record.WithConnection, counted(t, low), counted(t, high))
			}
			if err := d.Read(&dec, l); err != nil {
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
	h := counted(t, draw(rand.New(rand.NewPCG(17, 1)), 20_000))
	d := Distributions{}
	if err := d.Read(&histogram.Decoder{}, recordtest.EncodeBrackets(record.WithConnection, h, h)); err != nil {
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
		want                       Unknown
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
	good := recordtest.Encode(record.Observed, counted(t, []int64{100, 100, 100, 100, 100}))
	for name, change := range map[string]func(*record.Latency){
		"an unknown kind":                  func(l *record.Latency) { l.Kind = "Guessed" },
		"another number of samples":        func(l *record.Latency) { l.Samples = 6 },
		"bytes that are no histogram":      func(l *record.Latency) { l.HDR = "AAAA" },
		"text that is no base64 encoding":  func(l *record.Latency) { l.HDR = "<script>" },
		"upper ends that are no histogram": func(l *record.Latency) { l.HDRHigh = "AAAA" },
		"upper ends of fewer samples":      func(l *record.Latency) { l.HDRHigh = recordtest.Encode(record.Observed, counted(t, []int64{100})).HDR },
	} {
		t.Run(name, func(t *testing.T) {
			l := good
			change(&l)
			if err := (Distributions{}).Read(&histogram.Decoder{}, l); err == nil {
				t.Error("it was merged")
			}
		})
	}
}
