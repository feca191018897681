package levels

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func (v levels) speedTable() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), v.ThNum("n"), v.ThNum("throughput"), v.ThNum("sd"), v.ThNum("range"), v.ThNum("cpu"), v.ThNum("sd"),
		v.ThNum("servercpu"), v.ThNum("generatorcpu"), v.ThNum("memory"), v.Th("errors"), v.Th("validity"), v.Th("pinned"),
	}}
	t.Head[2].Sub, t.Head[5].Sub = v.Say("unit.rate"), ""
	for _, l := range v.Table.Levels {
		s := v.body(l)
		for _, i := range v.Table.Implementations {
			g := v.Table.Group(l.Point, i.Name)
			s.Rows = append(s.Rows, table.Row{Cells: v.speedCells(*g, i), Notes: v.groupNotes(*g, i), Muted: i.Role == record.RoleReference})
		}
		t.Bodies = append(t.Bodies, s)
	}
	return t
}

func (v levels) body(l planned.Level) table.Body {
	from := v.Count("threads", int(l.Threads))
	if l.Generators > 1 {
		from = v.Say("level.generators", format.Integer(l.Generators), from)
	}
	return table.Body{
		Title:  v.LevelName(l.Point),
		Detail: v.Say("level.detail", l.Tool, from, format.Integer(l.DurationSeconds), format.Integer(l.WarmupSeconds)),
	}
}

func (v levels) speedCells(g validity.Group, i planned.Implementation) []table.Cell {
	n := 0
	if g.Throughput != nil {
		n = g.Throughput.N
	}
	throughput := v.Mean(g.Throughput, format.Rate)
	if g.ThroughputIsBound {
		throughput = v.Say("atleast", throughput)
	}
	return []table.Cell{
		v.implementation(i), table.Count(n),
		table.Num(throughput), table.Num(v.deviation(g.Throughput)), table.Num(v.extent(g.Throughput, format.Rate)),
		table.Num(v.Mean(g.CPUPerRequest, format.Micros)), table.Num(v.deviation(g.CPUPerRequest)),
		table.NumSub(v.Mean(g.ServerCPUs, format.Digits), v.Say("unit.cpus", format.Integer(i.CPUs))), table.Num(v.Mean(g.GeneratorCPUs, format.Digits)),
		table.Num(v.Mean(g.ServerRSS, format.Size)), table.Wrapped(v.errors(g.Errors), ""), table.Wrapped(v.cells(g), ""), table.Word(v.pinned(g)),
	}
}

func (v levels) implementation(i planned.Implementation) table.Cell {
	l := v.Looks[i.Name]
	c := table.Cell{Text: i.Name, Look: &l}
	switch {
	case i.Role == record.RoleReference:
		c.Sub = v.Say("legend.reference")
	case i.Baseline && len(v.Table.Comparisons) > 0:
		c.Sub = v.Say("legend.baseline")
	}
	return c
}

// deviation is relative to the mean, which makes noise comparable.
func (v levels) deviation(s *inference.Summary) string {
	if s == nil || s.RelativeStdDev == nil {
		return format.Missing
	}
	return format.Percent(*s.RelativeStdDev)
}

func (v levels) extent(s *inference.Summary, print func(float64) string) string {
	if s == nil {
		return format.Missing
	}
	return v.Say("range", print(s.Min), print(s.Max))
}

func (v levels) errors(e record.Errors) string {
	var out []string
	for _, kind := range []struct {
		key string
		n   int64
	}{{"connect", e.Connect}, {"read", e.Read}, {"write", e.Write}, {"timeout", e.Timeout}, {"status", e.Status}, {"body", e.Body}} {
		if kind.n > 0 {
			out = append(out, v.Say("errors."+kind.key, format.Integer(kind.n)))
		}
	}
	if len(out) == 0 {
		return v.Say("none")
	}
	return strings.Join(out, ", ")
}

func (v levels) cells(g validity.Group) string {
	var out []string
	for _, kind := range []struct {
		key string
		n   int
	}{{"valid", g.Valid}, {"suspect", g.Suspect}, {"void", g.Void}, {"missing", g.Missing}} {
		if kind.n > 0 {
			out = append(out, v.Say("cells."+kind.key, format.Integer(kind.n)))
		}
	}
	if len(out) == 0 {
		return format.Missing
	}
	return strings.Join(out, ", ")
}

func (v levels) pinned(g validity.Group) string {
	return v.Say("badge.of", format.Integer(g.Pinned), format.Integer(len(g.Cells)))
}

// groupNotes: findings of a reference raise no alarm.
func (v levels) groupNotes(g validity.Group, i planned.Implementation) []table.Note {
	notes := v.Notes(g)
	for k := range notes {
		if i.Role == record.RoleReference {
			notes[k].Tone = "soft"
		}
	}
	return notes
}
