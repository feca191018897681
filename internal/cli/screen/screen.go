// Package screen prints a run's progress: permanent lines and, on a terminal, a live view below them. The view depends on events alone; nothing here
// reads a clock.
package screen

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/run/progress"
)

// anyWidth is for a terminal of unknown width.
const anyWidth = 80

// Screen prints what happens in a run, for people.
type Screen struct {
	out   io.Writer
	width func() int
	board board
	// drawn is the number of lines of the live view.
	drawn int
}

// New makes a screen, live on a terminal.
func New(out io.Writer) *Screen {
	s := &Screen{out: out}
	if f, ok := out.(*os.File); ok && IsTerminal(f) {
		s.width = func() int { return widthOf(f) }
	}
	return s
}

// Live reports whether there is a live view.
func (s *Screen) Live() bool { return s.width != nil }

// Tell shows an event.
func (s *Screen) Tell(e progress.Event) {
	s.board.take(e)
	line := util.Printable(lineOf(e))
	if !s.Live() {
		if line != "" {
			fmt.Fprintln(s.out, line)
		}
		return
	}
	text := s.erase()
	if line != "" {
		text += line + "\n"
	}
	fmt.Fprint(s.out, text+s.draw())
}

// End removes the live view and leaves the cursor at the beginning of a line.
func (s *Screen) End() {
	if s.Live() {
		fmt.Fprint(s.out, s.erase())
	}
}

func (s *Screen) erase() string {
	if s.drawn == 0 {
		return ""
	}
	up := ""
	if s.drawn > 1 {
		up = fmt.Sprintf("\x1b[%dA", s.drawn-1)
	}
	s.drawn = 0
	return "\r" + up + "\x1b[J"
}

// draw draws the live view. Lines are shorter than the terminal, since wrapped ones cannot be erased.
func (s *Screen) draw() string {
	lines := s.board.lines()
	for i, line := range lines {
		runes := []rune(util.Printable(line))
		lines[i] = string(runes[:min(len(runes), max(s.width()-1, 0))])
	}
	s.drawn = len(lines)
	return strings.Join(lines, "\n")
}

// IsTerminal reports whether a stream is a terminal with a movable cursor.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 {
		return anyWidth
	}
	return width
}

// Because says a reason in words, with its detail.
func Because(reason, detail string) string {
	text := phrase.English.Say("why." + reason)
	if detail != "" {
		text += ": " + detail
	}
	return text
}

// Changes prints a table of changes.
func Changes(out io.Writer, r compare.Result) error {
	w := tabwriter.NewWriter(util.PrintableWriter(out), 0, 8, 2, ' ', 0)
	place := "LEVEL"
	if slices.ContainsFunc(r.Changes, func(c compare.Change) bool { return c.Case != "" }) {
		place = "CASE"
	}
	fmt.Fprintf(w, "IMPLEMENTATION\t%s\tVALUE\tCHANGE\t%.0f %% INTERVAL\tBLOCKS\tFOUND\n", place, 100*r.Confidence)
	for _, c := range r.Changes {
		change, interval, blocks := "-", "-", "-"
		if c.Value != nil {
			change, blocks = format.Change(*c.Value), fmt.Sprintf("%d and %d", c.EarlierN, c.N)
		}
		if c.Value != nil && c.Low != nil && c.High != nil {
			interval = phrase.English.ChangeInterval(*c.Value, *c.Low, *c.High)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Implementation, c.At(), phrase.English.Metric(c.Of), change, interval, blocks, saying(c))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing changes: %w", err)
	}
	note := fmt.Sprintf("Each value is a ratio to %s. Each interval holds on its own, without correction for multiple comparisons.", r.Anchor)
	if r.WithinRuns {
		note += " The variation between runs is unknown, so no change is shown: name at least three earlier runs to measure it."
	}
	_, err := fmt.Fprintln(out, util.Printable(note))
	return err
}

func saying(c compare.Change) string {
	switch {
	case c.More():
		return "more"
	case c.Less():
		return "less"
	case c.Known && c.ClosedLoop:
		return phrase.English.Say("reason.ClosedLoop")
	case c.Known && c.WithinRuns:
		return "undecided: fewer than three earlier runs"
	case c.Known:
		return "no change shown"
	}
	return "not comparable: " + Because(string(c.Reason), c.Detail)
}
