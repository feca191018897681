package main

import (
	"strings"
	"testing"
	"time"
)

func TestAFigureIsALineWithItsVerdict(t *testing.T) {
	tests := map[string]struct {
		figure figure
		want   string
	}{
		"at its upper limit a figure has met its aim": {figure{"a", 4, "s", atMost(4), "n=5"}, "a|4|s|<=4|met|n=5"},
		"above it, it falls short":                    {figure{"a", 4.2, "s", atMost(4), ""}, "a|4.2|s|<=4|short|"},
		"at its lower limit a figure has met its aim": {figure{"b", 0.98, "ratio", atLeast(0.98), ""}, "b|0.98|ratio|>=0.98|met|"},
		"what is judged is not what is rounded":       {figure{"b", 0.979999, "ratio", atLeast(0.98), ""}, "b|0.98|ratio|>=0.98|short|"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.ReplaceAll(tc.figure.line(), "\t", "|"); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	tests := map[string]struct {
		values []time.Duration
		want   time.Duration
	}{
		"of nothing it is nothing":                  {nil, 0},
		"of an odd number it is the middle":         {[]time.Duration{9, 1, 4}, 4},
		"of an even number it is the middle's mean": {[]time.Duration{9, 1, 4, 6}, 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := median(tc.values); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
