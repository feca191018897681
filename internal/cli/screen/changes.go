package screen

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
)

// Because says a reason in words, with its detail.
func Because(reason, detail string) string {
	text := phrase.English.Say("why." + reason)
	if detail != "" {
		text += ": " + detail
	}
	return text
}

// Changes prints a table of what has changed.
func Changes(out io.Writer, r compare.Result) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
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
	note := fmt.Sprintf("Each value is related to that of %s, and each interval stands by itself.", r.Anchor)
	if r.WithinRuns {
		note += " The variation between runs is unknown, and most changes from one run to the next are nothing else: name at least three earlier runs before you believe one."
	}
	_, err := fmt.Fprintln(out, note)
	return err
}

// saying is what can be said of a change.
func saying(c compare.Change) string {
	switch {
	case c.More():
		return "more"
	case c.Less():
		return "less"
	case c.Known:
		return "no change shown"
	}
	return "not comparable: " + Because(string(c.Reason), c.Detail)
}
