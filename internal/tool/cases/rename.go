package cases

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// Renamed is the name of a case in the place of a printed one, and which of some names gives it; -1 if none does.
func Renamed(names []record.CaseName, printed string) (name string, which int) {
	for i, n := range names {
		if text, ok := matched(n.Printed, printed); ok {
			return strings.Replace(n.Name, "*", text, 1), i
		}
	}
	return printed, -1
}

// matched is the text that the * of a pattern stands for in a name.
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

// Matches reports whether a name is one that a pattern names, in which one * stands for any text. An empty pattern names all.
func Matches(pattern, name string) bool {
	_, ok := matched(pattern, name)
	return ok || pattern == ""
}

// Rename gives the cases of a process the names that its run has for them, and their axes with them. Of two cases that would have one name the
// second is left out and costs the first, since nobody knows which was meant.
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

// printedAs is the name that the program printed.
func printedAs(c record.Case) string {
	if c.Printed != "" {
		return c.Printed
	}
	return c.Name
}
