package report

import (
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats"
)

// table is a table of text, in sections.
type table struct {
	Head     []cell
	Sections []section
}

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
}

// note is a finding.
type note struct {
	Weight, Where, Text, Scope, Tone string
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
			s.Rows = append(s.Rows, row{Cells: v.speedCells(*g, i), Notes: v.notes(*g), Muted: i.Role == v1alpha1.RoleLimit})
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

func (v *view) section(l stats.Level) section {
	from := v.count("threads", int(l.Threads))
	if l.Generators > 1 {
		from = v.say("level.generators", integer(int64(l.Generators)), from)
	}
	return section{
		Title:  v.levelName(l.Point),
		Detail: v.say("level.detail", l.Tool, from, integer(int64(l.DurationSeconds)), integer(int64(l.WarmupSeconds))),
	}
}

func (v *view) speedCells(g stats.Group, i stats.Implementation) []cell {
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

func (v *view) implementation(i stats.Implementation) cell {
	l := v.looks[i.Name]
	c := cell{Text: i.Name, Look: &l}
	switch {
	case i.Role == v1alpha1.RoleLimit:
		c.Sub = v.say("legend.limit")
	case i.Baseline && len(v.t.Comparisons) > 0:
		c.Sub = v.say("legend.baseline")
	}
	return c
}

func (v *view) mean(s *stats.Summary, print func(float64) string) string {
	if s == nil {
		return missing
	}
	return print(s.Mean)
}

// deviation prints the standard deviation relative to the mean, which is how noise is compared.
func (v *view) deviation(s *stats.Summary) string {
	if s == nil || s.RelativeStdDev == nil {
		return missing
	}
	return percent(*s.RelativeStdDev)
}

func (v *view) extent(s *stats.Summary, print func(float64) string) string {
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

func (v *view) cells(g stats.Group) string {
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

func (v *view) pinned(g stats.Group) string {
	return v.say("badge.of", integer(int64(g.Pinned)), integer(int64(len(g.Cells))))
}

// notes are the findings of a group, in words.
func (v *view) notes(g stats.Group) []note { return v.notesOf(g.Findings, len(g.Cells)) }

// notesOf puts findings into words, of so many cells or trials.
func (v *view) notesOf(findings []stats.Finding, of int) []note {
	var out []note
	for _, f := range findings {
		n := note{Weight: v.say("Validity." + string(f.Weight)), Where: v.hits(f, of), Text: v.finding(f), Tone: "suspect"}
		if f.Scope != stats.ScopeCell {
			n.Scope = v.say("scope." + string(f.Scope))
		}
		if f.Weight == stats.Void {
			n.Tone = "void"
		}
		out = append(out, n)
	}
	return out
}
