package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/record"
)

// sentence is that of the first finding of a code; empty if there is none.
func sentence(findings []lint.Finding, code validity.Code) string {
	for _, f := range findings {
		if f.Code == code {
			return f.Sentence
		}
	}
	return ""
}

const tooMany = `Running 30s test @ http://h/
  4 threads and 128 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.31ms    3.50ms  53.10ms   89.00%
    Req/Sec   250.10k    49.70k  717.00k    76.60%
  30000000 requests in 30.00s, 3.97GB read
Requests/sec: 1000000.00
Transfer/sec:    135.20MB
`

func TestOnlyTheCauseThatIsLeftIsAsserted(t *testing.T) {
	tests := map[string]struct {
		above  string
		code   validity.Code
		weight validity.Validity
		words  []string
		not    string
	}{
		"no command line":            {"", lint.Inflated, validity.Suspect, []string{"Either a script pipelines requests", "or wrk added latencies"}, "Most likely"},
		"a command without a script": {"$ wrk -t4 -c128 -d30s http://h/", lint.Inflated, validity.Suspect, []string{"some printed latencies were never measured"}, "pipelines"},
		"a script of pipelines":      {"$ wrk -t4 -c128 -d30s http://h/ -s pipeline.lua -- / 16", lint.Pipelined, lint.Note, []string{"up to 16 requests open (pipelining)"}, "never measured"},
		"a script of little depth":   {"$ wrk -t4 -c128 -d30s --script=p.lua http://h/ -- 4", lint.Pipelined, validity.Suspect, []string{"Pipelining explains up to 512", "The rest fits"}, "never measured"},
		"a script without a depth":   {"wrk -t4 -c128 -d30s -s post.lua http://h/", lint.Inflated, validity.Suspect, []string{"Either a script pipelines requests"}, "Most likely"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := lint.Analyse(parse(t, "x.txt", []byte(tc.above+"\n"+tooMany)), nil)
			got := sentence(r.Findings, tc.code)
			if weightOf(r.Findings, tc.code) != tc.weight {
				t.Fatalf("findings %+v, want %s", r.Findings, tc.code)
			}
			for _, words := range tc.words {
				if !strings.Contains(got, words) {
					t.Errorf("%q does not say %q", got, words)
				}
			}
			if strings.Contains(got, tc.not) {
				t.Errorf("%q says %q", got, tc.not)
			}
		})
	}
}

func TestRatesOfCommandLinesAreRead(t *testing.T) {
	for command, want := range map[string]float64{
		"$ wrk2 -t2 -c100 -R 2000 http://h/": 2000, "wrk -R2000 -c1 http://h/": 2000, "$ wrk --rate=2000 -R2000 http://h/": 2000,
		"time hey -q 50 -c 10 http://h/": 50, "vegeta attack -rate=500/s http://h/": 500, "wrk -t2 -c100 http://h/": 0, "we run wrk on a laptop": 0,
	} {
		s := parse(t, "x.txt", []byte(command+"\n"+tooMany))[0]
		if s.Command.PerSecond != want {
			t.Errorf("%q asks for %v requests per second, want %v", command, s.Command.PerSecond, want)
		}
	}
}

// part is a sample of k6 that is a part of a test.
func part(share float64, requests int64, millis float64) lint.Sample {
	return with(func(s *lint.Sample) {
		s.Tool, s.Part, s.Requests, s.URL, s.Threads = lint.K6, share, requests, "", 0
		s.Throughput.Value, s.Recomputed = float64(requests)/10, float64(requests)/10
		s.Latency[0].Mean.Value = millis * 1e3
		s.Latency[0].Min.Value, s.Latency[0].Max.Value, s.Latency[0].Quantiles = 1e3, 1e6, nil
	})
}

func TestPartsOfATestAreSummedAndNotCompared(t *testing.T) {
	whole := []lint.Sample{part(0.25, 7140, 4.9), part(0.25, 7141, 4.91), part(0.25, 7139, 4.89), part(0.25, 7142, 4.95)}
	r := lint.Analyse(whole, nil)
	if got := sentence(r.Findings, lint.Distributed); !strings.Contains(got, "4 parts of one test") || !strings.Contains(got, "28,562 requests, 2,856 per second, by 40 virtual users") {
		t.Errorf("sum %q", got)
	}
	if len(r.Repeats) != 1 || r.Repeats[0].Runs != 1 || r.Repeats[0].CV != nil || weightOf(r.Findings, lint.FewRepeats) != "" || weightOf(r.Findings, lint.UnevenLatency) != "" {
		t.Errorf("repeats %+v, findings %+v, want one run", r.Repeats, r.Findings)
	}
	whole[3] = part(0.25, 7142, 21.9)
	if got := sentence(lint.Judge(whole), lint.UnevenLatency); !strings.Contains(got, "range from 4.89 ms (#3) to 21.9 ms (#4)") {
		t.Errorf("uneven parts are called %q", got)
	}
	if got := weightOf(lint.Judge(whole[:3]), lint.PartsMissing); got != validity.Suspect {
		t.Errorf("a missing part weighs %q", got)
	}
	if r := lint.Analyse(append(whole, whole...), nil); len(r.Repeats) != 1 || r.Repeats[0].Runs != 1 {
		t.Errorf("copies of all parts are %+v", r.Repeats)
	}
}

func TestSegmentsOfCommandLinesAreParts(t *testing.T) {
	for flag, want := range map[string]float64{
		"--execution-segment 0:1/4": 0.25, "--execution-segment=1/4:1/2": 0.25, "--execution-segment=50%": 0.5, "--execution-segment=2:1": 0, "--vus 3": 0,
	} {
		s := parse(t, "x.txt", append([]byte("$ k6 run "+flag+" a.js\n"), read(t, "k6-closed.txt")...))[0]
		if s.Part != want {
			t.Errorf("%s is the part %v, want %v", flag, s.Part, want)
		}
	}
}

func TestRunsOfSeveralPodsMayBeParts(t *testing.T) {
	var samples []lint.Sample
	for i := range 3 {
		s := at(10, 1000.25+float64(i), 9.5)
		s.Stream = fmt.Sprintf("pod-%d", i)
		samples = append(samples, s)
	}
	findings := lint.Judge(samples)
	if got := sentence(findings, lint.PartsOrRepeats); !strings.Contains(got, "3,004 requests per second together") && !strings.Contains(got, "3,003") {
		t.Errorf("sentence %q", got)
	}
	if weightOf(findings, lint.FewRepeats) != "" {
		t.Error("they are called repeats")
	}
}

func TestManyServersAlikeShareALimit(t *testing.T) {
	servers := func(n int, step float64) []lint.Sample {
		var out []lint.Sample
		for i := range n {
			for k := range 7 {
				s := at(10, 41_000.25+step*float64(i)+float64(k), 0.24)
				s.File = fmt.Sprintf("server-%c-%d.txt", 'a'+i, k)
				out = append(out, s)
			}
		}
		return out
	}
	if got := sentence(lint.Judge(servers(8, 1)), lint.AllAlike); !strings.Contains(got, "8 of 8 servers agree") || !strings.Contains(got, "the generator, the network, or a rate limit") {
		t.Errorf("servers that are alike: %q", got)
	}
	for name, samples := range map[string][]lint.Sample{"two servers": servers(2, 1), "servers that differ": servers(8, 900)} {
		if got := sentence(lint.Judge(samples), lint.AllAlike); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	asked := servers(8, 1)
	for i := range asked {
		asked[i].Arrivals = &lint.Arrivals{PerSecond: 41_000, Asked: 410_000, Started: 410_000}
	}
	if got := sentence(lint.Judge(asked), lint.AllAlike); got != "" {
		t.Errorf("servers at one asked rate: %q", got)
	}
}

func TestSpreadOfLatencyCounts(t *testing.T) {
	slow := at(10, 1000.5, 9.5)
	slow.Latency[0].Mean.Value = 3_000
	if got := weightOf(lint.Judge([]lint.Sample{at(10, 1000.25, 9.5), slow}), lint.UnevenLatency); got != validity.Suspect {
		t.Errorf("repeats of three times the latency weigh %q", got)
	}
	if got := weightOf(lint.Judge([]lint.Sample{at(10, 1000.25, 9.5), at(10, 1000.5, 9.1)}), lint.UnevenLatency); got != "" {
		t.Errorf("repeats that agree weigh %q", got)
	}
}

func TestToolsFailuresAreNamed(t *testing.T) {
	const ab = "This is ApacheBench, Version 2.3 <$Revision: 1901567 $>\n\nBenchmarking h (be patient)"
	const secure = ab + "...SSL read failed (5) - closing connection\nSSL read failed (5) - closing connection\n..done\n\n\nServer Software:\n\nDocument Length:        0 bytes\n\n" +
		"Concurrency Level:      10\nTime taken for tests:   10.000 seconds\nComplete requests:      1000\nFailed requests:        998\n" +
		"   (Connect: 0, Receive: 0, Length: 998, Exceptions: 0)\nRequests per second:    100.00 [#/sec] (mean)\n"
	const k6 = "     execution: local\n     scenarios: (100.00%) 1 scenario, 10 max VUs, 10m30s max duration\n"
	const totals = "     http_reqs..: 5000 166.6/s\n     iterations..: 5000 166.6/s\n     vus_max..: 10 min=10 max=10\n"
	tests := map[string]struct {
		text  string
		code  validity.Code
		words string
	}{
		"ab without a connection":   {ab + "\n\nTest aborted after 10 failures\n\napr_socket_connect(): Invalid argument (22)\n", validity.ToolFailed, "apr_socket_connect(): Invalid argument (22)"},
		"ab that was reset at once": {ab + "...apr_socket_recv: Connection reset by peer (54)\n", validity.ToolFailed, "ab printed no result: apr_socket_recv"},
		"failures of TLS":           {secure, lint.TLSFailed, "TLS failed on 2 connections (0.2% of requests)"},
		"an empty first response":   {secure, lint.WrongLength, "The first response was empty"},
		"checks that never ran":     {k6 + "     checks...: 0.00% 0 out of 0\n" + totals, lint.NoChecks, "none was made"},
		"an exception of a script":  {k6 + "time=\"2026\" level=error msg=\"TypeError: Cannot read property 'x' of undefined\" executor=a\n" + totals, lint.ScriptThrew, "TypeError"},
		"a test that was aborted":   {k6 + "time=\"2026\" level=error msg=\"test run was aborted because k6 received a 'interrupt' signal\"\n" + totals, lint.Aborted, "received a 'interrupt' signal"},
		"errors in a tool's words":  {"Summary:\n  Total:\t10.0 secs\n  Average:\t0.1 secs\n  Requests/sec:\t200.0\n\nStatus code distribution:\n  [200]\t1000 responses\n\nError distribution:\n  [1000]\tcontext deadline exceeded\n", lint.FailedRequests, "context deadline exceeded (1000)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := lint.Judge(parse(t, "x.txt", []byte(tc.text)))
			if got := sentence(findings, tc.code); !strings.Contains(got, tc.words) {
				t.Errorf("%s says %q, want %q; findings %+v", tc.code, got, tc.words, findings)
			}
		})
	}
}

func TestWarmupsAreNoRepeats(t *testing.T) {
	text := string(read(t, "wrk-steady.txt"))
	r := lint.Analyse(parse(t, "raw.txt", []byte("-----\n Running Warmup plaintext\n wrk -c 8 http://h/\n-----\n"+text+"-----\n Concurrency: 8\n-----\n"+strings.Replace(text, "18406", "18407", 1))), nil)
	if len(r.Repeats) != 1 || r.Repeats[0].Runs != 1 || weightOf(r.Findings, lint.Warmup) != lint.Note {
		t.Errorf("repeats %+v, findings %+v", r.Repeats, r.Findings)
	}
}

func TestTitlesTellSourcesOfAFileApart(t *testing.T) {
	text := string(read(t, "wrk-steady.txt"))
	other := strings.Replace(text, "18406", "18407", 1)
	for between, want := range map[string]int{"new build": 2, "old build 2": 1} {
		r := lint.Analyse(parse(t, "a.md", []byte("old build 1\n```\n"+text+"```\n"+between+"\n```\n"+other+"```\n")), nil)
		if len(r.Repeats) != want {
			t.Errorf("%q: repeats %+v, want %d sources", between, r.Repeats, want)
		}
	}
}

func TestOpenLoadsAreNotHeldAgainstConnections(t *testing.T) {
	s := with(func(s *lint.Sample) {
		s.Tool, s.Arrivals, s.Latency[0].Kind = lint.Fortio, &lint.Arrivals{PerSecond: 1000, Asked: 10_000, Started: 10_000}, record.Observed
		s.Latency[0].Mean.Value = 200
	})
	if got := weightOf(lint.Judge([]lint.Sample{s}), lint.UnaccountedTime); got != "" {
		t.Errorf("an open load weighs %q", got)
	}
}
