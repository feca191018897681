package report

import (
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
)

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
	if len(v.Table.Requests) > 0 {
		out = append(out, page.Fact{Name: v.Say("plan.requests"), Values: v.requests()})
	}
	return out
}

// requests lists the loads' requests. Bodies may be long, so only size and digest are printed.
func (v run) requests() []string {
	var out []string
	for _, r := range v.Table.Requests {
		parts := []string{r.Method + " " + r.Path}
		if r.Share > 0 {
			parts[0] = v.Say("plan.share", format.PlainPercent(r.Share), parts[0])
		}
		for _, h := range r.Headers {
			parts = append(parts, h.Name+": "+h.Value)
		}
		if r.Protocol == record.HTTP2 {
			parts = append(parts, v.Say("plan.http2"))
		}
		if r.BodyBytes > 0 {
			parts = append(parts, v.Say("plan.body", format.Integer(r.BodyBytes), r.BodySHA256))
		}
		if r.AnyBody {
			parts = append(parts, v.Say("plan.anyBody"))
		}
		out = append(out, v.Say("plan.request", r.Load, strings.Join(parts, "; ")))
	}
	return out
}
