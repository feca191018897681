package util

import (
	"testing"
)

func TestMessagesAreClippedToValidText(t *testing.T) {
	for in, want := range map[string]string{
		"short": "short", "exactly ten": "exactly...", "ééééé": "ééééé", "éééééé": "ééé...", "a\xffb": "a?b", "": "",
		"\x1b[2J": `\x1b[2J`, "a\x9bb": "a?b", "\x1b\x1b\x1b": `\x1b\x1...`, "a\nb": "a\nb",
	} {
		if got := Clip(in, 10); got != want {
			t.Errorf("Clip(%q) is %q, want %q", in, got, want)
		}
	}
}
