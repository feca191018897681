package cases

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"loadstone.dev/loadstone/internal/record"
)

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

// shortened keeps a name that is too long by its beginning and a digest, so that it stays unique and can be renamed.
func shortened(name string) string {
	if len(name) <= maxName {
		return name
	}
	digest := sha256.Sum256([]byte(name))
	return clip(name, maxName-len("…-")-8) + "-" + hex.EncodeToString(digest[:4])
}

// axes returns the parameters in a case's name: the parts after the first slash with name and value.
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

var nanoseconds = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}

// errTimeUnit ends a sentence on an invalid time unit.
var errTimeUnit = errors.New("no unit of time: print ns, us, ms or s")

// words makes a text fit for one line: no control characters, and cut.
func words(text string) string { return clip(oneLine(text), maxWords) }

func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// Renamed returns a case's name for a printed one, and the index of the matching entry; -1 if none matches.
func Renamed(names []record.CaseName, printed string) (name string, which int) {
	for i, n := range names {
		if text, ok := matched(n.Printed, printed); ok {
			return strings.Replace(n.Name, "*", text, 1), i
		}
	}
	return printed, -1
}

func matched(pattern, name string) (text string, ok bool) {
	before, after, any := strings.Cut(pattern, "*")
	if !any {
		return "", pattern == name
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return name[len(before) : len(name)-len(after)], true
}

// Matches reports whether a pattern with at most one * matches a name. An empty pattern matches all.
func Matches(pattern, name string) bool {
	_, ok := matched(pattern, name)
	return ok || pattern == ""
}

// Rename applies the run's names to a process's cases and axes. If two cases get the same name, the second is dropped and the first fails,
// since the name is ambiguous.
func Rename(all []record.Case, names []record.CaseName) []record.Case {
	if len(names) == 0 {
		return all
	}
	var out []record.Case
	at := map[string]int{}
	for _, c := range all {
		name, which := Renamed(names, c.Name)
		if first, ok := at[name]; ok {
			same := &out[first]
			same.Values, same.Iterations = nil, 0
			same.Others = append(same.Others, c.Name)
			same.Failure = fmt.Sprintf("%q and %q are both taken for it: give each a name of its own in spec.microbenchmark.outputs[].cases", printedAs(*same), c.Name)
			continue
		}
		if which >= 0 {
			c.Printed, c.Name, c.Axes = c.Name, name, axes(name)
		}
		at[name] = len(out)
		out = append(out, c)
	}
	return out
}

func printedAs(c record.Case) string {
	if c.Printed != "" {
		return c.Printed
	}
	return c.Name
}
