package report

import (
	"strconv"

	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
)

// plan is the section on what has to be known to measure the run again.
func (v run) plan() page.Section {
	s := v.section("plan", "plan.title")
	s.Data = struct {
		Lead  string
		Facts []page.Fact
		Notes []string
	}{v.Say("plan.reproduce"), v.planFacts(), v.Table.Run.Notes}
	return s
}

func (v run) planFacts() []page.Fact {
	r := v.Table.Run
	rows := []struct{ key, value string }{
		{"plan.baseline", r.Baseline},
		{"plan.blocks", format.Integer(r.Blocks)},
		{"plan.pinning", string(r.Pinning)},
		{"plan.seed", strconv.FormatUint(r.Seed, 10)},
		{"plan.hash", r.PlanHash},
		{"plan.uid", r.UID},
		{"plan.operator", r.Operator},
	}
	var out []page.Fact
	for _, row := range rows {
		out = append(out, page.Fact{Name: v.Say(row.key), Values: []string{row.value}})
	}
	return out
}
