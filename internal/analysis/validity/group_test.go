package validity

import (
	"math"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestALowerBoundHasNoUpperEnd(t *testing.T) {
	o := recordtest.Duel(4)
	o.Levels = []int32{10}
	table, err := read(recordtest.Run(o))
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

func TestASpreadOverTimeHoldsTheDip(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(3))
	_, seen := recordtest.Cell(&d, 2, "go", 100)
	for k := range seen.Series.SegmentsOut {
		seen.Series.SegmentsOut[k] = 1000
	}
	seen.Series.SegmentsOut[20] = 100
	table, err := read(d)
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
