package table

import (
	_ "embed"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
)

// Table is a table of text, in bodies.
type Table struct {
	// Caption names it for screen readers.
	Caption string
	// Cards turns rows into cards in narrow windows: for tables to read, not for those to look up.
	Cards  bool
	Head   []Cell
	Bodies []Body
}

// Finish names a table and removes empty columns other than the first.
func (t Table) Finish(caption string, cards bool) Table {
	t.Caption, t.Cards = caption, cards
	for k := len(t.Head) - 1; k > 0; k-- {
		if !slices.ContainsFunc(t.Bodies, func(s Body) bool {
			return slices.ContainsFunc(s.Rows, func(r Row) bool { return !r.Cells[k].empty() })
		}) {
			t = t.without(k)
		}
	}
	if cards {
		for _, s := range t.Bodies {
			for _, r := range s.Rows {
				t.label(r)
			}
		}
	}
	return t
}

// label makes the cells of a row readable without the head.
func (t Table) label(r Row) {
	for k := range r.Cells {
		c := &r.Cells[k]
		switch {
		case k == 0:
		case c.empty():
			c.Tone = "nil"
		default:
			c.Label = format.Join(" ", t.Head[k].Text, t.Head[k].Sub)
		}
	}
}

func (t Table) without(k int) Table {
	t.Head = slices.Delete(slices.Clone(t.Head), k, k+1)
	for i := range t.Bodies {
		for j := range t.Bodies[i].Rows {
			r := &t.Bodies[i].Rows[j]
			r.Cells = slices.Delete(slices.Clone(r.Cells), k, k+1)
		}
	}
	return t
}

// Class returns the table's CSS classes.
func (t Table) Class() string {
	var classes []string
	if t.Cards {
		classes = append(classes, "cards")
	}
	if len(t.Head) <= fewColumns {
		classes = append(classes, "few")
	}
	return strings.Join(classes, " ")
}

// Templates print tables.
//
//go:embed table.gohtml
var Templates string

// fewColumns are too few to fill the page width.
const fewColumns = 4

// Body is a group of rows under a heading.
type Body struct {
	Title, Detail string
	Rows          []Row
}

// Row is one row; its first cell is the heading.
type Row struct {
	Cells []Cell
	// Notes are shown below the row, over its whole width.
	Notes []Note
	Muted bool
}

// Cell is one field. Numbers are right-aligned.
type Cell struct {
	Text, Sub string
	Number    bool
	Tone      string
	Look      *chart.Look
	Mono      bool
	// Wrap allows line breaks.
	Wrap bool
	// Label is the column's name, for cards.
	Label string
	// Link is the text's target; empty for none.
	Link string
}

// Class returns the cell's CSS classes.
func (c Cell) Class() string {
	var classes []string
	for _, k := range []struct {
		name string
		set  bool
	}{{"num", c.Number}, {"mono", c.Mono}, {"wrap", c.Wrap}, {c.Tone, c.Tone != ""}} {
		if k.set {
			classes = append(classes, k.name)
		}
	}
	return strings.Join(classes, " ")
}

func (c Cell) empty() bool { return (c.Text == "" || c.Text == format.Missing) && c.Sub == "" }

// Note is a finding.
type Note struct {
	Weight, Where, Text, Scope, Tone, Code string
}

// Num is a number.
func Num(text string) Cell { return Cell{Text: text, Number: true} }

// Count is a whole number.
func Count[N int | int32 | int64](n N) Cell { return Num(format.Integer(n)) }

// NumSub is a number with a line below.
func NumSub(text, sub string) Cell { return Cell{Text: text, Sub: sub, Number: true} }

// Word is a short text, which stays on one line.
func Word(text string) Cell { return Cell{Text: text} }

// Wrapped is a long text with a line below.
func Wrapped(text, sub string) Cell { return Cell{Text: text, Sub: sub, Wrap: true} }

// Mono is monospaced text.
func Mono(text string) Cell { return Cell{Text: text, Mono: true} }
