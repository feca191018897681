package lint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// recorded is where raw outputs lie.
var recorded = filepath.Join("testdata")

func readText(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recorded, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parseText(t *testing.T, name string, text []byte) []lint.Sample {
	t.Helper()
	samples, refused := lint.Parse(name, bytes.NewReader(text))
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	return samples
}

// good is a flawless sample of ab: 10 connections, 1,000 requests a second of 10 ms.
func good() lint.Sample {
	least, mean, most := printed.Quantity{Value: 5_000}, printed.Quantity{Value: 9_900}, printed.Quantity{Value: 40_000}
	return lint.Sample{
		File: "good.txt", Line: 1, Tool: lint.AB, URL: "http://10.0.0.1:8080/", Threads: 1, Connections: 10,
		Seconds: printed.Quantity{Value: 10}, Requests: 10_000, Throughput: printed.Quantity{Value: 1000, Rounding: 0.5}, Recomputed: 1000,
		Bytes: &printed.Quantity{Value: 1_130_000},
		Latency: []tool.PrintedLatency{{
			Kind: record.Observed, Min: &least, Mean: &mean, Max: &most,
			Quantiles: []tool.PrintedQuantile{{Q: 0.5, Micros: printed.Quantity{Value: 9_800}}, {Q: 0.99, Micros: printed.Quantity{Value: 20_000}}},
		}},
	}
}

func with(change func(s *lint.Sample)) lint.Sample {
	s := good()
	change(&s)
	return s
}

// at is good with other connections, throughput and mean latency in milliseconds.
func at(connections int64, throughput, millis float64) lint.Sample {
	return with(func(s *lint.Sample) {
		s.Connections, s.Requests = connections, int64(throughput*10)
		s.Throughput, s.Recomputed = printed.Quantity{Value: throughput, Rounding: 0.1}, throughput
		*s.Latency[0].Mean = printed.Quantity{Value: millis * 1e3}
		s.Latency[0].Max.Value, s.Latency[0].Min.Value, s.Latency[0].Quantiles = millis*1e4, 1, nil
		s.Bytes.Value = float64(s.Requests) * 113
	})
}

// weightOf is the weight of the first finding of a code; empty if there is none.
func weightOf(findings []lint.Finding, code validity.Code) validity.Validity {
	at := slices.IndexFunc(findings, func(f lint.Finding) bool { return f.Code == code })
	if at < 0 {
		return ""
	}
	return findings[at].Weight
}

func lines(findings []lint.Finding) map[validity.Code][]int {
	out := map[validity.Code][]int{}
	for _, f := range findings {
		out[f.Code] = append(out[f.Code], f.Samples...)
	}
	return out
}

func wantFindings(t *testing.T, want map[validity.Code][]int, got []lint.Finding) {
	t.Helper()
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Errorf("findings and their samples (-want +got):\n%s", diff)
	}
}
