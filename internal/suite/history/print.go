package history

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
)

// longest is how many of the newest values a course shows.
const longest = 60

// Print writes one line per series, with its course and change points.
func (h History) Print(out io.Writer) error {
	if len(h.Series) == 0 {
		fmt.Fprintf(out, "suite %s has no values yet\n", h.Suite)
		return h.notes(out)
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tMEASURED\tLOAD\tMETRIC\tROUNDS\tNEWEST\tCOURSE\tCHANGE POINTS")
	for _, s := range h.Series {
		newest := s.Text(s.Values[len(s.Values)-1].Value)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", s.Run, s.Measured(), s.Load, phrase.English.Metric(s.Metric), len(s.Values), newest, s.course(), s.changes())
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the history: %w", err)
	}
	return h.notes(out)
}

// Text returns a value with its unit.
func (s Series) Text(v float64) string {
	if s.Unit == "ratio" {
		return format.Times(v)
	}
	return format.Digits(v) + " " + s.Unit
}

// Measured returns the implementation, or the two of a ratio.
func (s Series) Measured() string {
	if s.Baseline == "" {
		return s.Implementation
	}
	return s.Implementation + " / " + s.Baseline
}

// Say describes a change point.
func (s Series) Say(c Change) string {
	way := "better"
	if c.Worse {
		way = "worse"
	}
	return fmt.Sprintf("round %d: %s, %s, from %s (%d rounds) to %s (%d rounds), found in round %d", c.Round, format.Change(c.Ratio), way, s.Text(c.Before), c.BeforeN, s.Text(c.After), c.AfterN, c.Found)
}

func (s Series) changes() string {
	var all []string
	for i := len(s.Points) - 1; i >= 0; i-- {
		all = append(all, s.Say(s.Points[i]))
	}
	if text := s.Young(); text != "" {
		all = append(all, text)
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, "; ")
}

// course draws the newest values as blocks between the least and the largest, with | before a change point and :
// before a break.
func (s Series) course() string {
	first := max(0, len(s.Values)-longest)
	low, high := s.Values[first].Value, s.Values[first].Value
	for _, v := range s.Values[first:] {
		low, high = min(low, v.Value), max(high, v.Value)
	}
	marks := map[int]string{}
	for _, c := range s.Points {
		marks[c.At] = "|"
	}
	for _, b := range s.Breaks {
		marks[b.at] = ":"
	}
	blocks := []rune("▁▂▃▄▅▆▇█")
	var text strings.Builder
	for i, v := range s.Values[first:] {
		height := len(blocks) / 2
		if high > low {
			height = int((v.Value - low) / (high - low) * float64(len(blocks)-1))
		}
		text.WriteString(marks[first+i] + string(blocks[height]))
	}
	return text.String()
}

func (h History) notes(out io.Writer) error {
	var text strings.Builder
	told := map[string]bool{}
	for _, s := range h.Series {
		for _, b := range s.Breaks {
			line := fmt.Sprintf("%s, round %d: not compared with the rounds before: %s\n", s.Run, b.Round, b.Why)
			if !told[line] {
				text.WriteString(line)
			}
			told[line] = true
		}
	}
	for _, g := range h.Gaps {
		fmt.Fprintf(&text, "%s, round %d: left out: %s\n", g.Run, g.Round, g.Reason)
	}
	if worth := h.Worth(); worth != "" {
		text.WriteString(worth + "\n")
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("printing the history: %w", err)
	}
	return nil
}
