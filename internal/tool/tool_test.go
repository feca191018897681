package tool_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

func TestBracketedHoldsEverySampleAtBothEnds(t *testing.T) {
	tests := map[string]struct {
		brackets        []tool.Bracket
		wantSamples     int64
		wantLow, wantHi int64
		wantError       bool
	}{
		"none":                           {},
		"one bracket":                    {brackets: []tool.Bracket{{LowMicros: 10, HighMicros: 100, Count: 3}}, wantSamples: 3, wantLow: 10, wantHi: 100},
		"two brackets that touch":        {brackets: []tool.Bracket{{LowMicros: 10, HighMicros: 20, Count: 1}, {LowMicros: 20, HighMicros: 50, Count: 2}}, wantSamples: 3, wantLow: 10, wantHi: 50},
		"a bracket without width":        {brackets: []tool.Bracket{{LowMicros: 7, HighMicros: 7, Count: 4}}, wantSamples: 4, wantLow: 7, wantHi: 7},
		"a bracket that is upside down":  {brackets: []tool.Bracket{{LowMicros: 8, HighMicros: 7, Count: 4}}, wantError: true},
		"a low end beyond the range":     {brackets: []tool.Bracket{{LowMicros: 8_000_000_000, HighMicros: 9_000_000_000, Count: 1}}, wantError: true},
		"a high end beyond the range":    {brackets: []tool.Bracket{{LowMicros: 1, HighMicros: 9_000_000_000, Count: 1}}, wantError: true},
		"fewer than no samples":          {brackets: []tool.Bracket{{LowMicros: 1, HighMicros: 2, Count: -1}}, wantError: true},
		"a low end of 0 counts as 1 µs":  {brackets: []tool.Bracket{{LowMicros: 0, HighMicros: 2, Count: 1}}, wantSamples: 1, wantLow: 1, wantHi: 2},
		"a second one that is unordered": {brackets: []tool.Bracket{{LowMicros: 1, HighMicros: 2, Count: 1}, {LowMicros: 2, HighMicros: 1, Count: 1}}, wantError: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tool.Bracketed(record.Corrected, tc.brackets)
			if (err != nil) != tc.wantError {
				t.Fatalf("Bracketed() error = %v, want an error: %v", err, tc.wantError)
			}
			if err != nil {
				return
			}
			low, high := decoded(t, got.HDR), decoded(t, got.HDRHigh)
			if got.Kind != record.Corrected || got.Samples != tc.wantSamples || low.Samples() != tc.wantSamples || high.Samples() != tc.wantSamples {
				t.Errorf("kind %s, %d samples, %d low, %d high; want %d", got.Kind, got.Samples, low.Samples(), high.Samples(), tc.wantSamples)
			}
			if tc.wantSamples == 0 {
				return
			}
			if low.Min() != histogram.BinOf(tc.wantLow).Low || high.Max() != histogram.BinOf(tc.wantHi).High {
				t.Errorf("samples lie from %d to %d, want %d to %d", low.Min(), high.Max(), tc.wantLow, tc.wantHi)
			}
		})
	}
}

func decoded(t *testing.T, text string) *histogram.Histogram {
	t.Helper()
	h, err := histogram.Decode(text)
	if err != nil {
		t.Fatalf("decoding what was encoded: %v", err)
	}
	return h
}

func TestTheScriptOfACellLiesInTheFolderOfItsLoad(t *testing.T) {
	for name, tc := range map[string]struct {
		dir  string
		cell record.Cell
		want string
	}{
		"a script":                 {"/scripts", record.Cell{Load: "login", Script: &record.Script{ConfigMap: "users", Key: "a.lua"}}, "/scripts/login/a.lua"},
		"no script":                {"/scripts", record.Cell{Load: "login"}, ""},
		"a folder of its own":      {"", record.Cell{Load: "login", Script: &record.Script{Key: "a.js"}}, "login/a.js"},
		"the ConfigMap is no part": {"/s", record.Cell{Load: "l", Script: &record.Script{ConfigMap: "other", Key: "k"}}, "/s/l/k"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tool.ScriptPath(tc.dir, tc.cell); got != tc.want {
				t.Errorf("it lies at %q, want %q", got, tc.want)
			}
		})
	}
}

// Parsers split raw output at these lines.
func TestAnOutputHeaderIsALineOfItsOwn(t *testing.T) {
	a, b := tool.OutputHeader("a.csv"), tool.OutputHeader("b.csv")
	if a == b || !strings.Contains(a, "a.csv") {
		t.Errorf("the headers are %q and %q", a, b)
	}
	if a[0] != '\n' || a[len(a)-1] != '\n' || strings.Count(a, "\n") != 2 {
		t.Errorf("%q is not one line between two line ends", a)
	}
}
