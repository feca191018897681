package util

import (
	"testing"
)

func TestMessagesAreClippedToValidText(t *testing.T) {
	for in, want := range map[string]string{
		"short": "short", "exactly ten": "exactly...", "ééééé": "ééééé", "éééééé": "ééé...", "a\xffb": "a?b", "": "",
	} {
		if got := Clip(in, 10); got != want {
			t.Errorf("Clip(%q) is %q, want %q", in, got, want)
		}
	}
}
