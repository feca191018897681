package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

func TestStepsThatWereNotMeasuredHaveMissed(t *testing.T) {
	s := record.Search{Percentile: 99, MaxMilliseconds: 10, StartRequestsPerSecond: 100, Steps: 6}
	runs := []record.CellRun{{Rate: 100, Error: "k6 was killed"}, {Rate: 50}}
	want := []search.Step{{Rate: 100, Why: "k6 was killed"}, {Rate: 50}}
	if diff := cmp.Diff(want, search.Steps(s, runs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRatesGoOnFromWhatWasMeasured(t *testing.T) {
	s := record.Search{Percentile: 99, MaxMilliseconds: 10, StartRequestsPerSecond: 100, Steps: 6}
	cell := record.Cell{Search: &s, Step: 1}
	if rate, more := (search.Rates{}).Rate(cell, nil); rate != 100 || !more {
		t.Errorf("the first step has rate %d, more %v", rate, more)
	}
	if rate, more := (search.Rates{}).Rate(cell, []record.CellRun{{Rate: 100, Error: "x"}}); rate >= 100 || !more {
		t.Errorf("after a miss the rate is %d, more %v", rate, more)
	}
	if _, more := (search.Rates{}).Rate(record.Cell{}, nil); more {
		t.Error("a cell of no search has a rate")
	}
}
