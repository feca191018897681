package k6_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool/k6"
)

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func numberIn(t *testing.T, raw, before string) int64 {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(before) + `[^}]*?"count":(\d+)`).FindStringSubmatch(raw)
	if found == nil {
		t.Fatalf("the output has no %q", before)
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestParseRecordedOutput(t *testing.T) {
	second := record.Measurement{Tool: "k6", Threads: 1, Connections: 4, DurationMicros: 1_000_000}
	tests := map[string]struct {
		file      string
		want      func(m *record.Measurement, requests, dropped int64)
		wantKinds string
	}{
		"a closed model":                {file: "closed.txt", wantKinds: "Observed"},
		"a connection for each request": {file: "perrequest.txt", wantKinds: "WithConnection"},
		"a ramp": {file: "ramping.txt", wantKinds: "Observed FromIntended", want: func(m *record.Measurement, _, _ int64) {
			m.Connections, m.Asked = 200, 150
		}},
		"a rate that could not be reached": {file: "dropped.txt", wantKinds: "Observed", want: func(m *record.Measurement, requests, dropped int64) {
			m.Connections, m.Threads, m.Dropped, m.Asked = 2, 2, dropped, requests+dropped
			m.Unknown = []string{"The latencies from the intended starts are unknown: some arrivals were dropped, and k6 does not say which."}
		}},
		"wrong statuses": {file: "status.txt", wantKinds: "Observed", want: func(m *record.Measurement, requests, _ int64) { m.Errors.Status = requests }},
		"timeouts": {file: "timeouts.txt", wantKinds: "Observed", want: func(m *record.Measurement, _, _ int64) {
			m.Requests, m.Errors.Timeout, m.DurationMicros = 0, 4, 3_000_000
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			raw := read(t, tc.file)
			got, err := k6.Tool{}.Parse([]byte(raw))
			if err != nil {
				t.Fatalf("Parse(): %v", err)
			}
			want := second
			want.Requests, want.Bytes = numberIn(t, raw, `"http_reqs{scenario:load}"`), numberIn(t, raw, `"data_received{scenario:load}"`)
			if tc.want != nil {
				var dropped int64
				if tc.file == "dropped.txt" {
					dropped = numberIn(t, raw, `"dropped_iterations"`)
				}
				tc.want(&want, want.Requests, dropped)
			}
			if diff := cmp.Diff(tc.wantKinds, kinds(got)); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			for _, l := range got.Latency {
				if l.Samples != want.Requests {
					t.Errorf("%d samples of kind %s, want %d", l.Samples, l.Kind, want.Requests)
				}
			}
			got.Latency = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
		})
	}
}

func inHTTP2(raw string, answers int64) string {
	return strings.NewReplacer(`"format":1`, `"format":1,"http2":true`, `"metrics":{`, fmt.Sprintf(`"metrics":{"http_reqs{scenario:load,proto:HTTP/2.0}":{"count":%d,"rate":1},`, answers)).Replace(raw)
}

func TestParseTellsHowManyAnswersWereInHTTP2(t *testing.T) {
	for _, answers := range []int64{0, 1} {
		if m, err := (k6.Tool{}).Parse([]byte(inHTTP2(read(t, "closed.txt"), answers))); err != nil || m.HTTP2 != answers {
			t.Errorf("of %d answers it tells %d, %v", answers, m.HTTP2, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	closed := read(t, "closed.txt")
	line := closed[strings.Index(closed, "loadstone {"):]
	replaced := func(pattern, by string) string { return regexp.MustCompile(pattern).ReplaceAllString(closed, by) }
	tests := map[string]struct{ raw, want string }{
		"a script that threw, in its words":         {raw: read(t, "throws.txt"), want: "times, at first: Error: no such luck at default (file:///loadstone/scripts/load/user.js:"},
		"a script that k6 cannot read, in k6's":     {raw: read(t, "syntax.txt"), want: "k6 did not run: could not initialize 'load-4.k6.js'"},
		"no output":                                 {raw: "", want: "k6 did not run and printed nothing"},
		"output without an error that k6 logged":    {raw: "\nkilled\n", want: "k6 did not run: killed"},
		"a summary that is there twice":             {raw: closed + line, want: "it is there twice"},
		"a summary that was cut off":                {raw: closed[:len(closed)-100], want: "reading k6's summary: unexpected end of JSON input"},
		"a summary of another version":              {raw: replaced(`"format":1`, `"format":2`), want: "its format is 2"},
		"a summary without a counter":               {raw: replaced(`"http_reqs\{scenario:load\}"`, `"x"`), want: "http_reqs{scenario:load} is missing"},
		"a negative count":                          {raw: replaced(`"count":`, `"count":-`), want: "is out of range"},
		"a test that ended early":                   {raw: replaced(`"millis":[\d.]+`, `"millis":700`), want: "of 1000 ms: the script must not end the test"},
		"iterations that made no request":           {raw: replaced(`("iterations":\{[^}]*"count":)\d+`, `${1}99999999`), want: "and counted"},
		"more correct answers than there were":      {raw: replaced(`("http_reqs\{scenario:load,status:200\}":\{[^}]*"count":)\d+`, `${1}99999999`), want: "contradict each other"},
		"more latencies than there were answers":    {raw: replaced(`("http_req_duration[^"]*":\{"count":)\d+`, `${1}99999999`), want: "99999999 latencies"},
		"quantiles that are not as many as asked":   {raw: replaced(`"stats":\["count",`, `"stats":[`), want: "k6 was asked for 1002 statistics and gave 1003"},
		"a scenario that had no time of its own":    {raw: replaced(`("loadstone_duration":\{[^}]*"value":)\d+`, `${1}0`), want: "its scenario took no time"},
		"a summary that counts no HTTP/2":           {raw: replaced(`"format":1`, `"format":1,"http2":true`), want: "http_reqs{scenario:load,proto:HTTP/2.0} is missing"},
		"more answers in HTTP/2 than there were":    {raw: inHTTP2(closed, 99999999), want: "99999999 of them in HTTP/2"},
		"unanswered requests that were never asked": {raw: replaced(`("http_reqs\{scenario:load,status:0\}":\{[^}]*"count":)\d+`, `${1}99999999`), want: "99999999 of them unanswered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := k6.Tool{}.Parse([]byte(tc.raw))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() = %+v, %v; want %q", got.Errors, err, tc.want)
			}
		})
	}
}

func TestParseSaysWhatItCannotKnow(t *testing.T) {
	ramping := read(t, "ramping.txt")
	replaced := func(pattern, by string) string {
		return regexp.MustCompile(pattern).ReplaceAllString(ramping, by)
	}
	tests := map[string]struct{ raw, want string }{
		"a generator that did not sustain the rate": {raw: replaced(`("loadstone_rate_end":\{[^}]*"value":)\d+`, `${1}2500`), want: "k6 itself did not sustain the rate: it never made 1126 of 1275 starts."},
		"clocks that were not compared":             {raw: strings.Replace(ramping, `"loadstone_clock_error"`, `"x"`, 1), want: "k6's clock was not compared with the scenario's."},
		"more starts than requests":                 {raw: replaced(`("loadstone_from_intended":\{"count":)\d+`, `${1}90`), want: "k6 counted 149 answers in 90 iterations, and an arrival is one request."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := k6.Tool{}.Parse([]byte(tc.raw))
			if err != nil || !strings.Contains(strings.Join(got.Unknown, " "), tc.want) {
				t.Errorf("Parse(): %v, unknown %q; want %q", err, got.Unknown, tc.want)
			}
		})
	}
}

// TestCutOffIterationsAreLongerThanTheirGrace plants iterations that were incomplete when k6 ended.
func TestCutOffIterationsAreLongerThanTheirGrace(t *testing.T) {
	raw := regexp.MustCompile(`("loadstone_begun":\{[^}]*"count":)\d+`).ReplaceAllString(read(t, "ramping.txt"), `${1}160`)
	got, err := k6.Tool{}.Parse([]byte(raw))
	if err != nil || kinds(got) != "Observed FromIntended" {
		t.Fatalf("Parse(): %v, kinds %q, unknown %q", err, kinds(got), got.Unknown)
	}
	low, high := spread(t, got.Latency[1])
	if len(low) != 160 || low[159] < 499_000 || high[148] > 2_000_000 || high[149] < 3_500_000_000 {
		t.Errorf("%d samples; the last eleven from %d µs to %d µs, want them from 0.5 s to an hour", len(low), low[149], high[149])
	}
}

// shrunk keeps few quantiles of a recorded output: all of them slow down a fuzzer.
func shrunk(raw []byte) []byte {
	lists := regexp.MustCompile(`("(?:stats|quantiles)":\[)((?:[^,\]]+,){5}[^,\]]+)[^\]]*\]`)
	return lists.ReplaceAll(raw, []byte("${1}${2}]"))
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, name := range []string{"closed.txt", "ramping.txt", "dropped.txt", "perrequest.txt", "syntax.txt"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		raw = shrunk(raw)
		if m, err := (k6.Tool{}).Parse(raw); name != "syntax.txt" && (err != nil || m.Requests == 0) {
			f.Fatalf("%s, shrunk: %v", name, err)
		}
		corpus.Add(raw)
	}
	corpus.Fuzz(func(t testing.TB, raw []byte) {
		m, err := k6.Tool{}.Parse(bytes.Clone(raw))
		if err != nil {
			return
		}
		counts := []int64{
			m.DurationMicros, m.Requests, m.HTTP2, m.Asked, m.Dropped, m.Bytes, int64(m.Threads), int64(m.Connections),
			m.Errors.Connect, m.Errors.Read, m.Errors.Write, m.Errors.Timeout, m.Errors.Status, m.Errors.Body,
		}
		for _, l := range m.Latency {
			counts = append(counts, l.Samples)
			if l.Kind != record.FromIntended && l.Samples > m.Requests {
				t.Errorf("%d samples of kind %s of %d requests", l.Samples, l.Kind, m.Requests)
			}
		}
		for _, n := range counts {
			if n < 0 {
				t.Errorf("a negative count in %+v", m)
			}
		}
	})
}
