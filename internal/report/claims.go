package report

import (
	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

func (v run) claims() page.Section {
	out := v.section("claims", "claims.title")
	if len(v.Table.Claims) == 0 {
		return out
	}
	t := v.claimTable(func(builds.Claim) bool { return true })
	out.Data = page.Extra{Leads: []string{v.Say("claims.lead")}, Table: t.Finish(out.Title, true)}
	return out
}

func (v run) claimTable(wanted func(builds.Claim) bool) table.Table {
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.Th("claim"), v.Th("answer")}}
	var s table.Body
	for _, c := range v.Table.Claims {
		if !wanted(c) {
			continue
		}
		answer := table.Wrapped(v.Say("claims."+string(c.Answer)), c.By)
		if c.Answer == builds.Refuted {
			answer.Tone = "suspect"
		}
		s.Rows = append(s.Rows, table.Row{Cells: []table.Cell{table.Word(c.Implementation), table.Wrapped(v.stated(c.Claim), ""), answer}})
	}
	t.Bodies = append(t.Bodies, s)
	return t
}

func (v run) stated(c record.Claim) string {
	key, denied, args := "claims.present", "claims.absent", []any{v.Say("claim." + string(c.Subject)), c.Value}
	if c.Subject == record.ClaimResponse {
		key, denied, args = "claims.answered", "claims.unsaid", []any{c.Value, c.Path}
	}
	if c.Absent {
		key = denied
	}
	return v.Say(key, args...)
}
