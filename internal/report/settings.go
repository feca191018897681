package report

import (
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

// settings is the section on what implementations get beside image and command, as far as it differs between them; it has no data where it does not.
func (v run) settings() page.Section {
	out := v.section("settings", "settings.title")
	all := v.Table.Implementations
	t := table.Table{Head: []table.Cell{v.Th("setting")}}
	var names []string
	for _, i := range all {
		t.Head = append(t.Head, table.Word(i.Name))
		for _, s := range i.Settings {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	var body table.Body
	for _, name := range names {
		row := table.Row{Cells: []table.Cell{table.Word(name)}}
		same := true
		for _, i := range all {
			value := v.setting(i.Settings, name)
			row.Cells = append(row.Cells, table.Wrapped(value, ""))
			same = same && value == v.setting(all[0].Settings, name)
		}
		if !same {
			body.Rows = append(body.Rows, row)
		}
	}
	if len(body.Rows) == 0 {
		return out
	}
	t.Bodies = append(t.Bodies, body)
	out.Data = page.Extra{Leads: []string{v.Say("settings.lead")}, Table: t.Finish(out.Title, true)}
	return out
}

// setting is what a setting is set to.
func (v run) setting(list []record.Setting, name string) string {
	if i := slices.IndexFunc(list, func(s record.Setting) bool { return s.Name == name }); i >= 0 {
		return list[i].Value
	}
	return v.Say("settings.none")
}
