package cases

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"loadstone.dev/loadstone/internal/record"
)

// checkName refuses names that no table can show.
func checkName(of, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("a %s has no name: print one", of)
	case len(name) > maxName:
		return fmt.Errorf("the name of a %s is %d bytes long and begins with %q: use at most %d", of, len(name), name[:20], maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of %s %q is no UTF-8: print it so", of, name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the name of %s %q holds %U: use printable characters", of, name, r)
		}
	}
	return nil
}

// axes are the parameters in a case's name: the parts after the first slash that have a name and a value.
func axes(name string) []record.Axis {
	var all []record.Axis
	for _, part := range strings.Split(name, "/")[1:] {
		i := strings.IndexAny(part, ":=")
		if i > 0 && i+1 < len(part) {
			all = append(all, record.Axis{Name: part[:i], Value: part[i+1:]})
		}
	}
	return all
}

// nanoseconds are the units of time.
var nanoseconds = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}

// errTimeUnit is the end of a sentence on a unit that a time cannot have.
var errTimeUnit = errors.New("no unit of time: print ns, us, ms or s")

// words makes a text fit to be shown on a line: without control characters, and cut.
func words(text string) string { return clip(oneLine(text), maxWords) }

// oneLine is a text without control characters, whose words are one space apart.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// clip cuts a text that is longer than some bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
