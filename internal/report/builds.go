package report

import (
	"slices"
	"strconv"

	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

var buildBodies = []struct {
	title string
	keys  []builds.Key
}{
	{"builds.code", []builds.Key{
		builds.Optimized, builds.Assertions, builds.Coverage, builds.Sanitizers, builds.DebugInfo,
		builds.Stripped, builds.Allocator, builds.Compilers, builds.Flags, builds.Go, builds.GoSettings,
	}},
	{"builds.linking", []builds.Key{
		builds.Static, builds.Interpreter, builds.Libraries, builds.PIE, builds.RELRO, builds.BindNow,
		builds.StackProtector, builds.StackClash, builds.Fortify, builds.BranchTargets, builds.ShadowStack,
	}},
	{"builds.file", []builds.Key{
		builds.Path, builds.Script, builds.Bytes, builds.Format, builds.ID, builds.SHA256,
	}},
}

func (v run) builds() page.Section {
	out := v.section("builds", "builds.title")
	b := v.Table.Builds
	if b == nil {
		return out
	}
	e := page.Extra{Leads: []string{v.Say("builds.lead")}}
	if !v.Table.Run.WholeTrials { // A program is never at rest.
		e.Table.Bodies = append(e.Table.Bodies, v.restBody(b.AtRest))
	}
	if slices.ContainsFunc(b.Facts, func(f builds.Fact) bool { return f.Differs }) {
		e.Leads = append(e.Leads, v.Say("builds.unlike"))
	}
	e.Table.Head = []table.Cell{table.Word(v.Say("builds.fact"))}
	for _, name := range b.Implementations {
		e.Table.Head = append(e.Table.Head, table.Word(name))
	}
	for _, part := range buildBodies {
		body := table.Body{Title: v.Say(part.title)}
		for _, key := range part.keys {
			if i := slices.IndexFunc(b.Facts, func(f builds.Fact) bool { return f.Key == key }); i >= 0 {
				body.Rows = append(body.Rows, v.buildRow(b.Facts[i]))
			}
		}
		e.Table.Bodies = append(e.Table.Bodies, body)
	}
	e.Table = e.Table.Finish(out.Title, true)
	out.Data = e
	return out
}

func (v run) restBody(list []builds.AtRest) table.Body {
	start, idle := table.Row{Cells: []table.Cell{{}}}, table.Row{Cells: []table.Cell{table.Word(v.Say("builds.idle"))}}
	answer := table.Row{Cells: []table.Cell{table.Wrapped(v.Say("builds.answer"), v.Say("builds.answerBy"))}}
	var resolution int64
	for _, r := range list {
		resolution = max(resolution, r.ResolutionMillis)
		start.Cells = append(start.Cells, v.startCell(r))
		answer.Cells = append(answer.Cells, v.answerCell(r))
		idle.Cells = append(idle.Cells, v.spreadCell(r.IdleBytes, format.Size))
	}
	start.Cells[0] = table.Wrapped(v.Say("builds.start"), v.Say("builds.startBy", format.Integer(resolution)))
	return table.Body{Title: v.Say("builds.rest"), Rows: []table.Row{start, answer, idle}}
}

// startCell: a median of upper bounds is an upper bound.
func (v run) startCell(r builds.AtRest) table.Cell {
	return v.boundCell(r.StartUpMillis, r.AtMost)
}

// answerCell: a trial without an answer within a second is unknown.
func (v run) answerCell(r builds.AtRest) table.Cell {
	c := v.boundCell(r.AnswerMillis, r.AnswersAtMost)
	answered, all := 0, 0
	if r.AnswerMillis != nil {
		answered = r.AnswerMillis.N
	}
	if r.StartUpMillis != nil {
		all = r.StartUpMillis.N
	}
	if answered >= all {
		return c
	}
	late := v.Say("builds.late", format.Integer(int64(all-answered)), format.Integer(int64(all)))
	if answered == 0 {
		return table.Wrapped(c.Text, late)
	}
	c.Sub += "; " + late
	return c
}

func (v run) boundCell(s *builds.Spread, bounds int) table.Cell {
	c := v.spreadCell(s, millis)
	if s != nil && bounds > 0 {
		c.Text = v.Say("builds.atMost", c.Text)
		c.Sub = v.Say("builds.bounds", format.Integer(int64(s.N)), format.Integer(int64(bounds)), millis(s.Min), millis(s.Max))
	}
	return c
}

func millis(n float64) string { return format.Micros(n * 1000) }

func (v run) spreadCell(s *builds.Spread, print func(float64) string) table.Cell {
	if s == nil {
		return table.Word(format.Missing)
	}
	return table.Wrapped(print(s.Median), v.Say("builds.spread", format.Integer(int64(s.N)), print(s.Min), print(s.Max)))
}

func (v run) buildRow(f builds.Fact) table.Row {
	head := table.Wrapped(v.Say("build."+string(f.Key)), "")
	if f.Differs {
		head.Sub = v.Say("builds.differs")
	}
	row := table.Row{Cells: []table.Cell{head}}
	for i, value := range f.Values {
		c := table.Wrapped(v.buildValue(f.Key, value.Value), value.By)
		if f.Key == builds.SHA256 && v.Table.Builds.AtRest[i].Binaries > 1 {
			c.Sub = v.Count("builds.files", v.Table.Builds.AtRest[i].Binaries)
		}
		if f.Differs {
			c.Tone = "suspect"
		}
		row.Cells = append(row.Cells, c)
	}
	return row
}

func (v run) buildValue(key builds.Key, value string) string {
	switch {
	case value == "":
		return format.Missing
	case value == string(record.Yes) || value == string(record.No) || value == record.Unknown:
		return v.Say("builds." + value)
	case key == builds.Bytes:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return format.Size(float64(n))
		}
	}
	return value
}
