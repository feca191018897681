package wrk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func numberIn(t *testing.T, raw []byte, pattern string) int64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(raw)
	if found == nil {
		t.Fatalf("wrk did not print %q", pattern)
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestParseRecordedOutput(t *testing.T) {
	tests := map[string]struct {
		file            string
		wantConnections int32
		wantTimeouts    int64
		wantStatus      string
	}{
		"a good run":                           {file: "good.txt", wantConnections: 4},
		"a run with responses after a timeout": {file: "timeouts.txt", wantConnections: 20, wantTimeouts: 20},
		"a run with bad statuses":              {file: "status.txt", wantConnections: 4, wantStatus: `Non-2xx or 3xx responses: (\d+)`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			raw := read(t, tc.file)
			got, err := wrk.Tool{}.Parse(raw)
			if err != nil {
				t.Fatalf("Parse(): %v", err)
			}
			want := record.Measurement{Tool: "wrk", Threads: 1, Connections: tc.wantConnections}
			want.Requests = numberIn(t, raw, `(\d+) requests in `)
			want.Errors.Timeout = tc.wantTimeouts
			if tc.wantStatus != "" {
				want.Errors.Status = numberIn(t, raw, tc.wantStatus)
			}
			want.DurationMicros, want.Bytes = numberIn(t, raw, `summary duration (\d+)`), numberIn(t, raw, `summary bytes (\d+)`)
			latency := got.Latency
			got.Latency = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
			checkLatency(t, latency, want.Requests-want.Errors.Timeout)
		})
	}
}

func checkLatency(t *testing.T, latency []record.Latency, wantObserved int64) {
	t.Helper()
	if len(latency) != 2 || latency[0].Kind != record.Observed || latency[1].Kind != record.Corrected {
		t.Fatalf("got %d distributions, want Observed and Corrected", len(latency))
	}
	if latency[0].Samples != wantObserved {
		t.Errorf("got %d observed samples, want %d", latency[0].Samples, wantObserved)
	}
	if latency[1].Samples < latency[0].Samples {
		t.Errorf("got %d corrected samples, fewer than the %d observed", latency[1].Samples, latency[0].Samples)
	}
}

func TestParseRefuses(t *testing.T) {
	good := string(read(t, "good.txt"))
	tests := map[string]struct{ raw, want string }{
		"a refused connection, in wrk's words": {
			raw:  string(read(t, "refused.txt")),
			want: "wrk did not run: unable to connect to 127.0.0.1:19913 Connection refused",
		},
		"a usage error, in wrk's words": {raw: string(read(t, "threads.txt")), want: "wrk did not run: number of connections must be >= threads"},
		"no output at all":              {raw: "", want: "wrk did not run and printed nothing"},
		"a dump that was cut off": {
			raw:  strings.TrimSuffix(good, "loadstone end\n"),
			want: "wrk's output is incomplete: it did not reach the end of its histogram",
		},
		"a dump without a counter": {raw: strings.Replace(good, "loadstone summary bytes ", "bytes ", 1), want: "wrk's output is incomplete: bytes is missing"},
		"a dump without a line": {
			raw:  regexp.MustCompile(`loadstone latency 13 \d+\n`).ReplaceAllString(good, ""),
			want: "wrk's output is incomplete: it has 3382 of 3383 latencies",
		},
		"a negative count": {
			raw:  strings.Replace(good, "loadstone latency 11 ", "loadstone latency 11 -", 1),
			want: `reading wrk's line "loadstone latency 11 -3": -3 is out of range`,
		},
		"a line of another kind": {
			raw:  strings.Replace(good, "loadstone latency 11 ", "loadstone shape 11 ", 1),
			want: `reading wrk's line "loadstone shape 11 3": the line is not one that the script writes here`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := wrk.Tool{}.Parse([]byte(tc.raw))
			if err == nil {
				t.Fatalf("Parse() = %+v, want an error", got)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseGivesOnlyCorrectedWhenTheCountersContradict(t *testing.T) {
	raw := regexp.MustCompile(`summary timeout 0`).ReplaceAll(read(t, "good.txt"), []byte("summary timeout 7"))
	got, err := wrk.Tool{}.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Latency) != 1 || got.Latency[0].Kind != record.Corrected {
		t.Errorf("got %d distributions, want Corrected alone", len(got.Latency))
	}
	if len(got.Unknown) != 1 || !strings.Contains(got.Unknown[0], "7 timeouts") {
		t.Errorf("Unknown = %q, want a sentence about 7 timeouts", got.Unknown)
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, name := range []string{"timeouts.txt", "refused.txt", "threads.txt"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(raw)
	}
	corpus.Fuzz(func(t testing.TB, raw []byte) {
		m, err := wrk.Tool{}.Parse(bytes.Clone(raw))
		if err != nil {
			return
		}
		counts := []int64{m.DurationMicros, m.Requests, m.Bytes, m.Errors.Connect, m.Errors.Read, m.Errors.Write, m.Errors.Timeout, m.Errors.Status}
		for _, l := range m.Latency {
			counts = append(counts, l.Samples)
			if l.Kind == record.Observed && l.Samples != m.Requests-m.Errors.Timeout {
				t.Errorf("%d observed samples of %d requests and %d timeouts", l.Samples, m.Requests, m.Errors.Timeout)
			}
		}
		for _, n := range counts {
			if n < 0 {
				t.Errorf("a negative count in %+v", m)
			}
		}
	})
}
