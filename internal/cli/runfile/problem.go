package runfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"loadstone.dev/loadstone/internal/base/util"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	// Line is where it is, from 1; 0 if it is on no line in particular.
	Line int `json:"line,omitempty"`
	// Message is a sentence that names what is wrong and the way out.
	Message string `json:"message"`
}

// String names the line, and what is wrong there.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Message
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Message)
}

// Invalid is the error of a file that holds no valid BenchmarkRun: everything that is wrong with it, in the order of its lines.
type Invalid struct {
	// Path is the file; empty if the text came from elsewhere.
	Path     string
	Problems []Problem
}

// Error says in one line what is wrong.
func (e *Invalid) Error() string {
	var all []string
	for _, p := range e.Problems {
		all = append(all, p.String())
	}
	text := strings.Join(all, "; ")
	if e.Path != "" {
		return e.Path + ": " + text
	}
	return text
}

// Lines say what is wrong, a line each, as compilers do: FILE:LINE: MESSAGE.
func (e *Invalid) Lines() string {
	var b strings.Builder
	for _, p := range e.Problems {
		place := e.Path
		if p.Line > 0 {
			place += fmt.Sprintf(":%d", p.Line)
		}
		fmt.Fprintf(&b, "%s: %s\n", place, p.Message)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostProblems bounds how many problems of a file are listed: users correct these before they read more.
const mostProblems = 20

// first returns the first items of a list, one more than are listed.
func first[T any](all []T) []T { return all[:min(len(all), mostProblems+1)] }

// invalid returns the error of some problems, each once and in the order of their lines; nil if there is none.
func invalid(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	for i := range problems {
		problems[i].Message = util.Printable(problems[i].Message)
	}
	problems = slices.Compact(problems)
	if len(problems) > mostProblems {
		problems = append(problems[:mostProblems:mostProblems], Problem{Message: "there are more problems: correct these first"})
	}
	return &Invalid{Problems: problems}
}

// What was not checked of a file, since what was checked before is wrong.
const (
	notAll    = "some rules were not checked: correct these problems first"
	notFields = "the fields were not checked: correct this first"
)

// partly ends an error of some problems with the sentence that says what was not checked because of them. Without an error there is none.
func partly(err error, unchecked string) error {
	if e := (*Invalid)(nil); errors.As(err, &e) {
		e.Problems = append(e.Problems, Problem{Message: unchecked})
	}
	return err
}

// whole is the error of a single problem of a whole file.
func whole(format string, args ...any) error {
	return &Invalid{Problems: []Problem{{Message: fmt.Sprintf(format, args...)}}}
}

// farthest is how many letters a name may differ from the one that is meant.
const farthest = 2

// unknownField says of a path that there is no such field, and what may be meant.
func unknownField(structural *schema.Structural, path string) string {
	if holder, unnamed := strings.CutSuffix("."+path, "."); unnamed {
		return about(strings.TrimPrefix(holder, "."), "a field has no name: give it one, or remove it")
	}
	return fmt.Sprintf("%s: unknown field: %s", path, instead(structural, path))
}

// instead is the way out for a field that does not exist.
func instead(structural *schema.Structural, path string) string {
	all := steps(path)
	if len(all) == 0 { // Brackets alone.
		return "remove it"
	}
	parent, name := all[:len(all)-1], all[len(all)-1]
	for _, step := range parent {
		next, ok := structural.Properties[step]
		switch {
		case ok:
			structural = &next
		case structural.Items != nil:
			structural = structural.Items
		}
	}
	best := Nearest(name, slices.Collect(maps.Keys(structural.Properties)))
	if best == "" {
		return "correct its name or position, or remove it"
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// Nearest returns the known name that differs least from a name; empty if all differ by more than two letters.
func Nearest(name string, known []string) string {
	best, nearest := "", farthest+1
	for _, k := range known {
		if d := distance(name, k); d < nearest || d == nearest && k < best {
			best, nearest = k, d
		}
	}
	return best
}

// distance is the number of letters by which two words differ: changed, inserted or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			changed := corner
			if a[i] != b[j] {
				changed++
			}
			corner = row[j+1]
			row[j+1] = slices.Min([]int{changed, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
