package report

import (
	"loadstone.dev/loadstone/internal/analysis/scaling"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
)

func (v run) scaling() page.Section {
	out := v.section("scaling", "scaling.title")
	if len(v.Table.Scaling) == 0 {
		return out
	}
	e := page.Extra{Leads: []string{v.Say("scaling.lead")}}
	e.Table.Head = []table.Cell{
		v.Th("connections"), v.ThNum("throughput"), v.ThInterval(), v.ThNum("n"), v.ThNum("perconnection"), v.ThNum("residual"),
	}
	e.Table.Head[1].Sub = v.Say("unit.rate")
	for _, s := range v.Table.Scaling {
		part := table.Body{Title: v.Say("scaling.heading", s.Implementation, s.Load, v.scalingOutcome(s)), Detail: v.scalingDetail(s)}
		for _, p := range s.Points {
			part.Rows = append(part.Rows, v.scalingRow(p))
		}
		e.Table.Bodies = append(e.Table.Bodies, part)
	}
	e.Table = e.Table.Finish(out.Title, true)
	out.Data = e
	return out
}

func (v run) scalingRow(p scaling.Point) table.Row {
	throughput, interval, n := v.Mean(p.Throughput, format.Rate), format.Missing, 0
	if p.IsBound {
		throughput = v.Say("atleast", throughput)
	}
	if s := p.Throughput; s != nil {
		n = s.N
		interval = v.Limits(s.Low, s.High, format.Rate)
	}
	return table.Row{Muted: p.IsBound, Cells: []table.Cell{
		table.Word(format.Integer(p.Connections)), table.Num(throughput), table.Num(interval), table.Count(n),
		table.Num(format.OrMissing(p.PerConnection, format.Percent)), table.Num(format.OrMissing(p.Residual, format.Percent)),
	}}
}

func (v run) scalingOutcome(s scaling.Result) string {
	key := "scaling." + string(s.Outcome)
	from, to := format.Integer(s.From), format.Integer(s.To)
	switch s.Outcome {
	case scaling.Knee:
		return v.Say(key, format.Digits(s.Knee.Value), v.Confidence(), format.Digits(s.Knee.Low), format.Digits(s.Knee.High), v.Count("blocks", s.Knee.N))
	case scaling.SaturatesBetween:
		return v.Say(key, from, to)
	case scaling.SaturatedAtOrBelowFirst:
		return v.Say(key, v.Count("connections", int(s.To)))
	case scaling.NotReached:
		return v.Say(key, from)
	case scaling.GeneratorLimited:
		return v.Say(key, format.Integer(s.GeneratorLimitFrom))
	case scaling.Unclear:
	}
	return v.Say(key, v.Say(key+"."+string(s.Reason)))
}

func (v run) scalingDetail(s scaling.Result) string {
	var asymptotic, fit, limited string
	if a := s.Asymptotic; a != nil {
		low, high := format.Digits(a.Low), format.Digits(a.High)
		asymptotic = v.Say("scaling.asymptotic", format.Digits(a.Value), v.Confidence(), low, high, v.Count("blocks", a.N))
	}
	if f := s.Fit; f != nil {
		fit = v.Say("scaling.fit", format.Rate(f.Lambda), format.Plain(f.Sigma), format.Plain(f.Kappa), format.Plain(f.R2))
	}
	if s.GeneratorLimitFrom > 0 && s.Outcome != scaling.GeneratorLimited {
		limited = v.Say("scaling.limited", format.Integer(s.GeneratorLimitFrom))
	}
	return format.Join(" ", asymptotic, fit, limited)
}
