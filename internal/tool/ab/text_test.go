package ab_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
)

var elsewhere = filepath.Join("..", "..", "cli", "lint", "testdata")

func lines(tb testing.TB, name string) []string {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(elsewhere, name))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Split(string(raw), "\n")
}

func about(value, rounding float64) *printed.Quantity {
	return &printed.Quantity{Value: value, Rounding: rounding}
}

func table(least, mean, sd, median, most float64, quantiles ...float64) *tool.PrintedLatency {
	millis := func(v float64) *printed.Quantity { return about(v*1000, 500) }
	l := tool.PrintedLatency{Min: millis(least), Mean: millis(mean), SD: about(sd*1000, 50), Median: millis(median), Max: millis(most), ResolutionMicros: 1000}
	for i, q := range []float64{0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99} {
		l.Quantiles = append(l.Quantiles, tool.PrintedQuantile{Q: q, Micros: *millis(quantiles[i])})
	}
	return &l
}

func TestParseTextOfRecordedOutput(t *testing.T) {
	tests := map[string]ab.Text{
		"ab-500.txt": {
			URL: "http://127.0.0.1:18377/err", Connections: new(int64(8)), Complete: new(int64(20000)), Failed: new(int64(0)), OtherStatus: 20000,
			Bytes: new(int64(3_500_000)), BodyBytes: new(int64(140_000)), Seconds: about(1.166, 0.0005), Throughput: about(17157.44, 0.005),
			Latency: table(0, 0, 0.3, 0, 5, 0, 0, 1, 1, 1, 1, 1, 1),
		},
		"ab-length.txt": {
			URL: "http://127.0.0.1:18377/len", Connections: new(int64(8)), Complete: new(int64(188_429)), Failed: new(int64(125_619)), Kept: new(int64(188_429)),
			Failures: &ab.Failures{Length: 125_619},
			Bytes:    new(int64(28_641_209)), BodyBytes: new(int64(2_072_720)), Seconds: about(5, 0.0005), Throughput: about(37685.49, 0.005),
			Latency: table(0, 0, 1.7, 0, 75, 0, 0, 0, 0, 0, 0, 1, 2),
		},
		"ab-hang.txt": {GaveUp: "apr_pollset_poll: The timeout specified has expired (70007)", Complete: new(int64(187))},
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b <= 1e-9*max(1, a) && b-a <= 1e-9*max(1, a) })
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ab.ParseText(lines(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("ParseText() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTextReadsEveryFailure(t *testing.T) {
	got, err := ab.ParseText(strings.Split(string(read(t, "resets.txt")), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&ab.Failures{Receive: 876, Length: 876, Exceptions: 876}, got.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if *got.Failed != 2628 || *got.Kept != 42937 {
		t.Errorf("%d failed and %d kept, want 2628 and 42937", *got.Failed, *got.Kept)
	}
}

func TestParseTextDoubtsWhatAbDoesNotPrint(t *testing.T) {
	good := strings.Join(lines(t, "ab-short.txt"), "\n")
	tests := map[string]struct{ old, new, want string }{
		"a counter that is there twice":   {"Concurrency Level:      10\n", "Concurrency Level:      10\nConcurrency Level:      20\n", `"Concurrency Level:      20": the counter is there twice`},
		"a counter with a remark":         {"Concurrency Level:      10\n", "Concurrency Level:      20 or so\n", `"Concurrency Level:      20 or so": ab prints no such value`},
		"a time in whole seconds":         {"0.064 seconds", "64 seconds", `"Time taken for tests:   64 seconds": ab prints no such value`},
		"a rate that is not per a second": {"[#/sec] (mean)", "", ": ab prints no such value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, tc.old, tc.new, 1)
			got, err := ab.ParseText(strings.Split(text, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Doubts) != 1 || !strings.HasSuffix(got.Doubts[0], tc.want) {
				t.Errorf("doubts %q, want one of %q", got.Doubts, tc.want)
			}
			if strings.Contains(tc.new, "20") && *got.Connections != 20 {
				t.Errorf("%d connections, want those of the last line", *got.Connections)
			}
		})
	}
}

func TestParseTextRefuses(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"a counter that is none":  {"Complete requests:      many", `reading the line "Complete requests:      many": reading "many": it is no count`},
		"a time that is none":     {"Time taken for tests:   soon", `reading the line "Time taken for tests:   soon": reading "soon": it is no number of a known unit`},
		"a percentile beyond all": {"  101%      5", `reading the line "101%      5": it is no number of a known unit`},
		"a table without numbers": {"Total:          0    0   nan      0       5", `reading the line "Total:          0    0   nan      0       5": reading "nanms": it is no number of a known unit`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ab.ParseText([]string{tc.line})
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
	const first, result = "This is ApacheBench, Version 2.3 <$Revision$>", "Server Software:"
	if !ab.Begins(first) || ab.Begins(result) || !ab.BeginsResult(result) || ab.BeginsResult(first) {
		t.Error("the first line of the output and that of the result are taken for each other")
	}
}

func FuzzParseText(f *testing.F) {
	corpus := mutated.Of[string](f)
	for _, name := range []string{"ab-500.txt", "ab-length.txt", "ab-hang.txt", "ab-short.txt"} {
		corpus.Add(strings.Join(lines(f, name), "\n"))
	}
	corpus.Fuzz(func(t testing.TB, text string) {
		got, err := ab.ParseText(strings.Split(text, "\n"))
		if err != nil {
			return
		}
		for _, n := range []*int64{got.Connections, got.Complete, got.Failed, got.Kept, got.Bytes, got.BodyBytes, &got.Writes, &got.OtherStatus} {
			if n != nil && *n < 0 {
				t.Errorf("a negative count in %+v", got)
			}
		}
		// Infinity and NaN cannot be marshaled.
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}
