package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/statstest"
)

func TestMergingEqualsOneHistogramOfAllSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for range 10 {
		all := newHistogram()
		merged := map[record.LatencyKind]*hdrhistogram.Histogram{}
		for range 1 + rng.IntN(6) {
			part := statstest.NewHistogram()
			for range rng.IntN(3000) {
				v := int64(math.Exp(rng.NormFloat64()*3+6)) + 1
				for _, h := range []*hdrhistogram.Histogram{all, part} {
					if err := h.RecordValue(v); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := mergeEncoded(merged, statstest.Encode(record.Observed, part)); err != nil {
				t.Fatal(err)
			}
		}
		if !merged[record.Observed].Equals(all) {
			t.Errorf("%d merged samples differ from %d in one histogram", merged[record.Observed].TotalCount(), all.TotalCount())
		}
	}
}

func TestQuantilesAreThoseOfTheSortedSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	h := newHistogram()
	var samples []int64
	for range 20_000 {
		v := int64(math.Exp(rng.NormFloat64()+6)) + 1
		samples = append(samples, v)
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(samples)
	d := newDistribution(h, 0)
	for _, q := range tableQuantiles {
		want := float64(samples[int(math.Ceil(q*float64(len(samples))-1e-6))-1])
		got := d.quantile(q)
		if got.Micros == nil || math.Abs(float64(*got.Micros)-want) > max(1, want*0.001) {
			t.Errorf("p%v = %v, want %v within 0.1 %%", q*100, got.Micros, want)
		}
	}
}

func TestQuantilesThatAreNotKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		samples, timeouts int64
		q                 float64
		want              UnknownReason
	}{
		"p99 of a thousand samples is known":            {1000, 0, 0.99, ""},
		"p99 of 999 samples has too few beyond it":      {999, 0, 0.99, TooFewSamples},
		"p50 of twenty is known":                        {20, 0, 0.5, ""},
		"p50 of nineteen is not":                        {19, 0, 0.5, TooFewSamples},
		"p99 below a few timeouts is known":             {9_950, 50, 0.99, ""},
		"p99 among timeouts is not":                     {9_850, 150, 0.99, TimedOut},
		"timeouts count as samples beyond a percentile": {990, 10, 0.99, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistogram()
			if err := h.RecordValues(100, tc.samples); err != nil {
				t.Fatal(err)
			}
			got := newDistribution(h, tc.timeouts).quantile(tc.q)
			if got.Unknown != tc.want || (got.Micros == nil) != (tc.want != "") {
				t.Errorf("quantile = %+v, want unknown %q", got, tc.want)
			}
		})
	}
}

func TestMergeRefusesWhatItWouldDrop(t *testing.T) {
	wide := hdrhistogram.New(1, 36_000_000_000, 3)
	if err := wide.RecordValue(20_000_000_000); err != nil {
		t.Fatal(err)
	}
	into := map[record.LatencyKind]*hdrhistogram.Histogram{}
	if err := mergeEncoded(into, statstest.Encode(record.Observed, wide)); err == nil {
		t.Error("a sample of five hours was dropped in silence")
	}
}

func TestMergeRefusesWhatIsNotWhatItSays(t *testing.T) {
	h := statstest.NewHistogram()
	if err := h.RecordValues(100, 5); err != nil {
		t.Fatal(err)
	}
	good := statstest.Encode(record.Observed, h)
	for name, change := range map[string]func(*record.Latency){
		"an unknown kind":                 func(l *record.Latency) { l.Kind = "Guessed" },
		"another number of samples":       func(l *record.Latency) { l.Samples = 6 },
		"bytes that are no histogram":     func(l *record.Latency) { l.HDR = "AAAA" },
		"text that is no base64 encoding": func(l *record.Latency) { l.HDR = "<script>" },
	} {
		t.Run(name, func(t *testing.T) {
			l := good
			change(&l)
			if err := mergeEncoded(map[record.LatencyKind]*hdrhistogram.Histogram{}, l); err == nil {
				t.Error("it was merged")
			}
		})
	}
}

func TestParseCPUs(t *testing.T) {
	for name, tc := range map[string]struct {
		list string
		want []int
		ok   bool
	}{
		"one CPU":                   {"1", []int{1}, true},
		"a range and a single one":  {"0-2,8", []int{0, 1, 2, 8}, true},
		"a trailing newline":        {"3\n", []int{3}, true},
		"duplicates count once":     {"1,0-1", []int{0, 1}, true},
		"nothing was read":          {"", nil, false},
		"a word":                    {"all", nil, false},
		"a range that goes down":    {"3-1", nil, false},
		"a range beyond all reason": {"0-4000000000", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseCPUs(tc.list)
			if (err == nil) != tc.ok || !slices.Equal(got, tc.want) {
				t.Errorf("parseCPUs(%q) = %v, %v; want %v, ok %v", tc.list, got, err, tc.want, tc.ok)
			}
		})
	}
}
