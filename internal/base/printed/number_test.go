package printed_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/base/printed"
)

func TestCounts(t *testing.T) {
	var a, b int64
	if err := printed.Counts([]string{"12", "0", "more"}, &a, &b); err != nil || a != 12 || b != 0 {
		t.Errorf("Counts() = %v, %d and %d", err, a, b)
	}
	for _, text := range []string{"", "-1", "1.5", "1e3", "12x", "2000000000000000", "99999999999999999999"} {
		if n, err := printed.Count(text); err == nil {
			t.Errorf("Count(%q) = %d, want an error", text, n)
		}
	}
}

func TestShare(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "99.9": 0.9990000000000001, "100": 1} {
		if got, err := printed.Share(text); err != nil || got != want {
			t.Errorf("Share(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"101", "-1", "p", ""} {
		if got, err := printed.Share(text); err == nil {
			t.Errorf("Share(%q) = %v, want an error", text, got)
		}
	}
}

func TestClip(t *testing.T) {
	tests := map[string]struct {
		text string
		n    int
		want string
	}{
		"a short text stays":                  {"abc", 3, "abc"},
		"a long text ends in dots":            {"abcd", 3, "abc..."},
		"a letter that was cut is a question": {"aµ", 2, "a?..."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := printed.Clip(tc.text, tc.n); got != tc.want {
				t.Errorf("Clip() = %q, want %q", got, tc.want)
			}
		})
	}
}
