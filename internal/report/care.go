package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

type care struct {
	None  string
	Parts []carePart
}

type carePart struct {
	Title string
	Table table.Table
}

func (v run) care() page.Section {
	s := v.section("care", "care.title")
	s.Data = v.caveats()
	return s
}

func (v run) caveats() care {
	var c care
	add := func(key string, t table.Table) {
		if len(t.Bodies) > 0 && len(t.Bodies[0].Rows) > 0 {
			c.Parts = append(c.Parts, carePart{Title: v.Say(key), Table: t.Finish(v.Say(key), true)})
		}
	}
	add("care.missing", v.missingTable())
	add("care.profiles", v.lostProfilesTable())
	add("care.repeated", v.repeatedTable())
	add("care.cells", v.findingsTable())
	add("care.unknown", v.unknownTable())
	add("care.claims", v.claimTable(func(c builds.Claim) bool { return c.Answer == builds.Refuted }))
	doubtful := slices.ContainsFunc(v.Table.Cases, func(c analysis.Case) bool { return c.OptimisedAway })
	switch {
	case len(v.Table.CaseGaps)+len(v.Table.Unread) > 0 || doubtful:
		c.None = v.Say("care.values")
	case len(c.Parts) == 0:
		c.None = v.Say("care.none")
	}
	return c
}

func (v run) missingTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.ThNum("block"), v.Th("reason"), v.Th("message")}}
	var s table.Body
	for _, m := range v.Table.Coverage.Missing {
		s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{
			table.Word(m.Implementation), table.Count(m.Block), table.Wrapped(v.reasonWords("missing.", m.Reason), m.Reason),
			table.Wrapped(m.Message, m.Trial),
		}})
	}
	t.Bodies = append(t.Bodies, s)
	return t
}

// lostProfilesTable lists profiles without a result.
func (v run) lostProfilesTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.Th("profile"), v.Th("message")}}
	var s table.Body
	for _, p := range v.Table.Profiles {
		for _, f := range p.Found {
			if f.Missing != "" {
				s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{table.Word(f.Implementation), table.Word(p.Name), table.Wrapped(f.Missing, f.Trial)}})
			}
		}
	}
	t.Bodies = append(t.Bodies, s)
	return t
}

// reasonWords returns a code's words, or the code itself in words.
func (v run) reasonWords(prefix, code string) string {
	if v.Has(prefix + code) {
		return v.Say(prefix + code)
	}
	return format.Apart(code)
}

func (v run) repeatedTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("trial"), v.ThNum("attempt"), v.Th("failures")}}
	var s table.Body
	for _, r := range v.Table.Coverage.Repeated {
		s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{
			table.Word(r.Trial), table.Count(r.Attempt), table.Wrapped(strings.Join(r.Failures, "; "), ""),
		}})
	}
	t.Bodies = append(t.Bodies, s)
	return t
}

func (v run) findingsTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("at"), v.Th("impl"), v.Th("validity"), v.Th("block"), v.Th("reason")}}
	var s table.Body
	add := func(at, implementation string, notes []table.Note) {
		for _, n := range notes {
			s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{
				table.Word(at), table.Word(implementation),
				{Text: n.Weight, Sub: n.Scope, Tone: n.Tone},
				table.Wrapped(n.Where, ""), table.Wrapped(n.Text, n.Code),
			}})
		}
	}
	for _, i := range v.Table.Implementations {
		findings := validity.ProgramFindings(v.Table.Programs, i.Name)
		processes := 0
		for _, p := range v.Table.Programs {
			if p.Implementation == i.Name {
				processes++
			}
		}
		add(v.Say("care.processes"), i.Name, v.NotesOf(findings, processes))
	}
	for _, g := range v.Table.Groups {
		add(v.LevelName(g.Point), g.Implementation, v.Notes(g))
	}
	for _, c := range v.Table.Capacities {
		add(v.Say("care.search", c.Load), c.Implementation, v.NotesOf(c.Findings, len(c.Trials)))
	}
	t.Bodies = append(t.Bodies, s)
	return t
}

func (v run) unknownTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.Th("reason"), v.ThNum("validity")}}
	var s table.Body
	for _, u := range v.Table.Unknowns {
		s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{
			table.Word(u.Implementation), table.Wrapped(u.Sentence, ""), table.Num(v.Count("unknown.cells", u.Cells)),
		}})
	}
	t.Bodies = append(t.Bodies, s)
	return t
}
