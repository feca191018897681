package lint_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/record"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t *testing.T, name string, text []byte) []lint.Sample {
	t.Helper()
	samples, refused := lint.Parse(name, bytes.NewReader(text))
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	return samples
}

// TestParseReadsWhatToolsPrinted takes the numbers by eye from the files.
func TestParseReadsWhatToolsPrinted(t *testing.T) {
	type facts struct {
		Tool, URL                      string
		Threads, Connections, Requests int64
		Seconds, Throughput            float64
		Failures                       lint.Failures
		Kind                           record.LatencyKind
		Mean, Max, P99                 float64
	}
	tests := map[string]facts{
		"wrk-steady.txt": {
			lint.Wrk, "http://127.0.0.1:18377/steady", 1, 8, 18406, 6, 3065.38,
			lint.Failures{},
			record.Corrected, 2650, 25790, 5830,
		},
		"wrk-hang.txt": {
			lint.Wrk, "http://127.0.0.1:18377/hang", 1, 10, 390, 6.01, 64.89,
			lint.Failures{Errors: record.Errors{Timeout: 10}},
			record.Corrected, 5430, 8700, 0,
		},
		"wrk-drop.txt": {
			lint.Wrk, "http://127.0.0.1:18377/drop", 1, 4, 172954, 5.01, 34539.65,
			lint.Failures{Errors: record.Errors{Read: 3529}},
			record.Corrected, 713.44, 72060, 0,
		},
		"ab-500.txt": {
			lint.AB, "http://127.0.0.1:18377/err", 1, 8, 20000, 1.166, 17157.44,
			lint.Failures{Errors: record.Errors{Status: 20000}},
			record.WithConnection, 0, 5000, 1000,
		},
		"ab-length.txt": {
			lint.AB, "http://127.0.0.1:18377/len", 1, 8, 188429, 5, 37685.49,
			lint.Failures{Errors: record.Errors{Body: 125619}},
			record.Observed, 0, 75000, 2000,
		},
		"k6-closed.txt": {
			lint.K6, "", 0, 8, 50957, 50957 / 8492.268447, 8492.268447,
			lint.Failures{},
			record.Observed, 843.51, 57480, 0,
		},
		"k6-err.txt": {
			lint.K6, "", 0, 4, 24759, 24759 / 4949.691974, 4949.691974,
			lint.Failures{Unsorted: 24759},
			record.Observed, 669.67, 195330, 0,
		},
		"k6-handle-summary.json": {
			lint.K6, "", 0, 4, 26732, 5.000514843, 5345.849545,
			lint.Failures{},
			record.Observed, 598.774, 89944.467, 5620.936,
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			samples := parse(t, name, read(t, name))
			if len(samples) != 1 {
				t.Fatalf("%d samples, want one", len(samples))
			}
			s := samples[0]
			l := s.Latency[0]
			got := facts{s.Tool, s.URL, s.Threads, s.Connections, s.Requests, s.Seconds.Value, s.Throughput.Value, s.Errors, l.Kind, l.Mean.Value, l.Max.Value, 0}
			for _, q := range l.Quantiles {
				if q.Q == 0.99 {
					got.P99 = q.Micros.Value
				}
			}
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a) })
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsTheRoundingOfPrintedNumbers(t *testing.T) {
	wrk, ab := parse(t, "wrk-good.txt", read(t, "wrk-good.txt"))[0], parse(t, "ab-short.txt", read(t, "ab-short.txt"))[0]
	want := []printed.Quantity{{Value: 5.02, Rounding: 0.005}, {Value: 2140, Rounding: 5}, {Value: 0.064, Rounding: 0.0005}, {Value: 1000, Rounding: 500}}
	got := []printed.Quantity{wrk.Seconds, *wrk.Latency[0].Mean, ab.Seconds, *ab.Latency[0].Mean}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("quantities (-want +got):\n%s", diff)
	}
	if ab.Latency[0].ResolutionMicros != 1000 {
		t.Errorf("resolution of ab %v µs, want 1000", ab.Latency[0].ResolutionMicros)
	}
}

func TestTextAndJSONOfOneRunOfK6Agree(t *testing.T) {
	text, json := parse(t, "k6-closed.txt", read(t, "k6-closed.txt"))[0], parse(t, "k6-export.json", read(t, "k6-export.json"))[0]
	if text.Requests != json.Requests || text.Connections != json.Connections || text.Errors != json.Errors || text.ChecksPassed != json.ChecksPassed {
		t.Errorf("the text has %+v, the JSON %+v", text, json)
	}
	for i, q := range text.Latency[0].Quantiles {
		exact := json.Latency[0].Quantiles[i]
		if q.Q != exact.Q || q.Micros.Low() > exact.Micros.Value || q.Micros.High() < exact.Micros.Value {
			t.Errorf("p%v is %+v in the text and %v in the JSON", q.Q*100, q.Micros, exact.Micros.Value)
		}
	}
	if len(json.Crossed) != 0 {
		t.Errorf("crossed thresholds %v, want none: false means that a threshold held", json.Crossed)
	}
}

func TestParseReadsTheLayoutOfOlderK6(t *testing.T) {
	s := parse(t, "old.txt", []byte(`
     ✗ status is 200
      ↳  98% — ✓ 980 / ✗ 20
     checks.........................: 98.00% ✓ 980       ✗ 20
     data_received..................: 1.2 MB 120 kB/s
   ✗ http_req_duration..............: avg=12.5ms  min=1.01ms med=11ms max=1.5s p(90)=20ms p(95)=30.5ms
     http_req_failed................: 2.00%  ✓ 20        ✗ 980
     http_reqs......................: 1000   100.000000/s
     iterations.....................: 1000   100.000000/s
     vus............................: 2      min=2       max=2
     vus_max........................: 2      min=2       max=2
`))[0]
	if s.Errors.Unsorted != 20 || s.ChecksFailed != 20 || s.ChecksPassed != 980 || s.Bytes.Value != 1.2e6 || s.Connections != 2 {
		t.Errorf("sample %+v", s)
	}
	if diff := cmp.Diff([]string{"http_req_duration"}, s.Crossed); diff != "" {
		t.Errorf("crossed (-want +got):\n%s", diff)
	}
}

func TestParseFindsEveryRunOfAFile(t *testing.T) {
	var all []byte
	names := []string{"wrk-good.txt", "ab-short.txt", "wrk-refused.txt", "ab-hang.txt", "k6-open.txt", "k6-err.txt", "k6-open-legacy.txt", "wrk-500.txt", "wrk-500.txt", "k6-err.txt", "k6-err.txt", "ab-length.txt"}
	var want, got []string
	for _, name := range names {
		all = append(all, read(t, name)...)
		want = append(want, strings.Split(name, "-")[0])
	}
	for _, s := range parse(t, "all.txt", all) {
		got = append(got, s.Tool)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestParseReadsOutputWithinOtherText(t *testing.T) {
	raw := "# Report\n\n## Low, c=50\n```\n$ wrk -t4 -c100 -d30s http://h/\n" + string(read(t, "wrk-steady.txt")) + "```\n\nText.\r\n"
	indented := "  > " + strings.ReplaceAll(raw, "\n", "\r\n  > ")
	colour := strings.Replace(raw, "Running", "\x1b[32mRunning", 1)
	for name, text := range map[string]string{"in Markdown": raw, "quoted, with carriage returns": indented, "in colour": colour} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "report.md", []byte(text))[0]
			want := []lint.Claim{
				{What: "connections", Value: 100, Where: "$ wrk -t4 -c100 -d30s http://h/"},
				{What: "threads", Value: 4, Where: "$ wrk -t4 -c100 -d30s http://h/"},
				{What: "seconds", Value: 30, Where: "$ wrk -t4 -c100 -d30s http://h/"},
			}
			if diff := cmp.Diff(want, s.Claims); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if s.Line != 6 || s.Requests != 18406 {
				t.Errorf("line %d, %d requests", s.Line, s.Requests)
			}
		})
	}
}

func TestFileNamesClaimConnections(t *testing.T) {
	tests := map[string]struct {
		name string
		want float64
	}{
		"a letter and a number":           {"wrk_c100_run1.txt", 100},
		"an equals sign":                  {"low c=100.txt", 100},
		"a number and a word":             {"ab-500-connections.txt", 500},
		"Chinese":                         {"高并发（4 线程 / 100 连接）.txt", 100},
		"a number that belongs elsewhere": {"sync100-c10k-20260130.txt", 0},
		"two different numbers":           {"c10-c100.txt", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got float64
			for _, c := range parse(t, tc.name, read(t, "wrk-steady.txt"))[0].Claims {
				if c.What == "connections" {
					got = c.Value
				}
			}
			if got != tc.want {
				t.Errorf("claims %v connections, want %v", got, tc.want)
			}
		})
	}
	for _, s := range parse(t, "sweep-c200.txt", read(t, "wrk-sweep.txt")) {
		if len(s.Claims) > 0 {
			t.Errorf("the name of a file with several levels claims %+v", s.Claims)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an empty file":        {"", "it is empty"},
		"only line ends":       {"\n\r\n", "it is empty"},
		"usage":                {"Usage: wrk <options> <url>\n", "found no output of a load tool"},
		"other JSON":           {`{"a": 1, "b": 2}`, `the JSON has ["a" "b"] and is of no tool`},
		"JSON that is cut off": {`{"metrics": {`, "the JSON ends in the middle"},
		"JSON with an error":   {`{"metrics": nothing}`, "reading JSON: invalid character"},
		"a list of numbers":    {"[\n1, 2\n]", "found no output of a load tool"},
		"binary":               {"\x7f\x00\x01\x02\x03 Running", "it is binary"},
		"a zip archive":        {"PK\x03\x04abc", "it is a zip archive"},
		"decimal commas":       {"Running 10s test @ http://h/\n  1 threads and 1 connections\n  Latency   1,20ms  2,00ms  3,00ms  90,00%\n  Requests/sec:  120,50\n", "decimal comma"},
		"a tool that is known": {"Summary:\n", "hey: the output ends before the totals"},
		"Gatling":              {"---- Global Information ----\n> request count 100\n", "it is output of Gatling, which is not read"},
		"JMH":                  {`[{"jmhVersion": "1.37", "benchmark": "a"}]`, "it is output of JMH, which is not read: run it as a micro-benchmark"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			samples, refused := lint.Parse("x.txt", strings.NewReader(tc.text))
			if len(samples) > 0 || len(refused) != 1 {
				t.Fatalf("%d samples and the refusals %+v, want one refusal", len(samples), refused)
			}
			if refused[0].File != "x.txt" || !strings.Contains(refused[0].Why, tc.want) {
				t.Errorf("refusal %q, want one about %q", refused[0].Why, tc.want)
			}
		})
	}
}

func TestOneBadValueCostsThatValue(t *testing.T) {
	s := parse(t, "x.txt", []byte("Running 10s test @ http://h/\n  99999999999999999999 threads and 1 connections\n    Latency  1531812 122203011 30744512  84.20%\n"+
		"  1000 requests in 10.00s, 1.00MB read\nRequests/sec: 100.00\n"))[0]
	if s.Requests != 1000 || s.Failed != "" || len(s.Latency) != 0 || len(s.Unread) != 2 {
		t.Errorf("sample %+v, want the requests and two unread lines", s)
	}
}

func TestParseReadsLoadstonesOwnDump(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "tool", "wrk", "testdata", "good.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, "good.txt", text)[0]
	if len(s.Latency) != 2 || s.Latency[0].Kind != record.Observed || s.Latency[1].Kind != record.Corrected {
		t.Fatalf("latencies %+v, want what was observed and what wrk made of it", s.Latency)
	}
	if got, printed := s.Latency[1].Mean.Value, 187.48; math.Abs(got-printed) > 0.01*printed {
		t.Errorf("corrected mean %v µs, and wrk printed %v", got, printed)
	}
}

func TestParseTellsWrk2FromWrk(t *testing.T) {
	text := strings.Replace(string(read(t, "wrk-steady.txt")), "Thread Stats", "Thread calibration: mean lat.: 1.2ms, rate sampling interval: 10ms\n  Thread Stats", 1)
	s := parse(t, "wrk2.txt", []byte(text))[0]
	if s.Tool != lint.Wrk2 || s.Latency[0].Kind != record.FromIntended {
		t.Errorf("tool %s, latency %s", s.Tool, s.Latency[0].Kind)
	}
}
