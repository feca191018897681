package ab_test

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
	"loadstone.dev/loadstone/internal/tool/ab"
)

const (
	timeouts = "ab counts no timeouts: a request that was never answered while others were is counted nowhere."
	lengths  = "ab does not tell an answer of another length than the first from a connection that closed before its answer was whole: both are counted as wrong bodies."
	lost     = "ab times requests that failed with their connection like the others: the latencies of those that were answered lie within wider bounds."
	opening  = "Some of ab's latencies begin with the opening of a connection, since the server did not keep every connection."
	kept     = "The server kept no connection, although ab asked for it: all latencies begin with the opening of one."
)

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func numberIn(t *testing.T, raw []byte, pattern string) int64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(raw)
	if found == nil {
		t.Fatalf("ab did not print %q", pattern)
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestParseRecordedOutput(t *testing.T) {
	const complete, receive = `Complete requests: +(\d+)`, `Receive: (\d+)`
	tests := map[string]struct {
		file            string
		wantConnections int32
		wantErrors      map[string]string
		wantLost        string
		wantKind        record.LatencyKind
		wantUnknown     []string
	}{
		"connections that are kept":       {file: "keepalive.txt", wantConnections: 4, wantKind: record.Observed},
		"a connection for each request":   {file: "perrequest.txt", wantConnections: 4, wantKind: record.WithConnection},
		"a server that finds nothing":     {file: "status.txt", wantConnections: 4, wantKind: record.Observed, wantErrors: map[string]string{"Status": `Non-2xx responses: +(\d+)`}},
		"fewer requests than percentiles": {file: "few.txt", wantConnections: 2, wantKind: record.Observed},
		"a probe":                         {file: "probe.txt", wantConnections: 1, wantKind: record.Observed},
		"answers of another length":       {file: "lengths.txt", wantConnections: 4, wantKind: record.Observed, wantErrors: map[string]string{"Body": `Length: (\d+)`}, wantUnknown: []string{lengths}},
		"answers that were cut off":       {file: "closed.txt", wantConnections: 4, wantKind: record.Observed, wantErrors: map[string]string{"Body": `Length: (\d+)`}, wantUnknown: []string{lengths, opening}},
		"connections that were reset":     {file: "resets.txt", wantConnections: 4, wantKind: record.Observed, wantErrors: map[string]string{"Read": receive}, wantLost: receive, wantUnknown: []string{lost, opening}},
		"a server that closes each one":   {file: "ignores.txt", wantConnections: 4, wantKind: record.WithConnection, wantUnknown: []string{kept}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			raw := read(t, tc.file)
			got, err := ab.Tool{}.Parse(raw)
			if err != nil {
				t.Fatalf("Parse(): %v", err)
			}
			want := record.Measurement{Tool: "ab", Threads: 1, Connections: tc.wantConnections, Unknown: append([]string{timeouts}, tc.wantUnknown...)}
			want.Requests, want.Bytes = numberIn(t, raw, complete), numberIn(t, raw, `Total transferred: +(\d+) bytes`)
			if tc.wantLost != "" {
				want.Requests -= numberIn(t, raw, tc.wantLost)
			}
			for field, pattern := range tc.wantErrors {
				n := numberIn(t, raw, pattern)
				switch field {
				case "Read":
					want.Errors.Read = n
				case "Status":
					want.Errors.Status = n
				case "Body":
					want.Errors.Body = n
				}
			}
			if len(got.Latency) != 1 || got.Latency[0].Kind != tc.wantKind || got.Latency[0].Samples != want.Requests || got.Latency[0].HDRHigh == "" {
				t.Errorf("Latency = %+v, want %d samples of kind %s, with upper ends", got.Latency, want.Requests, tc.wantKind)
			}
			checkDuration(t, raw, got.DurationMicros)
			got.Latency, got.DurationMicros = nil, 0
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
		})
	}
}

func checkDuration(t *testing.T, raw []byte, micros int64) {
	t.Helper()
	seconds, millis := numberIn(t, raw, `Time taken for tests: +(\d+)\.`), numberIn(t, raw, `Time taken for tests: +\d+\.(\d+)`)
	if off := micros - (seconds*1000+millis)*1000; off < -501 || off > 501 || micros < 1 {
		t.Errorf("DurationMicros = %d, %d away from the time that ab printed", micros, off)
	}
}

func TestParseTakesTheDeadServerOutOfTheRequests(t *testing.T) {
	got, err := ab.Tool{}.Parse(read(t, "died.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got.Latency, got.Unknown, got.DurationMicros = nil, nil, 0
	want := record.Measurement{
		Tool: "ab", Threads: 1, Connections: 4, Requests: 3004, Bytes: 219_000, Errors: record.Errors{Read: 73_141, Body: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse() (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	good := string(read(t, "keepalive.txt"))
	replace := func(pattern, by string) string { return regexp.MustCompile(pattern).ReplaceAllString(good, by) }
	tests := map[string]struct{ raw, want string }{
		"a refused connection, in ab's words": {
			raw:  string(read(t, "refused.txt")),
			want: "ab ended without a result: apr_socket_recv: Connection refused (111)",
		},
		"a reset connection, in ab's words": {
			raw:  string(read(t, "reset-once.txt")),
			want: "ab ended without a result: apr_socket_recv: Connection reset by peer (104); Total of 49 requests completed",
		},
		"a lack of ports, in ab's words": {
			raw:  string(read(t, "ports.txt")),
			want: "ab ended without a result: Test aborted after 10 failures; apr_socket_connect(): Cannot assign requested address (99)",
		},
		"a server that stopped answering, in ab's words": {
			raw:  string(read(t, "hung.txt")),
			want: `ab ended without a result: apr_pollset_poll: The timeout specified has expired (70007); Total of 2000 requests completed: no connection got a byte for 2 s; a server that keeps connections must say so to an HTTP/1.0 client, by "Connection: keep-alive"`,
		},
		"a usage error, in ab's words": {
			raw:  string(read(t, "usage.txt")),
			want: "ab ended without a result: ab: Cannot use concurrency level greater than total number of requests",
		},
		"nothing but refused connections": {raw: string(read(t, "refused-r.txt")), want: "ab got no answer: its connections were refused or broken"},
		"no output at all":                {raw: "", want: "ab ended without a result and without a word"},
		"an output without percentiles": {
			raw:  good[:strings.Index(good, "\n== ")],
			want: "ab's output is incomplete: its table has 1 of 101 percentiles",
		},
		"a table that was cut off":      {raw: replace(`\n100,.*\n`, "\n"), want: "ab's output is incomplete: its table has 100 of 101 percentiles"},
		"a table that goes down":        {raw: replace(`\n60,.*\n`, "\n60,0.001\n"), want: "reading ab's percentile 60: it is below the one before"},
		"a table in another order":      {raw: replace(`\n60,`, "\n61,"), want: ""},
		"a table without numbers":       {raw: replace(`\n60,.*\n`, "\n60,nan\n"), want: `reading ab's percentile 60: the line "60,nan" is not one of its table`},
		"a counter that is not there":   {raw: replace(`Total transferred:.*\n`, ""), want: `ab's output is incomplete: "Total transferred" is missing`},
		"a counter that is there twice": {raw: replace(`(Failed requests:.*\n)`, "$1$1"), want: `reading ab's line "Failed requests:        0": the counter is there twice`},
		"a time that is not there":      {raw: replace(`Time taken.*\n`, ""), want: "ab's output is incomplete: the time taken or the rate is missing"},
		"a rate that cannot be":         {raw: replace(`Requests per second: .*\n`, "Requests per second:    1.00 [#/sec] (mean)\n"), want: ""},
		"more kept than completed":      {raw: replace(`Keep-Alive requests: .*\n`, "Keep-Alive requests:    99999999\n"), want: ""},
		"more explained than failed":    {raw: replace(`(Failed requests:.*\n)`, "$1   (Connect: 0, Receive: 1, Length: 0, Exceptions: 0)\n"), want: "ab contradicts itself: 0 failed requests, of which it explains 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ab.Tool{}.Parse([]byte(tc.raw))
			if err == nil {
				t.Fatalf("Parse() = %+v, want an error", got)
			}
			if tc.want == "" {
				return
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, name := range []string{"keepalive.txt", "resets.txt", "few.txt", "hung.txt", "usage.txt"} {
		corpus.Add(read(f, name))
	}
	corpus.Fuzz(func(t testing.TB, raw []byte) {
		m, err := ab.Tool{}.Parse(bytes.Clone(raw))
		if err != nil {
			return
		}
		for _, n := range []int64{m.DurationMicros, m.Requests, m.Bytes, m.Errors.Connect, m.Errors.Read, m.Errors.Write, m.Errors.Status, m.Errors.Body} {
			if n < 0 {
				t.Errorf("a negative count in %+v", m)
			}
		}
		if m.Requests == 0 || m.DurationMicros == 0 || m.Threads != 1 || m.Connections < 1 {
			t.Errorf("a measurement of nothing: %+v", m)
		}
		if len(m.Latency) != 1 || m.Latency[0].Samples != m.Requests {
			t.Errorf("%d requests and the latencies %+v", m.Requests, m.Latency)
		}
	})
}
