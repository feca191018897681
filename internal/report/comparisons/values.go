package comparisons

import (
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

func (v cases) values() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), v.Th("metric"), v.ThNum("mean"), v.ThInterval(), v.ThNum("sd"), v.ThNum("processes"), v.ThNum("repetitions"),
	}}
	for _, name := range v.names() {
		body := table.Body{Title: name}
		for _, c := range v.Table.Cases {
			if c.Case == name {
				body.Rows = append(body.Rows, v.value(c))
			}
		}
		t.Bodies = append(t.Bodies, body)
	}
	return t
}

func (v cases) names() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range v.Table.Cases {
		if !seen[c.Case] {
			seen[c.Case], names = true, append(names, c.Case)
		}
	}
	return names
}

func (v cases) value(c analysis.Case) table.Row {
	mean, interval, spread, counted := format.Missing, format.Missing, format.Missing, 0
	if s := c.Summary; s != nil {
		mean, counted = format.Digits(s.Mean), s.N
		interval = v.Limits(s.Low, s.High, format.Digits)
		spread = format.OrMissing(s.RelativeStdDev, format.Percent)
	}
	row := table.Row{Cells: []table.Cell{
		table.Word(c.Implementation), table.Word(v.CaseMetric(c.Metric, c.Unit, c.Better)), table.Num(mean), table.Num(interval), table.Num(spread),
		table.Num(v.Say("values.processes", format.Integer(counted), format.Integer(c.Processes))), table.Count(c.Repetitions),
	}}
	if c.OptimisedAway {
		row.Notes = append(row.Notes, table.Note{Weight: v.Say("Validity.Suspect"), Text: v.Say("values.optimised"), Tone: "suspect"})
	}
	return row
}

func (v cases) gaps() []string {
	var out []string
	for _, g := range v.Table.CaseGaps {
		out = append(out, v.CaseGap(g))
	}
	for _, n := range v.Table.CaseNames {
		out = append(out, v.CaseName(n))
	}
	for _, u := range v.Table.Unread {
		out = append(out, v.UnreadOutput(u))
	}
	return out
}

func (v cases) processes() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.ThNum("processes"), v.ThNum("seconds"), v.ThNum("pinned"), v.ThNum("void")}}
	var body table.Body
	for _, i := range v.Table.Implementations {
		var seconds float64
		all, pinned, void := 0, 0, 0
		for _, p := range v.Table.Programs {
			if p.Implementation != i.Name {
				continue
			}
			all, seconds = all+1, seconds+p.Seconds
			if p.Pinning.ServerPinned {
				pinned++
			}
			if p.Validity == validity.Void {
				void++
			}
		}
		if all == 0 {
			continue
		}
		body.Rows = append(body.Rows, table.Row{
			Cells: []table.Cell{table.Word(i.Name), table.Count(all), table.Num(format.Digits(seconds / float64(all))), table.Count(pinned), table.Count(void)},
			Notes: v.NotesOf(validity.ProgramFindings(v.Table.Programs, i.Name), all),
		})
	}
	t.Bodies = []table.Body{body}
	return t
}
