package kindtest

import (
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

// SectionID is the name of the section in a page.
const SectionID = "afterwards"

var templates = page.Templates(`{{define "` + SectionID + `"}}{{template "extra" .}}{{end}}`)

// Section lists what each program has printed when it ran once more.
func Section(v *view.View) page.Section {
	out := page.Section{ID: SectionID, Title: "Once more", Templates: templates}
	var body table.Body
	for _, f := range v.Table.Followed {
		for _, r := range f.Rows {
			body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{table.Word(f.Item), table.Word(r.Case), table.Num(format.Digits(r.Value) + " " + r.Unit)}})
		}
	}
	if f := v.Table.Followed; len(f) > 0 {
		t := table.Table{Head: []table.Cell{table.Word("program"), table.Word("case"), table.Num("least time")}, Bodies: []table.Body{body}}
		out.Data = page.Extra{Leads: []string{string(f[0].Type)}, Table: t.Finish(out.Title, false)}
	}
	return out
}
