package util

import (
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Printable replaces characters that control a terminal or reorder a line, such as escape sequences, by what Go source writes for them. Texts of other
// programs and of users pass through it before a terminal shows them. Line feeds and tabs stay.
func Printable(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, controls) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if controls(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func controls(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// PrintableWriter returns a writer that changes each text like Printable. A write must end with a whole character.
func PrintableWriter(out io.Writer) io.Writer { return printableWriter{out} }

type printableWriter struct{ out io.Writer }

// Write returns len(p) on success, although it may write more or fewer bytes.
func (w printableWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.out, Printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
