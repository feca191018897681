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
	// Line counts from 1; 0 if no line applies.
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// String is the line and its message.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Message
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Message)
}

// Invalid has every problem of a file, in the order of lines.
type Invalid struct {
	// Path is the file; empty for other texts.
	Path     string
	Problems []Problem
}

// Error has all problems in one line.
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

// Lines has one line per problem, in the form of compilers: FILE:LINE: MESSAGE.
func (e *Invalid) Lines() string {
	var b strings.Builder
	for _, p := range e.Problems {
		place := e.Path
		if p.Line > 0 {
			place += fmt.Sprintf(":%d", p.Line)
		}
		fmt.Fprintf(&b, "%s: %s\n", place, p.Message)
	}
	return util.Printable(strings.TrimSuffix(b.String(), "\n"))
}

// mostProblems bounds the listed problems: users correct these first.
const mostProblems = 20

func first[T any](all []T) []T { return all[:min(len(all), mostProblems+1)] }

// invalid returns the error of distinct problems in the order of lines; nil if none.
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

// Parts of a file that an earlier problem leaves unchecked.
const (
	notAll    = "some rules were not checked: correct these problems first"
	notFields = "the fields were not checked: correct this first"
)

// partly adds a sentence to an error: the problems prevented these checks. It returns nil without an error.
func partly(err error, unchecked string) error {
	if e := (*Invalid)(nil); errors.As(err, &e) {
		e.Problems = append(e.Problems, Problem{Message: unchecked})
	}
	return err
}

func whole(format string, args ...any) error {
	return &Invalid{Problems: []Problem{{Message: fmt.Sprintf(format, args...)}}}
}

// farthest is the most letters that a misspelled name may differ by.
const farthest = 2

func unknownField(structural *schema.Structural, path string) string {
	if holder, unnamed := strings.CutSuffix("."+path, "."); unnamed {
		return about(strings.TrimPrefix(holder, "."), "a field has no name: give it one, or remove it")
	}
	return fmt.Sprintf("%s: unknown field: %s", path, instead(structural, path))
}

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

// Nearest returns the nearest known name; empty if all differ by more than two letters.
func Nearest(name string, known []string) string {
	best, nearest := "", farthest+1
	for _, k := range known {
		if d := distance(name, k); d < nearest || d == nearest && k < best {
			best, nearest = k, d
		}
	}
	return best
}

// distance counts the letters to change, insert or leave out.
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
