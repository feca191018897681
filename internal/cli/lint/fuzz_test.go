package lint_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func FuzzWrk(f *testing.F)    { fuzz(f, "wrk-*.txt") }
func FuzzAB(f *testing.F)     { fuzz(f, "ab-*.txt") }
func FuzzK6(f *testing.F)     { fuzz(f, "k6-*.txt") }
func FuzzK6JSON(f *testing.F) { fuzz(f, "k6-*.json", "brought/k6-machine.json") }

func FuzzK6Points(f *testing.F) { fuzz(f, "brought/k6-points.*") }
func FuzzVegeta(f *testing.F) {
	fuzz(f, "brought/vegeta*", "../../../tool/vegeta/testdata/refused.bin")
}
func FuzzHeyAndOha(f *testing.F)  { fuzz(f, "brought/hey.txt", "brought/oha.*") }
func FuzzBombardier(f *testing.F) { fuzz(f, "brought/bombardier.*") }
func FuzzAutocannon(f *testing.F) { fuzz(f, "brought/autocannon.*") }
func FuzzH2load(f *testing.F)     { fuzz(f, "brought/h2load.txt") }
func FuzzFortio(f *testing.F)     { fuzz(f, "brought/fortio.json") }
func FuzzJMeter(f *testing.F)     { fuzz(f, "brought/jmeter*") }
func FuzzLocust(f *testing.F)     { fuzz(f, "brought/locust_stats.csv") }
func FuzzWrk2(f *testing.F)       { fuzz(f, "brought/wrk2.txt") }

// fuzz feeds changed files to everything from parsing to printing: nothing may panic, and no number may be negative or infinite.
func fuzz(f *testing.F, patterns ...string) {
	f.Helper()
	corpus := mutated.Of[[]byte](f)
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(recorded, pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("no seeds %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			corpus.Add(text)
			corpus.Add(text[:len(text)/2])
		}
	}
	corpus.Fuzz(func(t testing.TB, text []byte) {
		samples, refused := lint.Parse("fuzz-c10.txt", bytes.NewReader(text))
		if len(samples)+len(refused) == 0 {
			t.Fatal("neither a sample nor a refusal")
		}
		for _, s := range samples {
			checkNumbers(t, s)
		}
		r := lint.Analyse(samples, refused)
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("marshalling: %v", err)
		}
		if out := lint.Text(r); strings.Contains(out, "\x1b") {
			t.Errorf("an escape sequence reached the terminal: %q", out)
		}
	})
}

func checkNumbers(t testing.TB, s lint.Sample) {
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
