package h2load_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/h2load"
)

const unseen = "h2load counts no request whose connection broke, and no connection that was refused."

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// All were recorded against workloads/faulty, except http2.txt: gohttp with ten streams per connection.
func TestParseRecordedOutput(t *testing.T) {
	measured := func(threads int32, requests, bytes int64) record.Measurement {
		return record.Measurement{
			Tool: "h2load", Threads: threads, Connections: 4, DurationMicros: 1_000_000, Requests: requests, Bytes: bytes, Unknown: []string{unseen},
		}
	}
	with := func(m record.Measurement, change func(*record.Measurement)) record.Measurement {
		change(&m)
		return m
	}
	for name, tc := range map[string]struct {
		file string
		want record.Measurement
	}{
		"HTTP/1.1 on two threads":     {"http1.txt", measured(2, 211, 23632)},
		"HTTP/2":                      {"http2.txt", with(measured(1, 195, 6513), func(m *record.Measurement) { m.HTTP2 = 195 })},
		"every tenth status is wrong": {"status.txt", with(measured(1, 271, 30757), func(m *record.Measurement) { m.Errors.Status = 27 })},
		"a server that exits":         {"exits.txt", measured(1, 43, 4704)},
		"four connections that hang":  {"hangs.txt", measured(1, 196, 21952)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := h2load.Tool{}.Parse(read(t, tc.file))
			if err != nil {
				t.Fatal(err)
			}
			latency := got.Latency
			got.Latency = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(latency) != 1 || latency[0].Kind != record.Observed || latency[0].HDRHigh != "" || latency[0].Samples != got.Requests {
				t.Errorf("the latencies are %+v", latency)
			}
		})
	}
}

// output is an agent's raw output of one second on four connections, with a count of done requests and these rows.
func output(done, log string) []byte {
	return []byte("spawning thread #0: 4 total client(s). Timing-based test with 0s of warm-up time and 1s of main duration for measurements.\n" +
		"Application protocol: h2\n\nfinished in 1.02s, 3.00 req/s, 9B/s\nrequests: " + done + " total, 3 started, " + done + " done, 1 succeeded, 1 failed, 0 errored, 0 timeout\n" +
		"traffic: 9B (9) total, 0B (0) headers (space savings 0.00%), 0B (0) data\n" +
		tool.OutputHeader("h2load-sweep-4.json") + "{\"status\":201}\n" + tool.OutputHeader("h2load-sweep-4.log") + log)
}

func TestEachRowIsARequest(t *testing.T) {
	m, err := h2load.Tool{}.Parse(output("4", "1795706126285194\t201\t1000\n1795706126285194\t201\t3000\n1795706126285194\t200\t2000\n1795706126285199\t-1\t9000000\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Requests != 3 || m.HTTP2 != 3 || m.Errors != (record.Errors{Read: 1, Status: 1}) || m.Bytes != 9 || m.DurationMicros != 1_000_000 {
		t.Errorf("got %+v", m)
	}
	h, err := histogram.Decode(m.Latency[0].HDR)
	if err != nil || h.Samples() != 3 || histogram.BinOf(3000).Low > h.Max() || h.Max() > 3003 {
		t.Errorf("the latencies are %+v, %v", h, err)
	}
}

// For a request that was never sent, h2load has no start, and microseconds since boot as time.
func TestRequestsThatWereNeverSentAreErrors(t *testing.T) {
	m, err := h2load.Tool{}.Parse(output("2", "1795706126285194\t201\t1000\n0\t-1\t172800000000\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Requests != 1 || m.Errors != (record.Errors{Read: 1}) {
		t.Errorf("got %+v", m)
	}
}

func TestOutputsThatAreNoMeasurement(t *testing.T) {
	good := output("1", "1795706126285194\t200\t1000\n")
	for name, tc := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":                     {nil, "h2load left no log: it did not run, or ended before its time"},
		"too few connections":         {read(t, "threads.txt"), "h2load did not run: -c, -t: the number of clients must be greater than or equal to the number of threads."},
		"no server":                   {read(t, "refused.txt"), "h2load got no answer"},
		"no summary":                  {bytes.Replace(good, []byte("finished in"), []byte("fini"), 1), "it printed no summary"},
		"a row that is cut off":       {good[:len(good)-1], "reading row 1 of h2load's log: it is no row"},
		"a row that is none":          {output("1", "zeros\x00\n"), "reading row 1 of h2load's log: it is no row"},
		"a status that is none":       {output("1", "1\tx\t5\n"), "reading row 1 of h2load's log: it is no row"},
		"a latency of two hours":      {output("1", "1\t200\t7200000000\n"), "reading row 1 of h2load's log: it is no row"},
		"a row that is missing":       {output("2", "1\t200\t5\n"), "h2load's log has 1 rows, and it says that 2 requests were done"},
		"streams that failed":         {output("1", "1\t-1\t5\n"), "h2load got no answer"},
		"facts that are no JSON":      {bytes.Replace(good, []byte(`{"status"`), []byte(`{status`), 1), "reading what h2load was asked for: "},
		"more clients than there are": {bytes.Replace(good, []byte("4 total client"), []byte("4000000 total client"), 1), "h2load prints a thread of 4000000 clients"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := (h2load.Tool{}).Parse(tc.raw); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v, want %q", m, err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, name := range []string{"http1.txt", "http2.txt", "refused.txt", "threads.txt"} {
		corpus.Add(read(f, name))
	}
	corpus.Fuzz(func(t testing.TB, raw []byte) {
		m, err := h2load.Tool{}.Parse(raw)
		if err == nil && (m.Requests < 1 || len(m.Latency) != 1 || m.Threads < 1) {
			t.Errorf("it reads %+v", m)
		}
	})
}
