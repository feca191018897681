package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

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
	body.Rows = append(body.Rows, v.encryption()...)
	if len(body.Rows) == 0 {
		return out
	}
	t.Bodies = append(t.Bodies, body)
	out.Data = page.Extra{Leads: []string{v.Say("settings.lead")}, Table: t.Finish(out.Title, true)}
	return out
}

func (v run) encryption() []table.Row {
	var rows []table.Row
	var clients []string
	for _, a := range v.Table.Encryption {
		if !slices.Contains(clients, a.Client) {
			clients = append(clients, a.Client)
		}
	}
	for _, client := range clients {
		row, same := table.Row{Cells: []table.Cell{table.Word(v.Say("settings.tls", client))}}, true
		for _, i := range v.Table.Implementations {
			value := v.agreed(i.Name, client)
			row.Cells = append(row.Cells, table.Wrapped(value, ""))
			same = same && value == v.agreed(v.Table.Implementations[0].Name, client)
		}
		if !same {
			rows = append(rows, row)
		}
	}
	return rows
}

func (v run) agreed(implementation, client string) string {
	var out []string
	for _, a := range v.Table.Encryption {
		if a.Implementation != implementation || a.Client != client {
			continue
		}
		for _, value := range a.Values {
			out = append(out, value.Value)
		}
	}
	if len(out) == 0 {
		return v.Say("settings.plain")
	}
	return strings.Join(out, ", ")
}

func (v run) setting(list []record.Setting, name string) string {
	if i := slices.IndexFunc(list, func(s record.Setting) bool { return s.Name == name }); i >= 0 {
		return list[i].Value
	}
	return v.Say("settings.none")
}
