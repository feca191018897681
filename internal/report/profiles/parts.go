package profiles

import (
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

// rows is how many functions, lines and places a table lists: the files have all.
const rows = 15

// part is what was found of one implementation; without a title if that is nothing beyond its line.
func (v profiles) part(f analysis.Profiled) part {
	if f.Result == nil {
		return part{}
	}
	copied := *f.Result
	if f.Wrong > 0 {
		copied.Requests = 0 // What requests without a right answer cost is not known.
	}
	r := &copied
	switch {
	case r.Memcheck != nil && len(r.Memcheck.Errors)+len(r.Memcheck.Leaks) > 0:
		return v.memory(f.Implementation, *r)
	case r.Costs != nil:
		return v.costs(f, *r)
	case r.Calls != nil:
		return v.calls(f.Implementation, *r)
	case len(f.Counters) > 0:
		return v.counters(f)
	case r.Massif != nil:
		return v.heap(f.Implementation, *r.Massif, f.Tool == profiler.MassifPages)
	}
	return part{}
}

// memory lists errors and leaks with the places where they happen.
func (v profiles) memory(name string, r profiler.Result) part {
	title := v.Say("profiles.memory", name)
	t := table.Table{Head: []table.Cell{v.th("finding"), table.Num(v.Say("profiles.count")), table.Num(v.Say("profiles.each")), v.th("where"), v.th("origin")}}
	errors := table.Body{Title: v.Say("profiles.errors")}
	for _, e := range r.Memcheck.Errors[:min(len(r.Memcheck.Errors), rows)] {
		origin := ""
		if e.Origin != nil {
			origin = place(memcheck.Site(e.Origin.Stack))
		}
		errors.Rows = append(errors.Rows, table.Row{Cells: []table.Cell{
			table.Wrapped(e.What, e.Kind), table.Count(e.Count), table.Num(each(float64(e.Count), r.Requests)), site(e.Stack), table.Wrapped(origin, ""),
		}})
	}
	leaks := table.Body{Title: v.Say("profiles.leaks")}
	for _, l := range r.Memcheck.Leaks[:min(len(r.Memcheck.Leaks), rows)] {
		leaks.Rows = append(leaks.Rows, table.Row{Muted: !l.Lost(), Cells: []table.Cell{
			table.Wrapped(v.Say("profiles."+string(l.Kind)), format.Size(float64(l.Bytes))), table.Count(l.Blocks),
			table.Num(each(float64(l.Blocks), r.Requests)), site(l.Stack),
			{},
		}})
	}
	for _, b := range []table.Body{errors, leaks} {
		if len(b.Rows) > 0 {
			t.Bodies = append(t.Bodies, b)
		}
	}
	return part{Title: title, Table: t.Finish(title, true)}
}

func (v profiles) th(key string) table.Cell { return table.Word(v.Say("profiles." + key)) }

// each is a count for each request.
func each(count float64, requests int64) string {
	if requests <= 0 {
		return format.Missing
	}
	return format.Digits(count / float64(requests))
}

// site is the place of a stack that is the program's own, with the functions that led there.
func site(stack []memcheck.Frame) table.Cell {
	const callers = 4
	at := memcheck.Site(stack)
	i := slices.Index(stack, at)
	var above []string
	for _, f := range stack[min(i+1, len(stack)):] {
		if len(above) < callers && f.Function != "" {
			above = append(above, f.Function)
		}
	}
	return table.Cell{Text: place(at), Sub: strings.Join(above, " ← "), Mono: true, Wrap: true}
}

// place is a function with its file and line, as far as they are known.
func place(f memcheck.Frame) string {
	name := f.Function
	if name == "" {
		name = f.Address
	}
	return at(name, f.File, f.Line, f.Object)
}

// at names a place in a source file, or at least in an object.
func at(function, file string, line int, object string) string {
	switch {
	case file != "" && line > 0:
		return fmt.Sprintf("%s (%s:%d)", function, path.Base(file), line)
	case object != "":
		return fmt.Sprintf("%s (%s)", function, path.Base(object))
	}
	return function
}

// source is the file of a function, or at least the object that holds it.
func source(file, object string) string {
	for _, name := range []string{file, object} {
		if name != "" && name != "???" {
			return path.Base(name)
		}
	}
	return ""
}

// costs lists the functions and lines that take the most instructions, with the stacks in a picture.
func (v profiles) costs(f analysis.Profiled, r profiler.Result) part {
	title := v.Say("profiles.costs", f.Implementation)
	total, most := r.Costs.Total.At(0), r.Costs.Most.At(0)
	share := func(c callgrind.Cost) table.Cell {
		return table.NumSub(format.Percent(float64(c.At(0))/float64(max(most, 1))), format.Integer(c.At(0)))
	}
	t := table.Table{Head: []table.Cell{v.th("function"), table.Num(v.Say("profiles.own")), table.Num(v.Say("profiles.withCalled")), v.th("where")}}
	functions := table.Body{Title: v.Say("profiles.functions")}
	for _, fn := range r.Costs.Self[:min(len(r.Costs.Self), rows)] {
		inclusive := share(fn.Inclusive)
		if f.Tool == profiler.Cachegrind {
			inclusive = table.Num(format.Missing)
		}
		functions.Rows = append(functions.Rows, table.Row{Cells: []table.Cell{
			{Text: fn.Name, Mono: true, Wrap: true}, share(fn.Self), inclusive, table.Wrapped(source(fn.File, fn.Object), ""),
		}})
	}
	lines := table.Body{Title: v.Say("profiles.lines")}
	for _, l := range r.Costs.Lines {
		if l.Line == 0 || len(lines.Rows) == rows {
			continue // Without debug information there are functions and no lines.
		}
		lines.Rows = append(lines.Rows, table.Row{Cells: []table.Cell{
			{Text: fmt.Sprintf("%s:%d", path.Base(l.File), l.Line), Mono: true, Wrap: true}, share(l.Self), {}, {},
		}})
	}
	for _, b := range []table.Body{functions, lines} {
		if len(b.Rows) > 0 {
			t.Bodies = append(t.Bodies, b)
		}
	}
	out := part{Title: title, Leads: []string{v.Say("profiles.costsLead", format.Integer(total))}, Table: t.Finish(title, true)}
	if f.Flame != nil {
		var picture strings.Builder
		if f.Flame.SVG(&picture, v.Say("profiles.flame", f.Implementation)) == nil {
			out.Flame = template.HTML(picture.String()) //nolint:gosec // The template of the picture has escaped every name.
		}
		out.Leads = append(out.Leads, f.Flame.Note)
	}
	return out
}

// calls lists the system calls.
func (v profiles) calls(name string, r profiler.Result) part {
	title := v.Say("profiles.calls", name)
	t := table.Table{Head: []table.Cell{v.th("call"), table.Num(v.Say("profiles.count")), table.Num(v.Say("profiles.each")), table.Num(v.Say("profiles.failed"))}}
	var body table.Body
	for _, c := range r.Calls.Calls {
		body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{table.Mono(c.Name), table.Count(c.Count), table.Num(each(float64(c.Count), r.Requests)), table.Count(c.Errors)}})
	}
	t.Bodies = append(t.Bodies, body)
	var leads []string
	if r.Requests > 0 {
		leads = append(leads, v.Say("profiles.callsLead", format.Integer(r.Requests)))
	}
	return part{Title: title, Leads: leads, Table: t.Finish(title, false)}
}

// heap lists what held the memory at its peak.
func (v profiles) heap(name string, m massif.Result, pages bool) part {
	peak := m.Peak()
	if peak == nil || peak.Tree == nil {
		return part{}
	}
	title := v.Say("profiles.peak."+kindOf(pages), name)
	t := table.Table{Head: []table.Cell{v.th("function"), table.Num(v.Say("profiles.held")), v.th("where")}}
	var body table.Body
	for _, n := range peak.Tree.Callers[:min(len(peak.Tree.Callers), rows)] {
		body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{
			{Text: n.Function, Mono: true, Wrap: true},
			table.NumSub(format.Size(float64(n.Bytes)), format.Percent(float64(n.Bytes)/float64(max(peak.Tree.Bytes, 1)))),
			table.Wrapped(at("", n.File, n.Line, ""), ""),
		}})
	}
	if len(body.Rows) == 0 {
		return part{}
	}
	t.Bodies = append(t.Bodies, body)
	return part{Title: title, Table: t.Finish(title, true)}
}
