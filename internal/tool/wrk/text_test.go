package wrk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
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

func TestParseTextOfRecordedOutput(t *testing.T) {
	about := func(value, rounding float64) *printed.Quantity {
		return &printed.Quantity{Value: value, Rounding: rounding}
	}
	const address = "http://127.0.0.1:18377/"
	tests := map[string]wrk.Text{
		"wrk-steady.txt": {
			URL: address + "steady", AskedSeconds: 6, Threads: 1, Connections: 8, Requests: 18406,
			Seconds: *about(6, 0.005), Throughput: *about(3065.38, 0.005), ThreadRate: about(3080, 5), Bytes: about(2.23*(1<<20), 0.005*(1<<20)),
			Latency: &tool.PrintedLatency{
				Kind: record.Corrected, Mean: about(2650, 5), SD: about(1030, 5), Max: about(25790, 5),
				Quantiles: []tool.PrintedQuantile{{Q: 0.5, Micros: *about(2510, 5)}, {Q: 0.75, Micros: *about(2640, 5)}, {Q: 0.9, Micros: *about(2820, 5)}, {Q: 0.99, Micros: *about(5830, 5)}},
			},
		},
		"wrk-drop.txt": {
			URL: address + "drop", AskedSeconds: 5, Threads: 1, Connections: 4, Requests: 172954, Errors: record.Errors{Read: 3529},
			Seconds: *about(5.01, 0.005), Throughput: *about(34539.65, 0.005), ThreadRate: about(34770, 5), Bytes: about(20.95*(1<<20), 0.005*(1<<20)),
			Latency: &tool.PrintedLatency{Kind: record.Corrected, Mean: about(713.44, 0.005), SD: about(4110, 5), Max: about(72060, 5)},
		},
		"wrk-refused.txt": {Failed: "unable to connect to 127.0.0.1:18378 Connection refused"},
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b <= 1e-9*max(1, a) && b-a <= 1e-9*max(1, a) })
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := wrk.ParseText(lines(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("ParseText() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTextSaysWhatIsMissing(t *testing.T) {
	const head = "Running 10s test @ http://h/\n  2 threads and 4 connections\n"
	tests := map[string]struct{ text, wantFailed, wantError string }{
		"an output without its label":  {text: "Running 10s test @ http://h/\n  1 requests in 10.00s, 1.00MB read\n"},
		"an output without its totals": {text: head, wantFailed: "the output ends before wrk's totals"},
		"a size of an unknown unit":    {text: head + "  1 requests in 10.00s, 1.00XB read\n", wantError: `reading "1.00XB": it is no number of a known unit`},
		"a quantile beyond all":        {text: head + "     101%    2.51ms\n", wantFailed: "the output ends before wrk's totals", wantError: `reading the quantile "101%    2.51ms": it is no number of a known unit`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := wrk.ParseText(strings.Split(tc.text, "\n"))
			if got.Failed != tc.wantFailed || (err == nil) != (tc.wantError == "") || (err != nil && err.Error() != tc.wantError) {
				t.Errorf("failed %q, error %v, want %q and %q", got.Failed, err, tc.wantFailed, tc.wantError)
			}
		})
	}
}

func TestParseTextTellsWrk2FromWrk(t *testing.T) {
	text := strings.Replace(strings.Join(lines(t, "wrk-steady.txt"), "\n"), "Thread Stats", "Thread calibration: mean lat.: 1.2ms, rate sampling interval: 10ms\n  Thread Stats", 1)
	got, err := wrk.ParseText(strings.Split(text+"\n 50.000%    9.99ms\n", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !got.Wrk2 || got.Latency.Kind != record.FromIntended || len(got.Latency.Quantiles) != 4 {
		t.Errorf("text %+v with %+v, want wrk2's, with the first distribution alone", got, got.Latency)
	}
}

func TestBeginsAndDumps(t *testing.T) {
	for line, want := range map[string]bool{
		"Running 10s test @ http://h/": true, "unable to connect to h:80 Connection refused": true, "Running a test": false, "4 threads and 4 connections": false,
	} {
		if wrk.Begins(line) != want {
			t.Errorf("Begins(%q) = %v", line, !want)
		}
	}
	if !wrk.HasDump(string(read(t, "good.txt"))) || wrk.HasDump(strings.Join(lines(t, "wrk-good.txt"), "\n")) {
		t.Error("a dump is where Loadstone's script ran, and nowhere else")
	}
}

func FuzzParseText(f *testing.F) {
	corpus := mutated.Of[string](f)
	for _, name := range []string{"wrk-steady.txt", "wrk-hang.txt", "wrk-drop.txt", "wrk-refused.txt"} {
		corpus.Add(strings.Join(lines(f, name), "\n"))
	}
	corpus.Fuzz(func(t testing.TB, text string) {
		got, err := wrk.ParseText(strings.Split(text, "\n"))
		if err != nil {
			return
		}
		if got.Connections < 0 || got.Requests < 0 {
			t.Errorf("a negative count in %+v", got)
		}
		// Infinity and NaN cannot be marshaled.
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}
