package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/validity"
)

// table is a table of text, in sections. The first cell of a row heads it.
type table struct {
	// Caption names it for who cannot see it.
	Caption string
	// Cards lets each row become a card where the window is narrow: for tables that people read, not for those that they look up.
	Cards    bool
	Head     []cell
	Sections []section
}

// finish names a table and leaves out the columns, but the first, that are empty in every row.
func (t table) finish(caption string, cards bool) table {
	t.Caption, t.Cards = caption, cards
	for k := len(t.Head) - 1; k > 0; k-- {
		if !slices.ContainsFunc(t.Sections, func(s section) bool {
			return slices.ContainsFunc(s.Rows, func(r row) bool { return !r.Cells[k].empty() })
		}) {
			t = t.without(k)
		}
	}
	if cards {
		for _, s := range t.Sections {
			for _, r := range s.Rows {
				t.label(r)
			}
		}
	}
	return t
}

// label lets the cells of a row stand alone.
func (t table) label(r row) {
	for k := range r.Cells {
		c := &r.Cells[k]
		switch {
		case k == 0:
		case c.empty():
			c.Tone = "nil"
		default:
			c.Label = join(" ", t.Head[k].Text, t.Head[k].Sub)
		}
	}
}

// without leaves out a column.
func (t table) without(k int) table {
	t.Head = slices.Delete(slices.Clone(t.Head), k, k+1)
	for i := range t.Sections {
		for j := range t.Sections[i].Rows {
			r := &t.Sections[i].Rows[j]
			r.Cells = slices.Delete(slices.Clone(r.Cells), k, k+1)
		}
	}
	return t
}

// Class is how the table is laid out.
func (t table) Class() string {
	var classes []string
	if t.Cards {
		classes = append(classes, "cards")
	}
	if len(t.Head) <= fewColumns {
		classes = append(classes, "few")
	}
	return strings.Join(classes, " ")
}

// fewColumns are too few to be spread over the whole page.
const fewColumns = 4

// section is a run of rows under a heading.
type section struct {
	Title, Detail string
	Rows          []row
}

type row struct {
	Cells []cell
	// Notes stand below the row, over its whole width.
	Notes []note
	Muted bool
}

// cell is one field. Number fields are aligned to the right.
type cell struct {
	Text, Sub string
	Number    bool
	Tone      string
	Look      *look
	Mono      bool
	// Wrap lets long text break over lines.
	Wrap bool
	// Label is the column's name, where the cell may have to stand without it.
	Label string
	// Link is where the text leads to; empty if nowhere.
	Link string
}

// Class is how the cell is laid out and coloured.
func (c cell) Class() string {
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

func (c cell) empty() bool { return (c.Text == "" || c.Text == missing) && c.Sub == "" }

// note is a finding.
type note struct {
	Weight, Where, Text, Scope, Tone, Code string
}

func num(text string) cell            { return cell{Text: text, Number: true} }
func numSub(text, sub string) cell    { return cell{Text: text, Sub: sub, Number: true} }
func word(text string) cell           { return cell{Text: text} }
func wrapped(text, sub string) cell   { return cell{Text: text, Sub: sub, Wrap: true} }
func mono(text string) cell           { return cell{Text: text, Mono: true} }
func (v *view) th(key string) cell    { return word(v.say("th." + key)) }
func (v *view) thNum(key string) cell { return num(v.say("th." + key)) }

// speedTable holds throughput, cost and validity of every group.
func (v *view) speedTable() table {
	t := table{Head: []cell{
		v.th("impl"), v.thNum("n"), v.thNum("throughput"), v.thNum("sd"), v.thNum("range"), v.thNum("cpu"), v.thNum("sd"),
		v.thNum("servercpu"), v.thNum("generatorcpu"), v.thNum("memory"), v.th("errors"), v.th("validity"), v.th("pinned"),
	}}
	t.Head[2].Sub, t.Head[5].Sub = v.say("unit.rate"), ""
	for _, l := range v.t.Levels {
		s := v.section(l)
		for _, i := range v.t.Implementations {
			g := v.t.Group(l.Point, i.Name)
			s.Rows = append(s.Rows, row{Cells: v.speedCells(*g, i), Notes: v.groupNotes(*g, i), Muted: i.Role == record.RoleLimit})
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

func (v *view) section(l planned.Level) section {
	from := v.count("threads", int(l.Threads))
	if l.Generators > 1 {
		from = v.say("level.generators", integer(int64(l.Generators)), from)
	}
	return section{
		Title:  v.levelName(l.Point),
		Detail: v.say("level.detail", l.Tool, from, integer(int64(l.DurationSeconds)), integer(int64(l.WarmupSeconds))),
	}
}

func (v *view) speedCells(g validity.Group, i planned.Implementation) []cell {
	n := 0
	if g.Throughput != nil {
		n = g.Throughput.N
	}
	throughput := v.mean(g.Throughput, rate)
	if g.ThroughputIsBound {
		throughput = v.say("atleast", throughput)
	}
	return []cell{
		v.implementation(i), num(integer(int64(n))),
		num(throughput), num(v.deviation(g.Throughput)), num(v.extent(g.Throughput, rate)),
		num(v.mean(g.CPUPerRequest, micros)), num(v.deviation(g.CPUPerRequest)),
		numSub(v.mean(g.ServerCPUs, digits), v.say("unit.cpus", integer(int64(i.CPUs)))), num(v.mean(g.GeneratorCPUs, digits)),
		num(v.mean(g.ServerRSS, size)), wrapped(v.errors(g.Errors), ""), wrapped(v.cells(g), ""), word(v.pinned(g)),
	}
}

func (v *view) implementation(i planned.Implementation) cell {
	l := v.looks[i.Name]
	c := cell{Text: i.Name, Look: &l}
	switch {
	case i.Role == record.RoleLimit:
		c.Sub = v.say("legend.limit")
	case i.Baseline && len(v.t.Comparisons) > 0:
		c.Sub = v.say("legend.baseline")
	}
	return c
}

func (v *view) mean(s *inference.Summary, print func(float64) string) string {
	if s == nil {
		return missing
	}
	return print(s.Mean)
}

// deviation prints the standard deviation relative to the mean, which is how noise is compared.
func (v *view) deviation(s *inference.Summary) string {
	if s == nil || s.RelativeStdDev == nil {
		return missing
	}
	return percent(*s.RelativeStdDev)
}

func (v *view) extent(s *inference.Summary, print func(float64) string) string {
	if s == nil {
		return missing
	}
	return v.say("range", print(s.Min), print(s.Max))
}

func (v *view) errors(e record.Errors) string {
	var out []string
	for _, kind := range []struct {
		key string
		n   int64
	}{{"connect", e.Connect}, {"read", e.Read}, {"write", e.Write}, {"timeout", e.Timeout}, {"status", e.Status}, {"body", e.Body}} {
		if kind.n > 0 {
			out = append(out, v.say("errors."+kind.key, integer(kind.n)))
		}
	}
	if len(out) == 0 {
		return v.say("none")
	}
	return strings.Join(out, ", ")
}

func (v *view) cells(g validity.Group) string {
	var out []string
	for _, kind := range []struct {
		key string
		n   int
	}{{"valid", g.Valid}, {"suspect", g.Suspect}, {"void", g.Void}, {"missing", g.Missing}} {
		if kind.n > 0 {
			out = append(out, v.say("cells."+kind.key, integer(int64(kind.n))))
		}
	}
	if len(out) == 0 {
		return missing
	}
	return strings.Join(out, ", ")
}

func (v *view) pinned(g validity.Group) string {
	return v.say("badge.of", integer(int64(g.Pinned)), integer(int64(len(g.Cells))))
}

// groupNotes are the findings of a group. Those of a limit raise no alarm.
func (v *view) groupNotes(g validity.Group, i planned.Implementation) []note {
	notes := v.notes(g)
	for k := range notes {
		if i.Role == record.RoleLimit {
			notes[k].Tone = "limit"
		}
	}
	return notes
}

// notes are the findings of a group, in words.
func (v *view) notes(g validity.Group) []note { return v.notesOf(g.Findings, len(g.Cells)) }

// notesOf puts findings into words, of so many cells or trials.
func (v *view) notesOf(findings []validity.Finding, of int) []note {
	var out []note
	for _, f := range findings {
		n := note{Weight: v.say("Validity." + string(f.Weight)), Where: v.hits(f, of), Text: v.finding(f), Tone: "suspect"}
		if f.Scope != validity.ScopeCell {
			n.Scope = v.say("scope." + string(f.Scope))
		}
		if f.Weight == validity.Void {
			n.Tone = "void"
		}
		n.Code = string(f.Code)
		out = append(out, n)
	}
	return out
}
