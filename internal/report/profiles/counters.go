package profiles

import (
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

// counters lists what the CPU and the kernel have counted, and why the rest was not measured.
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

// spread is a count with its smallest and its largest value.
func (v profiles) spread(c analysis.Counted, print func(float64) string) table.Cell {
	return table.NumSub(print(c.Median), v.Say("profiles.spread", format.Integer(c.N), print(c.Min), print(c.Max)))
}

// counted prints a value in the unit of a counter: a time, or a number.
func counted(unit string) func(float64) string {
	if unit != "msec" {
		return format.Digits
	}
	return func(millis float64) string { return format.Micros(millis * 1000) }
}

// unmeasured is the reason why instructions were not counted, by a tool that would have counted them.
func unmeasured(f analysis.Profiled) string {
	for _, c := range f.Counters {
		if (c.Event == perfstat.Instructions || c.Event == perfstat.Instructions+perfstat.UserOnly) && c.Whole == nil {
			return c.Why
		}
	}
	return ""
}
