package report

import (
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

// data is the section of all the data, folded: the details of what was measured, and what is stored.
func (v run) data(details []page.Detail) page.Section {
	s := v.section("data", "details.title")
	title := v.Say("artifacts.title")
	s.Data = append(details, page.Detail{Title: title, Lead: v.Say("artifacts.lead"), Table: v.artifactTable().Finish(title, false)})
	return s
}

func (v run) artifactTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("key"), v.ThNum("bytes"), v.Th("sha")}}
	var s table.Body
	for _, a := range v.Table.Artifacts {
		key := table.Mono(a.Key)
		if key.Link = v.Beside(a.Key); key.Link != "" {
			key.Text = v.BelowRun(a.Key)
		}
		s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{key, table.Count(a.Bytes), table.Mono(a.SHA256)}})
	}
	t.Bodies = append(t.Bodies, s)
	return t
}
