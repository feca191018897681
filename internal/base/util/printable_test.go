package util

import (
	"fmt"
	"strings"
	"testing"
)

func TestTerminalControlsAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, 51.8\u00a0%, µs, 日本\n\tindented": "plain text, 51.8\u00a0%, µs, 日本\n\tindented",
		"\x1b]0;title\a\x1b[2Jverdict":                `\x1b]0;title\a\x1b[2Jverdict`,
		"one\rtwo\x00\u009b31m":                       `one\rtwo\x00\u009b31m`,
		"a\u202eb\u2028c":                             `a\u202eb\u2028c`,
		"bro\xffken":                                  "bro\uFFFDken",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
		var b strings.Builder
		if n, err := fmt.Fprint(PrintableWriter(&b), text); err != nil || n != len(text) || b.String() != want {
			t.Errorf("%q is written as %q, %d bytes, %v", text, &b, n, err)
		}
	}
}
