package profiles

import (
	"fmt"
	"html/template"
	"path"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

func (v profiles) costs(f analysis.Profiled, r profiler.Result) part {
	title := v.Say("profiles.costs", f.Implementation)
	t := table.Table{Head: []table.Cell{v.th("function"), table.Num(v.Say("profiles.own")), table.Num(v.Say("profiles.withCalled")), v.th("where")}}
	calls := f.Tool != profiler.Cachegrind
	bodies := []table.Body{v.functions("profiles.functions", r.Costs.Self, r.Costs.Most, calls)}
	if calls {
		bodies = append(bodies, v.functions("profiles.inclusive", r.Costs.Inclusive, r.Costs.Most, calls), v.edges(*r.Costs))
	}
	for _, b := range append(bodies, v.lines(*r.Costs)) {
		if len(b.Rows) > 0 {
			t.Bodies = append(t.Bodies, b)
		}
	}
	out := part{Title: title, Leads: []string{v.Say("profiles.costsLead", format.Integer(r.Costs.Total.At(0))), v.Say("profiles.open." + string(f.Tool))}, Table: t.Finish(title, true)}
	if f.Flame != nil {
		var picture strings.Builder
		if f.Flame.SVG(&picture, v.Say("profiles.flame", f.Implementation)) == nil {
			out.Flame = template.HTML(picture.String()) //nolint:gosec // The template of the picture has escaped every name.
		}
		out.Leads = append(out.Leads, f.Flame.Note)
	}
	return out
}

// shareOf relates a cost to the most expensive process.
func shareOf(c, most callgrind.Cost) table.Cell {
	return table.NumSub(format.Percent(float64(c.At(0))/float64(max(most.At(0), 1))), format.Integer(c.At(0)))
}

func (v profiles) functions(key string, all []callgrind.Function, most callgrind.Cost, calls bool) table.Body {
	body := table.Body{Title: v.Say(key)}
	for _, fn := range all[:min(len(all), rows)] {
		inclusive := table.Num(format.Missing)
		if calls {
			inclusive = shareOf(fn.Inclusive, most)
		}
		body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{
			{Text: fn.Name, Mono: true, Wrap: true}, shareOf(fn.Self, most), inclusive, table.Wrapped(source(fn.File, fn.Object), ""),
		}})
	}
	return body
}

func (v profiles) edges(c profiler.Costs) table.Body {
	body := table.Body{Title: v.Say("profiles.edges")}
	for _, e := range c.Calls[:min(len(c.Calls), rows)] {
		body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{
			{Text: e.From + " → " + e.To, Sub: v.Count("profiles.times", int(e.Count)), Mono: true, Wrap: true}, {}, shareOf(e.Inclusive, c.Most), {},
		}})
	}
	return body
}

func (v profiles) lines(c profiler.Costs) table.Body {
	body := table.Body{Title: v.Say("profiles.lines")}
	for _, l := range c.Lines {
		if l.Line == 0 || len(body.Rows) == rows {
			continue // Without debug information there are functions and no lines.
		}
		body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{
			{Text: fmt.Sprintf("%s:%d", path.Base(l.File), l.Line), Mono: true, Wrap: true}, shareOf(l.Self, c.Most), {}, {},
		}})
	}
	return body
}

func (v profiles) counters(f analysis.Profiled) part {
	title := v.Say("profiles.counters", f.Implementation)
	t := table.Table{Head: []table.Cell{
		v.th("event"), table.Num(v.Say("profiles.each")), table.Num(v.Say("profiles.versus", v.Table.Run.Baseline)), table.Num(v.Say("profiles.whole")),
	}}
	var body table.Body
	for _, c := range f.Counters {
		row := table.Row{Cells: []table.Cell{table.Mono(c.Event), table.Num(format.Missing), v.ratio(c.Versus), table.Num(format.OrMissing(c.Whole, counted(c.Unit)))}}
		switch {
		case c.PerRequest != nil:
			row.Cells[1] = v.spread(*c.PerRequest, counted(c.Unit))
		case c.Whole == nil:
			row.Cells[1] = table.Cell{Text: v.Say("profiles.unmeasured"), Sub: c.Why, Number: true, Wrap: true}
		}
		if c.Extrapolated {
			row.Notes = append(row.Notes, table.Note{Weight: v.Say("profiles.limit"), Text: v.Say("profiles.extrapolated"), Tone: "soft"})
		}
		body.Rows = append(body.Rows, row)
	}
	t.Bodies = append(t.Bodies, body)
	return part{Title: title, Leads: []string{v.Say("profiles.countersLead")}, Table: t.Finish(title, false)}
}

func (v profiles) spread(c analysis.Counted, print func(float64) string) table.Cell {
	return table.NumSub(print(c.Median), v.Say("profiles.spread", format.Integer(c.N), print(c.Min), print(c.Max)))
}

func counted(unit string) func(float64) string {
	if unit != "msec" {
		return format.Digits
	}
	return func(millis float64) string { return format.Micros(millis * 1000) }
}

func unmeasured(f analysis.Profiled) string {
	for _, c := range f.Counters {
		if (c.Event == perfstat.Instructions || c.Event == perfstat.Instructions+perfstat.UserOnly) && c.Whole == nil {
			return c.Why
		}
	}
	return ""
}
