package measured

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

func cellOf(t *testing.T, micros int64, n int, kinds ...record.LatencyKind) Distributions {
	t.Helper()
	d := Distributions{}
	for _, kind := range kinds {
		if err := d.Read(&histogram.Decoder{}, recordtest.Encode(kind, counted(t, slices.Repeat([]int64{micros}, n)))); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// bracketed holds n samples that lie between two latencies.
func bracketed(t *testing.T, low, high int64, n int) Distributions {
	t.Helper()
	d := Distributions{}
	l := recordtest.EncodeBrackets(record.Observed, counted(t, slices.Repeat([]int64{low}, n)), counted(t, slices.Repeat([]int64{high}, n)))
	if err := d.Read(&histogram.Decoder{}, l); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheMeanOfWhatIsKnownBetweenTwoEndsHasTwoEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		spread    *Spread
		low, high float64
		exact     bool
	}{
		"samples known exactly": {cellOf(t, 100, 4, record.Observed)[record.Observed], 100, 100, true},
		"brackets":              {bracketed(t, 100, 300, 4)[record.Observed], 100, 300, false},
		"no sample":             {&Spread{}, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if low, high := tc.spread.LowMean(), tc.spread.Mean(); math.Abs(low-tc.low) > 1 || math.Abs(high-tc.high) > 1 || tc.spread.Exact() != tc.exact {
				t.Errorf("the mean lies from %v to %v, exact %v; want %v to %v", low, high, tc.spread.Exact(), tc.low, tc.high)
			}
		})
	}
}

func TestExactSamplesAmongBracketsCountAtBothEnds(t *testing.T) {
	for name, parts := range map[string][]Distributions{
		"the brackets first":      {bracketed(t, 100, 300, 10), cellOf(t, 500, 10, record.Observed)},
		"the exact samples first": {cellOf(t, 500, 10, record.Observed), bracketed(t, 100, 300, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			d := Distributions{}
			for _, part := range parts {
				d.Merge(part)
			}
			s := d[record.Observed]
			if s.low.Samples() != 20 || s.upper().Samples() != 20 || s.parts != 2 {
				t.Errorf("%d samples below and %d above of %d cells, want 20, 20 and 2", s.low.Samples(), s.upper().Samples(), s.parts)
			}
			if math.Abs(s.LowMean()-300) > 1 || math.Abs(s.Mean()-400) > 1 {
				t.Errorf("the mean lies from %v to %v, want 300 to 400", s.LowMean(), s.Mean())
			}
		})
	}
}

func TestMergingNeverMixesKinds(t *testing.T) {
	d := cellOf(t, 100, 30, record.Observed, record.FromIntended)
	d.Merge(cellOf(t, 900, 20, record.FromIntended))
	d.Merge(cellOf(t, 700, 10, record.Corrected))
	for kind, want := range map[record.LatencyKind]int64{record.Observed: 30, record.FromIntended: 50, record.Corrected: 10} {
		if got := d[kind].low.Samples(); got != want {
			t.Errorf("%s has %d samples, want %d", kind, got, want)
		}
	}
	if len(d) != 3 {
		t.Errorf("there are %d kinds, want 3", len(d))
	}
}

func TestMergingAddsWhatIsCensored(t *testing.T) {
	one, other := cellOf(t, 100, 30, record.FromIntended), cellOf(t, 100, 30, record.FromIntended)
	one.Censor(3, 5)
	other.Censor(10, 20)
	one.Merge(other)
	if s := one[record.FromIntended]; s.timeouts != 13 || s.dropped != 25 {
		t.Errorf("%d timed out and %d were dropped, want 13 and 25", s.timeouts, s.dropped)
	}
	if s := other[record.FromIntended]; s.timeouts != 10 || s.dropped != 20 || s.low.Samples() != 30 {
		t.Errorf("the cell that was merged has changed: %+v", s)
	}
}

func TestOnlyTheKindThatKnowsItCountsWhatWasNeverSent(t *testing.T) {
	d := cellOf(t, 100, 30, Kinds...)
	d.Censor(3, 5)
	for kind, s := range d {
		want := int64(0)
		if kind == record.FromIntended {
			want = 5
		}
		if s.timeouts != 3 || s.dropped != want {
			t.Errorf("%s: %d timed out and %d were dropped, want 3 and %d", kind, s.timeouts, s.dropped, want)
		}
	}
}

func TestRequireLeavesOutWhatSpeaksForAPart(t *testing.T) {
	for name, tc := range map[string]struct {
		parts int
		want  []record.LatencyKind
	}{
		"as many as the fewest have": {1, []record.LatencyKind{record.FromIntended, record.Observed}},
		"as many as the most have":   {2, []record.LatencyKind{record.Observed}},
		"more than any has":          {3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := cellOf(t, 100, 30, record.Observed, record.FromIntended)
			d.Merge(cellOf(t, 100, 30, record.Observed))
			d.Merge(cellOf(t, 100, 0, record.Corrected))
			d.Merge(cellOf(t, 100, 0, record.Corrected))
			d.Require(tc.parts)
			var got []record.LatencyKind
			for kind := range d {
				got = append(got, kind)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFirstTakesTheKindThatIsPreferred(t *testing.T) {
	d := cellOf(t, 100, 1, record.Corrected, record.Observed)
	for name, tc := range map[string]struct {
		asked []record.LatencyKind
		want  record.LatencyKind
	}{
		"the first of those asked for": {[]record.LatencyKind{record.Observed, record.Corrected}, record.Observed},
		"the order is the caller's":    {[]record.LatencyKind{record.Corrected, record.Observed}, record.Corrected},
		"the first that there is":      {Preferred, record.Observed},
		"none that there is":           {[]record.LatencyKind{record.FromIntended}, ""},
		"none asked for":               {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if kind, s := d.First(tc.asked...); kind != tc.want || s != d[tc.want] {
				t.Errorf("got %q, %v; want %q", kind, s, tc.want)
			}
		})
	}
}

func TestDescribeGoesThroughTheKindsInTheirOrder(t *testing.T) {
	d := cellOf(t, 100, 2000, record.Corrected, record.FromIntended, record.Observed)
	d.Censor(7, 9)
	var kinds []record.LatencyKind
	for _, l := range d.Describe() {
		kinds = append(kinds, l.Kind)
		if l.Cells != 1 || l.Samples != 2000 || l.Timeouts != 7 || (l.Dropped == 9) != (l.Kind == record.FromIntended) {
			t.Errorf("%s: %d cells, %d samples, %d timeouts, %d dropped", l.Kind, l.Cells, l.Samples, l.Timeouts, l.Dropped)
		}
		if l.MeanLowMicros != nil || math.Abs(l.MeanMicros-100) > 1 || l.MaxMicros != 100 {
			t.Errorf("%s: mean %v, maximum %d; want 100", l.Kind, l.MeanMicros, l.MaxMicros)
		}
	}
	if diff := cmp.Diff([]record.LatencyKind{record.Observed, record.FromIntended, record.Corrected}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if none := (Distributions{}).Describe(); none == nil || len(none) != 0 {
		t.Errorf("no distribution is described as %v", none)
	}
}

// The curve shows known values: it rises, and ends where samples run out.
func TestTheCurveRisesToTheLastQuantileThatIsKnown(t *testing.T) {
	samples := make([]int64, 0, 5000)
	for v := range int64(5000) {
		samples = append(samples, v+1)
	}
	for _, n := range []int{0, 19, 100, 5000} {
		curve := exact(t, samples[:n]).describe(record.Observed).Curve
		if curve == nil || n < 10 && len(curve) > 0 || n >= 100 && len(curve) < 10 {
			t.Fatalf("the curve of %d samples has %d points", n, len(curve))
		}
		for i, q := range curve {
			if q.Micros == nil || q.Unknown != "" || float64(n)*(1-q.Q) < 9.999 {
				t.Errorf("point %d of %d samples is %+v", i, n, q)
			}
			if i > 0 && (*q.Micros < *curve[i-1].Micros || q.Q <= curve[i-1].Q) {
				t.Errorf("point %d falls", i)
			}
		}
	}
}

func TestQuantilesAreThoseOfTheTablesByKind(t *testing.T) {
	got := cellOf(t, 100, 2000, record.Corrected, record.Observed).Quantiles()
	if len(got) != 2 {
		t.Errorf("%d kinds have quantiles, want 2", len(got))
	}
	for kind, quantiles := range got {
		var asked []float64
		for _, q := range quantiles {
			asked = append(asked, q.Q)
			if known := q.Q < 0.999; known != (q.Micros != nil) || known && *q.Micros != 100 {
				t.Errorf("%s: p%v is %+v", kind, 100*q.Q, q)
			}
		}
		if diff := cmp.Diff(tableQuantiles, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestTheEndsOfAKnownQuantile(t *testing.T) {
	at := func(v int64) *int64 { return &v }
	wide := histogram.BinOf(1_000_000)
	for name, tc := range map[string]struct {
		quantile      Quantile
		between, edge [2]float64
	}{
		"one value":            {Quantile{Micros: at(100)}, [2]float64{100, 100}, [2]float64{100, 101}},
		"between two":          {Quantile{LowMicros: at(50), Micros: at(100)}, [2]float64{50, 100}, [2]float64{50, 101}},
		"a bin that has width": {Quantile{Micros: &wide.High}, [2]float64{float64(wide.High), float64(wide.High)}, [2]float64{float64(wide.Low), float64(wide.High + 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			low, high := tc.quantile.Between()
			if got := [2]float64{low, high}; got != tc.between {
				t.Errorf("it lies between %v, want %v", got, tc.between)
			}
			low, high = tc.quantile.Edges()
			if got := [2]float64{low, high}; got != tc.edge {
				t.Errorf("its edges are %v, want %v", got, tc.edge)
			}
		})
	}
	if wide.Low == wide.High {
		t.Error("a bin at one second has no width, so that this tests nothing")
	}
}
