package format

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Apart spells a code of several words: NotPinned becomes "not pinned".
func Apart(code string) string {
	var out strings.Builder
	for i, r := range code {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// Capital begins a caption; a name such as p99 stays as it is.
func Capital(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsDigit(second) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// ASCII spells what formats print for a place that takes ASCII alone. Of other people's text, what has no spelling becomes a question mark.
func ASCII(s string) string {
	spelt := strings.NewReplacer("µ", "u", "×", "x", "−", "-", "–", "-", "≥", ">=", "≤", "<=", "±", "+/-", "…", "...", "→", "->").Replace(s)
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, spelt)
}

// Join puts words in a row, leaving out empty ones.
func Join(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), separator)
}
