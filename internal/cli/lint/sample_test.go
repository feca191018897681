package lint

import (
	"math"
	"testing"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

func TestASampleWithRequestsAndNoFailureIsCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		sample Sample
		want   bool
	}{
		"requests":                  {Sample{Requests: 1}, true},
		"no requests":               {Sample{}, false},
		"a tool that gave up":       {Sample{Failed: "connection refused"}, false},
		"one that gave up too late": {Sample{Failed: "connection reset", Requests: 10}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.sample.Counted(); got != tc.want {
				t.Errorf("counted: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestFilesThatDifferInDigitsAreOfOneSource(t *testing.T) {
	for file, want := range map[string]string{"c10-run1.txt": "c-run.txt", "c100-run2.txt": "c-run.txt", "wrk.txt": "wrk.txt", "٣٤": "", "": ""} {
		if got := (Sample{File: file}).Source(); got != want {
			t.Errorf("%q is of the source %q, want %q", file, got, want)
		}
	}
	if got := (Sample{File: "a.txt", Line: 7}).Place(); got != "a.txt:7" {
		t.Errorf("the place is %s", got)
	}
}

func TestTheThroughputIsAsPrintedOrElseRecomputed(t *testing.T) {
	rate := func(v float64) printed.Quantity { return printed.Quantity{Value: v} }
	for name, tc := range map[string]struct {
		sample             Sample
		perSecond, seconds float64
		derived            bool
	}{
		"both printed":        {Sample{Requests: 1000, Seconds: rate(10), Throughput: rate(99.5)}, 99.5, 10, false},
		"a duration only":     {Sample{Requests: 1000, Seconds: rate(10)}, 100, 10, false},
		"a throughput only":   {Sample{Requests: 1000, Throughput: rate(50)}, 50, 20, true},
		"neither":             {Sample{Requests: 1000}, 0, 0, false},
		"no requests at all":  {Sample{Seconds: rate(10)}, 0, 10, false},
		"nothing in the time": {Sample{Throughput: rate(50)}, 50, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.sample
			s.finish()
			if got := s.PerSecond(); math.Abs(got-tc.perSecond) > 1e-9 || math.Abs(s.Seconds.Value-tc.seconds) > 1e-9 || s.DerivedSeconds != tc.derived {
				t.Errorf("%v requests/s in %v s, derived %v; want %v in %v s", got, s.Seconds.Value, s.DerivedSeconds, tc.perSecond, tc.seconds)
			}
			if math.IsNaN(s.Recomputed) || math.IsInf(s.Recomputed, 0) {
				t.Errorf("recomputed as %v", s.Recomputed)
			}
		})
	}
}

func TestTheRateOfAClosedModelIsNone(t *testing.T) {
	for name, tc := range map[string]struct {
		arrivals *Arrivals
		want     float64
	}{
		"the closed model":        {nil, 0},
		"a rate":                  {&Arrivals{PerSecond: 20}, 20},
		"a rate that is not told": {&Arrivals{Asked: 100, Started: 90, Dropped: 10}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Sample{Arrivals: tc.arrivals}).Rate(); got != tc.want {
				t.Errorf("the rate is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestLatenciesAreThoseOfTheFirstDistribution(t *testing.T) {
	quantity := func(v float64) *printed.Quantity { return &printed.Quantity{Value: v} }
	quantile := func(q, v float64) tool.PrintedQuantile {
		return tool.PrintedQuantile{Q: q, Micros: printed.Quantity{Value: v}}
	}
	first := tool.PrintedLatency{Mean: quantity(10), Max: quantity(90), Quantiles: []tool.PrintedQuantile{quantile(0.5, 9), quantile(0.99, 50), quantile(0.999, 80)}}
	second := tool.PrintedLatency{Mean: quantity(1), Max: quantity(2), Quantiles: []tool.PrintedQuantile{quantile(0.99, 3)}}
	for name, tc := range map[string]struct {
		latency              []tool.PrintedLatency
		mean, p99, most      float64
		noMean, noP99, noMax bool
	}{
		"one":             {latency: []tool.PrintedLatency{first}, mean: 10, p99: 50, most: 90},
		"two":             {latency: []tool.PrintedLatency{first, second}, mean: 10, p99: 50, most: 90},
		"none":            {noMean: true, noP99: true, noMax: true},
		"one without p99": {latency: []tool.PrintedLatency{{Mean: quantity(10), Max: quantity(90), Quantiles: []tool.PrintedQuantile{quantile(0.9, 5), quantile(0.999, 80)}}, second}, mean: 10, noP99: true, most: 90},
		"one of a mean":   {latency: []tool.PrintedLatency{{Mean: quantity(10)}}, mean: 10, noP99: true, noMax: true},
		"one of a p99":    {latency: []tool.PrintedLatency{{Quantiles: []tool.PrintedQuantile{quantile(0.99, 50)}}}, noMean: true, p99: 50, noMax: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := Sample{Latency: tc.latency}
			for what, one := range map[string]struct {
				got  *printed.Quantity
				want float64
				none bool
			}{"mean": {s.Mean(), tc.mean, tc.noMean}, "p99": {s.P99(), tc.p99, tc.noP99}, "maximum": {s.Most(), tc.most, tc.noMax}} {
				if (one.got == nil) != one.none || one.got != nil && one.got.Value != one.want {
					t.Errorf("%s is %v, want %v, known %v", what, one.got, one.want, !one.none)
				}
			}
		})
	}
}

func TestFailuresAddUpWhateverTheirKind(t *testing.T) {
	f := Failures{Errors: record.Errors{Connect: 1, Read: 2, Write: 4, Timeout: 8, Status: 16, Body: 32}, Unsorted: 64}
	if got := f.Sum(); got != 127 {
		t.Errorf("%+v add up to %d, want 127", f, got)
	}
}

func TestAClaimIsANumberThatBelongsToItsWord(t *testing.T) {
	for name, tc := range map[string]struct {
		what, text string
		want       float64
		ok         bool
	}{
		"a flag":                    {connections, "wrk -c 100 -t4", 100, true},
		"a flag of threads":         {threads, "wrk -c 100 -t4", 4, true},
		"a word after the number":   {connections, "with 64 connections", 64, true},
		"a word before the number":  {connections, "connections: 64", 64, true},
		"the same number twice":     {connections, "c=64, 64 connections", 64, true},
		"two different numbers":     {connections, "64 connections, then c128", 0, false},
		"a word that goes on":       {connections, "the c10k problem", 0, false},
		"a number within a word":    {connections, "sync100", 0, false},
		"a fraction":                {connections, "1.5 connections", 0, false},
		"another tongue":            {connections, "100个连接", 100, true},
		"threads in another tongue": {threads, "4线程", 4, true},
		"a duration":                {seconds, "wrk -d 30s http://a", 30, true},
		"a duration in minutes":     {seconds, "wrk -d 1m http://a", 0, false},
		"nothing":                   {connections, "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := claim(tc.what, tc.text, "where")
			if ok != tc.ok || got.Value != tc.want || ok && (got.What != tc.what || got.Where != "where") {
				t.Errorf("claim(%q) = %+v, %v; want %v, %v", tc.text, got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestWhatAToolTellsIsWhatItsClaimsAreHeldAgainst(t *testing.T) {
	s := Sample{Connections: 10, Threads: 2, AskedSeconds: 30}
	for what, want := range map[string]float64{connections: 10, threads: 2, seconds: 30} {
		if got := s.Told(what); got != want {
			t.Errorf("it tells %v %s, want %v", got, what, want)
		}
		if got := (Sample{}).Told(what); got != 0 {
			t.Errorf("a sample that does not say tells %v %s", got, what)
		}
	}
}
