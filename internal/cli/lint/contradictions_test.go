package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/cli/lint"
)

func wrkText(path string, threads, connections, requests int, seconds float64, mean, extra string) string {
	return fmt.Sprintf(`Running 10s test @ http://127.0.0.1:9000%s
  %d threads and %d connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   %s     1.00ms     1.90s    80.00%%
    Req/Sec     5.00k   200.00     6.00k    70.00%%
  %d requests in %.2fs, %.2fMB read
%sRequests/sec:  %.2f
Transfer/sec:      2.00MB
`, path, threads, connections, mean, requests, seconds, float64(requests)*120/(1<<20), extra, float64(requests)/seconds)
}

func abText(port, connections, requests int, seconds float64, bytes int) string {
	return fmt.Sprintf(`This is ApacheBench, Version 2.3 <$Revision$>

Server Hostname:        127.0.0.1
Server Port:            %d

Document Path:          /
Document Length:        10 bytes

Concurrency Level:      %d
Time taken for tests:   %.3f seconds
Complete requests:      %d
Failed requests:        0
Total transferred:      %d bytes
HTML transferred:       %d bytes
Requests per second:    %.2f [#/sec] (mean)
Time per request:       %.3f [ms] (mean)

Connection Times (ms)
              min  mean[+/-sd] median   max
Total:          0    0   0.1      0       1
`, port, connections, seconds, requests, requests*bytes, requests*10, float64(requests)/seconds, float64(connections)*seconds/float64(requests)*1e3)
}

// TestContradictionsOfPublishedReportsAreFound holds files shaped like those behind reports that were wrong.
func TestContradictionsOfPublishedReportsAreFound(t *testing.T) {
	errors := func(n int) string { return fmt.Sprintf("  Non-2xx or 3xx responses: %d\n", n) }
	tests := map[string]struct {
		files map[string]string
		// wantWords are in the sentence of the finding.
		code      validity.Code
		wantWords string
	}{
		"a thousand requests in 24 ms, once, decide nothing": {
			map[string]string{"a.txt": abText(9001, 10, 1000, 0.024, 94), "b.txt": abText(9002, 10, 1000, 0.028, 113)},
			validity.TooShort, "24 ms",
		},
		"single runs decide nothing": {
			map[string]string{"a.txt": abText(9001, 10, 400_000, 10.1, 94), "b.txt": abText(9002, 10, 350_000, 10.2, 94)},
			lint.NoRepeats, "n = 1",
		},
		"two servers whose answers differ in size do unequal work": {
			map[string]string{"a.txt": abText(9001, 10, 400_000, 10.1, 94), "b.txt": abText(9002, 10, 350_000, 10.2, 113)},
			lint.UnequalWork, "94 B in one and 113 B",
		},
		"a label that says 100 where the tool ran 10": {
			map[string]string{"low.txt": "Low load: 4 threads, 100 connections\n" + wrkText("/", 4, 10, 200_000, 10.01, "350.00us", "")},
			validity.WrongLabel, "says 100 connections, but wrk ran 10",
		},
		"a script that is called with other connections": {
			map[string]string{"low_c100.txt": wrkText("/", 4, 10, 200_000, 10.01, "350.00us", "")},
			validity.WrongLabel, `"low_c100.txt" says 100`,
		},
		"timeouts that are called 0.1%": {
			map[string]string{"a.txt": wrkText("/", 4, 100, 142_000, 10.05, "9.00ms", "  Socket errors: connect 0, read 0, write 0, timeout 140\n")},
			lint.FailedRequests, "140 requests (0.09859% of all) failed: timeout 140",
		},
		"timeouts on more than every connection": {
			map[string]string{"a.txt": wrkText("/", 4, 100, 142_000, 10.05, "9.00ms", "  Socket errors: connect 0, read 0, write 0, timeout 140\n")},
			validity.Starved, "140 timeouts on 100 connections (140%",
		},
		"error pages that are faster than the file": {
			map[string]string{
				"small.html.txt":  wrkText("/static/small.html", 4, 100, 222_000, 30.05, "13.00ms", ""),
				"medium.html.txt": wrkText("/static/medium.html", 4, 100, 385_000, 30.05, "7.50ms", errors(385_000)),
			},
			lint.ErrorsWin, "1.734 times as fast as small.html.txt:1",
		},
		"repeats that vary more than is printed": {
			map[string]string{
				"1.txt": wrkText("/", 4, 50, 199_137, 10.02, "2.40ms", ""), "2.txt": wrkText("/", 4, 50, 245_211, 10.03, "2.00ms", ""), "3.txt": wrkText("/", 4, 50, 229_313, 10.01, "2.10ms", ""),
			},
			lint.Spread, "3 repeats on 50 connections vary by 10.3",
		},
		"round numbers": {
			map[string]string{"1.txt": wrkText("/", 4, 10, 204_000, 10, "480.00us", ""), "2.txt": wrkText("/", 4, 50, 198_500, 10, "2.41ms", ""), "3.txt": wrkText("/", 4, 100, 199_000, 10, "5.09ms", "")},
			lint.RoundNumbers, "All 3 throughputs are multiples of 50",
		},
		"a sweep that is saturated from its first level on": {
			map[string]string{
				"1.txt": wrkText("/", 4, 10, 216_411, 10.01, "430.00us", ""), "2.txt": wrkText("/", 4, 50, 217_713, 10.01, "2.20ms", ""),
				"3.txt": wrkText("/", 4, 100, 220_911, 10.01, "4.58ms", ""), "4.txt": wrkText("/", 4, 200, 212_507, 10.01, "9.49ms", ""),
			},
			lint.Saturated, "saturated at 10 connections or fewer",
		},
		"more requests under way than connections": {
			map[string]string{"a.txt": wrkText("/", 4, 10, 230_071, 10.01, "2.23ms", "")},
			lint.Inflated, "are 51.",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var samples []lint.Sample
			for _, file := range []string{"a.txt", "b.txt", "1.txt", "2.txt", "3.txt", "4.txt", "low.txt", "low_c100.txt", "small.html.txt", "medium.html.txt"} {
				if text, ok := tc.files[file]; ok {
					samples = append(samples, parseText(t, file, []byte(text))...)
				}
			}
			for _, f := range lint.Judge(samples) {
				if f.Code == tc.code {
					if !strings.Contains(f.Sentence, tc.wantWords) {
						t.Errorf("sentence %q, want one with %q", f.Sentence, tc.wantWords)
					}
					return
				}
			}
			t.Errorf("nobody found %s in %+v", tc.code, lint.Judge(samples))
		})
	}
}
