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
	// Caption names it for who cannot see it.
	Caption string
	// Cards lets each row become a card where the window is narrow: for tables that people read, not for those that they look up.
	Cards  bool
	Head   []Cell
	Bodies []Body
}

// Finish names a table and leaves out the columns, but the first, that are empty in every row.
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

// label lets the cells of a row stand alone.
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

// without leaves out a column.
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

// Class is how the table is laid out.
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

// fewColumns are too few to be spread over the whole page.
const fewColumns = 4

// Body is a run of rows under a heading.
type Body struct {
	Title, Detail string
	Rows          []Row
}

// Row is one row. The first cell heads it.
type Row struct {
	Cells []Cell
	// Notes stand below the row, over its whole width.
	Notes []Note
	Muted bool
}

// Cell is one field. Number fields are aligned to the right.
type Cell struct {
	Text, Sub string
	Number    bool
	Tone      string
	Look      *chart.Look
	Mono      bool
	// Wrap lets long text break over lines.
	Wrap bool
	// Label is the column's name, where the cell may have to stand without it.
	Label string
	// Link is where the text leads to; empty if nowhere.
	Link string
}

// Class is how the cell is laid out and coloured.
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

// Mono is text of which each letter counts.
func Mono(text string) Cell { return Cell{Text: text, Mono: true} }
