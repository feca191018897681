package lint_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// planted says for each file of testdata/planted which finding must name its fault.
var planted = map[string]struct {
	code   validity.Code
	weight validity.Validity
}{
	"wrk-stall.txt":         {lint.Stalled, validity.Suspect},
	"wrk-stall-threads.txt": {lint.Stalled, validity.Suspect},
	"wrk-stall-once.txt":    {lint.Stalled, validity.Suspect},
	"wrk-hang.txt":          {lint.Stalled, validity.Suspect},
	"wrk-hang-threads.txt":  {lint.Stalled, validity.Suspect},
	"wrk-exit.txt":          {lint.FailedRequests, validity.Void},
	"wrk-errors.txt":        {validity.WrongStatus, validity.Void},
	"ab-stall.txt":          {lint.Stalled, validity.Suspect},
	"ab-stall-once.txt":     {lint.Stalled, validity.Suspect},
	"ab-stall-long.txt":     {lint.Stalled, validity.Suspect},
	// Connections that hang one after the other leave more than half of the time explained, which a slow generator does too.
	"ab-hang.txt":           {lint.UnaccountedTime, lint.Note},
	"ab-unanswered.txt":     {validity.Unanswered, validity.Suspect},
	"ab-unanswered-few.txt": {validity.Unanswered, validity.Suspect},
	"ab-length.txt":         {lint.WrongLength, validity.Void},
	"ab-close.txt":          {lint.NotKeptAlive, validity.Suspect},
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(recorded, dir))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestEachPlantedFaultIsNamed(t *testing.T) {
	files := names(t, "planted")
	if len(files) != len(planted) {
		t.Errorf("%d files, and %d are in the table", len(files), len(planted))
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			want := planted[name]
			r := lint.Analyse(parseText(t, name, readText(t, filepath.Join("planted", name))), nil)
			if got := weightOf(r.Findings, want.code); got != want.weight || want.weight == "" {
				t.Errorf("%s weighs %q, want %q; findings %+v", want.code, got, want.weight, r.Findings)
			}
		})
	}
}

// TestNoGoodServerIsAccused allows findings on the tools: ab's coarse latencies, and wrk's invented ones. Every throughput stands.
func TestNoGoodServerIsAccused(t *testing.T) {
	ofTools := []validity.Code{lint.CoarseLatency, lint.Inflated, lint.UnaccountedTime}
	files := names(t, "good")
	if len(files) < 10 {
		t.Fatalf("only %d good files", len(files))
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			for _, f := range lint.Judge(parseText(t, name, readText(t, filepath.Join("good", name)))) {
				if !slices.Contains(ofTools, f.Code) || f.Scope == lint.ScopeSample && f.Weight != lint.Note {
					t.Errorf("%s (%s): %s", f.Code, f.Weight, f.Sentence)
				}
			}
		})
	}
}

// sampled is a run of wrk of 1,000 requests a second on 10 connections, whose two threads say how many they got while answers came.
func sampled(each float64) func(s *lint.Sample) {
	return func(s *lint.Sample) {
		s.Tool, s.Latency[0].Kind, s.Threads, s.Throughput.Rounding = lint.Wrk, record.Corrected, 2, 0
		s.ThreadRate = &printed.Quantity{Value: each}
	}
}

// tailed is a run of ab whose largest latency and standard deviation are given in milliseconds; its p99 is 1 ms.
func tailed(most, sd float64) func(s *lint.Sample) {
	return func(s *lint.Sample) {
		l := &s.Latency[0]
		l.Min.Value, l.Mean.Value, l.Max.Value, l.SD = 0, 9_900, most*1e3, &printed.Quantity{Value: sd * 1e3}
		l.Quantiles = []tool.PrintedQuantile{{Q: 0.99, Micros: printed.Quantity{Value: 1_000}}}
	}
}

func TestAStallIsJudgedOnBothSidesOfEachLimit(t *testing.T) {
	both := func(changes ...func(s *lint.Sample)) func(s *lint.Sample) {
		return func(s *lint.Sample) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	connections := func(n int64) func(s *lint.Sample) { return func(s *lint.Sample) { s.Connections = n } }
	tests := map[string]struct {
		change func(s *lint.Sample)
		want   validity.Validity
		scope  validity.Scope
	}{
		"wrk's threads got a tenth more while answers came":  {sampled(550), "", ""},
		"wrk's threads got more than that":                   {sampled(551), validity.Suspect, lint.ScopeSample},
		"wrk's threads may have got less, as printed":        {both(sampled(551), func(s *lint.Sample) { s.ThreadRate.Rounding = 5 }), "", ""},
		"turns of 50 ms leave no sample empty":               {both(sampled(600), connections(60)), validity.Suspect, lint.ScopeSample},
		"longer turns can all end in one sample":             {both(sampled(600), connections(61)), "", ""},
		"ten answers a sample are not all missing by chance": {both(sampled(100), func(s *lint.Sample) { s.Throughput.Value = 100 }), validity.Suspect, lint.ScopeSample},
		"fewer can be":                                                {both(sampled(99), func(s *lint.Sample) { s.Throughput.Value = 100 }), "", ""},
		"wrk2's samples are others":                                   {both(sampled(800), func(s *lint.Sample) { s.Tool = lint.Wrk2 }), "", ""},
		"ab's largest latency is 100 ms, 100 times p99":               {tailed(100, 0), "", ""},
		"ab's largest latency is more than 100 times p99":             {tailed(100.1, 0), validity.Suspect, validity.ScopeLatency},
		"ab's slowest hundredth has more than a tenth of all waiting": {both(tailed(101, 9.6), func(s *lint.Sample) { s.Latency[0].Quantiles[0].Micros.Value = 10_000 }), validity.Suspect, lint.ScopeSample},
		"ab's slowest hundredth has less":                             {both(tailed(101, 9.5), func(s *lint.Sample) { s.Latency[0].Quantiles[0].Micros.Value = 10_000 }), "", ""},
		"ab's largest latency is below 100 ms, as a scheduler is":     {tailed(99, 30), "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := lint.Judge([]lint.Sample{with(tc.change)})
			if got := weightOf(findings, lint.Stalled); got != tc.want {
				t.Fatalf("Stalled weighs %q, want %q; findings %+v", got, tc.want, findings)
			}
			for _, f := range findings {
				if f.Code == lint.Stalled && f.Scope != tc.scope {
					t.Errorf("scope %s, want %s: %s", f.Scope, tc.scope, f.Sentence)
				}
			}
		})
	}
}

func TestAStallIsNotBlamedOnWrk(t *testing.T) {
	findings := lint.Analyse(parseText(t, "a.txt", readText(t, "planted/wrk-stall.txt")), nil).Findings
	if got := weightOf(findings, lint.Inflated); got != "" {
		t.Errorf("wrk's correction is blamed beside the stall: %+v", findings)
	}
}

// TestARateIsReadWithItsUnitAndRounding takes the numbers by eye from the files.
func TestARateIsReadWithItsUnitAndRounding(t *testing.T) {
	tests := map[string]printed.Quantity{
		"wrk-steady.txt":            {Value: 3_080, Rounding: 5},
		"wrk-hang.txt":              {Value: 425.12, Rounding: 0.005},
		"planted/wrk-stall.txt":     {Value: 24_190, Rounding: 5},
		"good/wrk-epoll-t2-c64.txt": {Value: 55_020, Rounding: 5},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got := parseText(t, name, readText(t, name))[0].ThreadRate
			if got == nil || math.Abs(got.Value-want.Value) > 1e-6 || math.Abs(got.Rounding-want.Rounding) > 1e-6 {
				t.Errorf("rate %+v, want %+v", got, want)
			}
		})
	}
}
