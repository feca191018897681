package measured_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestFrequenciesAreThoseOfTheFirstAndTheLastThird(t *testing.T) {
	rising := func(n int) (out []int64) {
		for k := range n {
			out = append(out, 1000*int64(1+k))
		}
		return out
	}
	for name, tc := range map[string]struct {
		series      *record.Series
		first, last float64
		known       bool
	}{
		"nothing was sampled":                   {},
		"nine intervals":                        {&record.Series{EveryMillis: 100, KHz: rising(9)}, 2000, 8000, true},
		"eight intervals are too few":           {&record.Series{EveryMillis: 100, KHz: rising(8)}, 0, 0, false},
		"what lies behind the load is left out": {&record.Series{EveryMillis: 500, KHz: rising(20)}, 2000, 9000, true},
		"a kernel that tells no frequency":      {&record.Series{EveryMillis: 100, KHz: make([]int64, 9)}, 0, 0, false},
		"intervals of no length":                {&record.Series{KHz: rising(9)}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			d.Servers[0].Cells[0].Series = tc.series
			first, last, known := read(t, d).Frequencies()
			if known != tc.known || known && (first != tc.first || last != tc.last) {
				t.Errorf("Frequencies() = %v, %v, %v; want %v, %v, %v", first, last, known, tc.first, tc.last, tc.known)
			}
		})
	}
}

func TestWorkIsKnownIfItWasDoneTwice(t *testing.T) {
	work := func(nanos int64) *record.Work { return &record.Work{CPUNanos: nanos} }
	for name, tc := range map[string]struct {
		before, after *record.Work
		known         bool
	}{
		"before and after":      {work(800), work(900), true},
		"before alone":          {work(800), nil, false},
		"after alone":           {nil, work(900), false},
		"work that cost no CPU": {work(0), work(900), false},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			d.Servers[0].Cells[0].WorkBefore, d.Servers[0].Cells[0].WorkAfter = tc.before, tc.after
			before, after, known := read(t, d).Worked()
			if known != tc.known || known && (before != 800 || after != 900) {
				t.Errorf("Worked() = %v, %v, %v; want %v", before, after, known, tc.known)
			}
		})
	}
}
