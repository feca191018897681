package search_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/search"
)

func bracketed(t *testing.T, kind record.LatencyKind, b ...tool.Bracket) record.Latency {
	t.Helper()
	l, err := tool.Bracketed(kind, b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMet(t *testing.T) {
	bound := record.Search{Percentile: 99, MaxMilliseconds: 10}
	fast := tool.Bracket{LowMicros: 900, HighMicros: 1000, Count: 990}
	slow := tool.Bracket{LowMicros: 50_000, HighMicros: 60_000, Count: 10}
	good := bracketed(t, record.FromIntended, fast, slow)
	exact, err := tool.Latency(record.FromIntended, []tool.Bin{{Micros: 9000, Count: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		m record.Measurement
		// want is part of the reason; empty if the bound was kept.
		want string
	}{
		"a percentile within the bound":           {m: record.Measurement{Asked: 1000, Requests: 1000, Latency: []record.Latency{good}}},
		"an exact percentile within the bound":    {m: record.Measurement{Asked: 1000, Requests: 1000, Latency: []record.Latency{exact}}},
		"two starts that are missing are allowed": {m: record.Measurement{Asked: 102, Requests: 100, Latency: []record.Latency{bracketed(t, record.FromIntended, tool.Bracket{LowMicros: 1, HighMicros: 2, Count: 101})}}},
		"an arrival without a sample counts as longer than any": {
			m:    record.Measurement{Asked: 1001, Requests: 1000, Dropped: 1, Latency: []record.Latency{good}},
			want: "p99 of the latency from the intended start is up to 60.",
		},
		"a percentile among the missing": {
			m:    record.Measurement{Asked: 100, Requests: 99, Latency: []record.Latency{bracketed(t, record.FromIntended, tool.Bracket{LowMicros: 1, HighMicros: 2, Count: 98})}},
			want: "98 of 100 arrivals have one",
		},
		"an upper end above the bound": {
			m:    record.Measurement{Asked: 10, Requests: 10, Latency: []record.Latency{bracketed(t, record.FromIntended, tool.Bracket{LowMicros: 1, HighMicros: 10_100, Count: 10})}},
			want: "above 10 ms",
		},
		"an error":                      {m: record.Measurement{Asked: 1000, Requests: 1000, Errors: record.Errors{Body: 1}, Latency: []record.Latency{good}}, want: "1 requests failed"},
		"a rate that was not achieved":  {m: record.Measurement{Asked: 1000, Requests: 980, Dropped: 20, Latency: []record.Latency{good}}, want: "980 of 1000 requests were answered; 20 found no free virtual user."},
		"another kind of latency alone": {m: record.Measurement{Asked: 10, Requests: 10, Unknown: []string{"Some were dropped."}, Latency: []record.Latency{bracketed(t, record.Observed, fast)}}, want: "unknown. Some were dropped."},
		"a closed model":                {m: record.Measurement{Requests: 1000, Latency: []record.Latency{good}}, want: "no arrival rate"},
		"a histogram that is none":      {m: record.Measurement{Asked: 10, Requests: 10, Latency: []record.Latency{{Kind: record.FromIntended, HDR: "x"}}}, want: "cannot be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			met, why := search.Met(tc.m, bound)
			if met != (tc.want == "") || met != (why == "") || !strings.Contains(why, tc.want) {
				t.Errorf("Met() = %v, %q; want %q", met, why, tc.want)
			}
		})
	}
}
