package lint_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
)

func FuzzWrk(f *testing.F)    { fuzz(f, "wrk-*.txt") }
func FuzzAB(f *testing.F)     { fuzz(f, "ab-*.txt") }
func FuzzK6(f *testing.F)     { fuzz(f, "k6-*.txt") }
func FuzzK6JSON(f *testing.F) { fuzz(f, "k6-*.json") }

// fuzz feeds changed files to everything from parsing to printing: nothing may panic, and no number may be negative or infinite.
func fuzz(f *testing.F, pattern string) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join(recorded, pattern))
	if err != nil || len(names) == 0 {
		f.Fatalf("no seeds %s: %v", pattern, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		samples, err := lint.Parse("fuzz-c10.txt", text)
		if err != nil {
			return
		}
		if len(samples) == 0 {
			t.Fatal("neither a sample nor an error")
		}
		for _, s := range samples {
			checkNumbers(t, s)
		}
		r := lint.Analyse(samples)
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("marshalling: %v", err)
		}
		if out := lint.Text(r); strings.Contains(out, "\x1b") {
			t.Errorf("an escape sequence reached the terminal: %q", out)
		}
	})
}

func checkNumbers(t *testing.T, s lint.Sample) {
	t.Helper()
	numbers := []float64{
		s.Seconds.Value, s.Throughput.Value, s.Recomputed, s.AskedSeconds, float64(s.Requests), float64(s.Connections), float64(s.Threads),
		float64(s.Errors.Sum()), float64(s.ChecksFailed), float64(s.ChecksPassed),
	}
	if s.ThreadRate != nil {
		numbers = append(numbers, s.ThreadRate.Value, s.ThreadRate.Rounding)
	}
	for _, l := range s.Latency {
		for _, q := range []*printed.Quantity{l.Mean, l.SD, l.Min, l.Max, l.Median} {
			if q != nil {
				numbers = append(numbers, q.Value, q.Rounding)
			}
		}
		for _, q := range l.Quantiles {
			numbers = append(numbers, q.Q, 1-q.Q, q.Micros.Value)
		}
	}
	for _, n := range numbers {
		if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
			t.Errorf("a number that cannot be in %+v", s)
		}
	}
}
