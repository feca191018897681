package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/statstest"
)

func TestTheIntervalOfAMean(t *testing.T) {
	for name, tc := range map[string]struct {
		values         []float64
		none           bool
		low, high, ppm float64
	}{
		"of one value there is none":                         {values: []float64{80_000}, none: true},
		"of two values there is none":                        {values: []float64{83_000, 89_740}, none: true},
		"with a value of zero there is none":                 {values: []float64{0, 1, 2, 3}, none: true},
		"of equal values it has no width":                    {values: []float64{5, 5, 5}, low: 5, high: 5},
		"where the noise is small it is that of Student's t": {values: []float64{999, 1000, 1001, 1000}, low: 997.616, high: 1002.384, ppm: 5},
		"where it is large it stays above zero":              {values: []float64{100, 1000, 4000}, low: 1.7425, high: 1_658_547, ppm: 100},
	} {
		t.Run(name, func(t *testing.T) {
			s := summarise(tc.values)
			if tc.none {
				if s.Low != nil || s.High != nil {
					t.Fatalf("it is %v to %v", *s.Low, *s.High)
				}
				return
			}
			if *s.Low <= 0 || *s.Low > s.Mean || *s.High < s.Mean {
				t.Errorf("%v to %v does not hold the mean %v, or more than can be", *s.Low, *s.High, s.Mean)
			}
			if diff := cmp.Diff([]float64{tc.low, tc.high}, []float64{*s.Low, *s.High}, cmpopts.EquateApprox(tc.ppm/1e6+1e-12, 0)); diff != "" {
				t.Errorf("interval (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALowerBoundHasNoUpperEnd(t *testing.T) {
	o := statstest.Duel(4)
	o.Levels = []int32{10}
	table, err := Analyse(statstest.Run(o))
	if err != nil {
		t.Fatal(err)
	}
	at := record.Point{Load: "sweep", Connections: 10}
	if g := table.Group(at, "epoll"); !g.ThroughputIsBound || g.Throughput.Low == nil || g.Throughput.High != nil {
		t.Errorf("the limit's throughput is %+v", *g.Throughput)
	}
	if g := table.Group(at, "go"); g.Throughput.Low == nil || g.Throughput.High == nil {
		t.Errorf("a measured throughput is %+v", *g.Throughput)
	}
}

func TestTheCellsOfALimitAreCountedApart(t *testing.T) {
	o := statstest.Duel(4)
	o.Levels = []int32{10, 100}
	table, err := Analyse(statstest.Run(o))
	if err != nil {
		t.Fatal(err)
	}
	c := table.Coverage
	if c.SuspectCells != 8 || c.Limits.SuspectCells != 8 || c.Contenders().SuspectCells != 0 {
		t.Errorf("suspect cells: %d of all, %d of limits, %d of contenders", c.SuspectCells, c.Limits.SuspectCells, c.Contenders().SuspectCells)
	}
	if n := c.Contenders(); n.PlannedCells != 16 || n.MeasuredCells != 16 || n.PinnedCells != 16 {
		t.Errorf("contenders %+v", n)
	}
}

func TestASpreadOverTimeHoldsTheDip(t *testing.T) {
	d := statstest.Run(statstest.Duel(3))
	_, seen := statstest.Cell(&d, 2, "go", 100)
	for k := range seen.Series.SegmentsOut {
		seen.Series.SegmentsOut[k] = 1000
	}
	seen.Series.SegmentsOut[20] = 100
	table, err := Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	o := table.Group(record.Point{Load: "sweep", Connections: 100}, "go").OverTime
	if len(o.Least) != len(o.Relative) || len(o.Most) != len(o.Relative) {
		t.Fatalf("%d, %d and %d intervals", len(o.Relative), len(o.Least), len(o.Most))
	}
	if math.Abs(o.Least[19]-(1-o.LargestDip)) > 1e-4 || o.DipMillis != 2000 {
		t.Errorf("at the dip the slowest cell is at %v, and the dip is %v at %d ms", o.Least[19], o.LargestDip, o.DipMillis)
	}
	for k := range o.Relative {
		if o.Least[k] > o.Relative[k] || o.Most[k] < o.Relative[k] {
			t.Errorf("interval %d: %v to %v does not hold %v", k, o.Least[k], o.Most[k], o.Relative[k])
		}
	}
}
