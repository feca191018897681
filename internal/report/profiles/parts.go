package profiles

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

// rows is how many functions, lines and places a table lists; the files have all.
const rows = 15

// part has no title if there is nothing beyond its line.
func (v profiles) part(f analysis.Profiled) part {
	if f.Result == nil {
		return part{}
	}
	copied := *f.Result
	if f.Wrong > 0 {
		copied.Requests = 0 // The cost of requests without a right answer is unknown.
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

func each(count float64, requests int64) string {
	if requests <= 0 {
		return format.Missing
	}
	return format.Digits(count / float64(requests))
}

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

func place(f memcheck.Frame) string {
	name := f.Function
	if name == "" {
		name = f.Address
	}
	return at(name, f.File, f.Line, f.Object)
}

func at(function, file string, line int, object string) string {
	switch {
	case file != "" && line > 0:
		return fmt.Sprintf("%s (%s:%d)", function, path.Base(file), line)
	case object != "":
		return fmt.Sprintf("%s (%s)", function, path.Base(object))
	}
	return function
}

func source(file, object string) string {
	for _, name := range []string{file, object} {
		if name != "" && name != "???" {
			return path.Base(name)
		}
	}
	return ""
}

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
