package k6_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/k6"
)

var elsewhere = filepath.Join("..", "..", "cli", "lint", "testdata")

func readElsewhere(tb testing.TB, name string) string {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(elsewhere, name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) })

func about(value, rounding float64) *printed.Quantity {
	return &printed.Quantity{Value: value, Rounding: rounding}
}

// observed is a k6 trend in milliseconds, to hundredths unless k6 omitted zeros.
func observed(least, mean, median, most, p90, p95 *printed.Quantity) *tool.PrintedLatency {
	return &tool.PrintedLatency{
		Kind: record.Observed, Min: least, Mean: mean, Median: median, Max: most,
		Quantiles: []tool.PrintedQuantile{{Q: 0.9, Micros: *p90}, {Q: 0.95, Micros: *p95}},
	}
}

func TestParseTextOfRecordedOutput(t *testing.T) {
	tests := map[string]k6.EndOfTest{
		"k6-closed.txt": {
			Requests: 50957, Throughput: *about(8492.268447, 5e-7), Users: 8, Bytes: about(6.5e6, 5e4), ChecksPassed: 50957, Started: 50957,
			Iterations: &k6.Iterations{PerSecond: 8492.268447, MeanMicros: *about(929.75, 0.01)},
			Latency:    observed(about(39.91, 0.01), about(843.51, 0.01), about(529.69, 0.01), about(57480, 10), about(1620, 10), about(2570, 10)),
		},
		"k6-open.txt": {
			Requests: 590, Throughput: *about(97.005737, 5e-7), Users: 10, Bytes: about(75e3, 500), ChecksPassed: 590, Started: 590, Dropped: 2411,
			Crossed: []string{"count<10", "p(95)<50"}, Rate: &k6.Rate{PerSecond: 500, Seconds: 6},
			Iterations: &k6.Iterations{PerSecond: 97.005737, MeanMicros: *about(101090, 10)},
			Latency:    observed(about(100240, 10), about(100870, 10), about(100800, 100), about(112260, 10), about(101260, 10), about(101370, 10)),
		},
		"k6-open-legacy.txt": {
			Requests: 590, Throughput: *about(96.845847, 5e-7), Users: 10, Bytes: about(75e3, 500), ChecksPassed: 590, Started: 590, Dropped: 2411,
			Crossed: []string{"dropped_iterations", "http_req_duration"}, Rate: &k6.Rate{PerSecond: 500, Seconds: 6},
			Iterations: &k6.Iterations{PerSecond: 96.845847, MeanMicros: *about(101290, 10)},
			Latency:    observed(about(100170, 10), about(101020, 10), about(100930, 10), about(119130, 10), about(101360, 10), about(101490, 10)),
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := k6.ParseText(strings.Split(readElsewhere(t, name), "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("ParseText() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTextReadsSharesOfEveryVersion(t *testing.T) {
	tests := map[string]struct {
		line string
		want k6.EndOfTest
	}{
		"out of all":           {"checks....: 98.00% 980 out of 1000", k6.EndOfTest{ChecksPassed: 980, ChecksFailed: 20}},
		"with ticks":           {"checks....: 98.00% ✓ 980       ✗ 20", k6.EndOfTest{ChecksPassed: 980, ChecksFailed: 20}},
		"those that succeeded": {"checks_succeeded...: 98.00% 980 out of 1000", k6.EndOfTest{ChecksPassed: 980}},
		"those that failed":    {"checks_failed......: 2.00%   20 out of 1000", k6.EndOfTest{ChecksFailed: 20}},
		"failed requests":      {"✗ http_req_failed....: 2.00%  ✓ 20  ✗ 980", k6.EndOfTest{Failed: 20, Crossed: []string{"http_req_failed"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := k6.ParseText([]string{"     " + tc.line})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ParseText() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTextTellsNoRateOfSeveralScenarios(t *testing.T) {
	const one, other = "* a: 500.00 iterations/s for 6s (maxVUs: 5-10)", "* b: 8 looping VUs for 1m0s (gracefulStop: 30s)"
	for name, lines := range map[string][]string{"two": {one, other}, "one that loops": {other}, "one whose time is none": {"* a: 5 iterations/s for ever ("}} {
		t.Run(name, func(t *testing.T) {
			if got, err := k6.ParseText(lines); err != nil || got.Rate != nil {
				t.Errorf("rate %+v, error %v", got.Rate, err)
			}
		})
	}
}

func TestParseTextRefuses(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"a counter without a rate": {"http_reqs....: 590", `reading the metric http_reqs: reading "590": expected a count and a rate`},
		"a share without counts":   {"http_req_failed....: 0.00%", `reading the metric http_req_failed: reading "0.00%": expected a share with its counts`},
		"bytes without a rate":     {"data_received....: 75 kB", `reading the metric data_received: reading "75 kB": expected bytes and a rate`},
		"a trend without a unit":   {"http_req_duration....: avg=100", `reading the metric http_req_duration: reading "100": it is no number of a known unit`},
		"a quantile beyond all":    {"http_req_duration....: p(101)=1ms", `reading the metric http_req_duration: reading the quantile "p(101)": it is no number of a known unit`},
		"users that are none":      {"vus_max....: many", `reading the metric vus_max: reading "many": it is no count`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := k6.ParseText([]string{tc.line})
			if err == nil {
				t.Fatal("ParseText() gave no error")
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBegins(t *testing.T) {
	if !k6.Begins("execution: local") || k6.Begins("local execution: fast") || !k6.BeginsPart("█ TOTAL RESULTS") || k6.BeginsPart("TOTAL RESULTS") {
		t.Error("the lines with which k6 begins are not known")
	}
	if name, ok := k6.Metric("✓ http_reqs....: 590  97.0/s"); name != "http_reqs" || !ok {
		t.Errorf("Metric() = %q, %v", name, ok)
	}
	if name, ok := k6.Metric("{ expected_response:true }...: avg=1ms"); ok {
		t.Errorf("Metric() = %q of a line of a submetric", name)
	}
}

func FuzzParseText(f *testing.F) {
	corpus := mutated.Of[string](f)
	for _, name := range []string{"k6-closed.txt", "k6-open.txt", "k6-open-legacy.txt", "k6-err.txt"} {
		corpus.Add(readElsewhere(f, name))
	}
	corpus.Fuzz(func(t testing.TB, text string) {
		got, err := k6.ParseText(strings.Split(text, "\n"))
		if err == nil {
			wantCounts(t, got)
		}
	})
}

func wantCounts(t testing.TB, e k6.EndOfTest) {
	t.Helper()
	for _, n := range []int64{e.Requests, e.Users, e.Failed, e.ChecksPassed, e.ChecksFailed, e.Started, e.Dropped} {
		if n < 0 {
			t.Errorf("a negative count in %+v", e)
		}
	}
	// Infinity and NaN cannot be marshaled.
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
}
