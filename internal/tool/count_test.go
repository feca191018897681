package tool_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/tool"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "42": 42, "4398046511104": tool.MaxCount} {
		if got, err := tool.Count(text); err != nil || got != want {
			t.Errorf("Count(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.0", "4398046511105", "99999999999999999999"} {
		if got, err := tool.Count(text); err == nil {
			t.Errorf("Count(%q) = %d, want an error", text, got)
		}
	}
}
