package k6_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

func spread(t *testing.T, l record.Latency) (low, high []int64) {
	t.Helper()
	decode := func(encoded string, end func(histogram.Bin) int64) (values []int64) {
		h, err := histogram.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		for bin, n := range h.Bins() {
			values = append(values, slices.Repeat([]int64{end(bin)}, int(n))...)
		}
		return values
	}
	return decode(l.HDR, func(b histogram.Bin) int64 { return b.Low }), decode(l.HDRHigh, func(b histogram.Bin) int64 { return b.High })
}

// TestRealK6SeesWhatTheServerKnows compares each rank of k6's latencies with how long the server held its requests. A client cannot have
// waited less, and requests that k6 did not count only lower the server's ranks.
func TestRealK6SeesWhatTheServerKnows(t *testing.T) {
	tests := map[string]record.Cell{
		"closed":                       {Connections: 8, Threads: 1, DurationSeconds: 1, Request: root},
		"a constant rate":              {Connections: 200, Threads: 1, DurationSeconds: 1, Request: root, RequestsPerSecond: 100},
		"a rising rate":                {Connections: 200, Threads: 1, DurationSeconds: 1, Request: root, RequestsPerSecond: 20, RampToRequestsPerSecond: 180},
		"a falling rate":               {Connections: 200, Threads: 1, DurationSeconds: 1, Request: root, RequestsPerSecond: 180, RampToRequestsPerSecond: 20},
		"a rate that rises by nothing": {Connections: 200, Threads: 1, DurationSeconds: 1, Request: root, RequestsPerSecond: 100, RampToRequestsPerSecond: 100},
	}
	for name, cell := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, known := heldAnswers(t, cell)
			// At the end a busy machine has iterations whose request has not arrived.
			more := func() bool {
				return slices.ContainsFunc(r.m.Latency, func(l record.Latency) bool { return l.Samples == 0 || l.Samples > int64(len(known)) })
			}
			for end := time.Now().Add(patience); r.err == nil && more() && time.Now().Before(end); {
				r, known = heldAnswers(t, cell)
			}
			if r.err != nil {
				t.Fatalf("Parse(): %v\n%.2000s", r.err, r.raw)
			}
			for _, l := range r.m.Latency {
				compare(t, l, known)
			}
			if cell.RequestsPerSecond == 0 {
				return
			}
			if kinds(r.m) != "Observed FromIntended" {
				t.Fatalf("got the kinds %q; unknown: %q", kinds(r.m), r.m.Unknown)
			}
			timely(t, r.m)
		})
	}
}

// heldAnswers runs k6 against a server that delays its answers, and returns the delays, ascending.
func heldAnswers(t *testing.T, cell record.Cell) (real, []int64) {
	t.Helper()
	var mu sync.Mutex
	var held []int64
	server := func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		n := len(held)
		held = append(held, 0)
		mu.Unlock()
		began := time.Now()
		time.Sleep(time.Duration(n%10*n%7) * time.Millisecond)
		mu.Lock()
		held[n] = time.Since(began).Microseconds()
		mu.Unlock()
		_, _ = w.Write([]byte(body))
	}
	r := run(t, cell, "", tool.Measure, serve(t, server, false))
	mu.Lock()
	defer mu.Unlock()
	return r, slices.Sorted(slices.Values(held))
}

func compare(t *testing.T, l record.Latency, known []int64) {
	t.Helper()
	low, high := spread(t, l)
	if len(low) == 0 || len(low) > len(known) {
		t.Fatalf("%d samples of kind %s of %d requests", len(low), l.Kind, len(known))
	}
	for i := range low {
		if high[i] < known[i] || low[i] > high[i] {
			t.Errorf("sample %d of kind %s lies from %d to %d µs, and the server held it for %d µs", i, l.Kind, low[i], high[i], known[i])
		}
	}
}

// timely compares latencies from the intended starts with requests' durations: a misread timetable shifts them by much of the run's second. It
// checks nothing if k6 was too busy to begin in time.
func timely(t *testing.T, m record.Measurement) {
	t.Helper()
	_, observed := spread(t, m.Latency[0])
	low, _ := spread(t, m.Latency[1])
	if median := observed[len(observed)/2]; !fellBehind(m) && median < 50_000 && low[len(low)/2] > median+400_000 {
		t.Errorf("half of the latencies from the intended start are above %d µs, and half of the requests took at most %d µs", low[len(low)/2], median)
	}
}
