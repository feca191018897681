package report

import "loadstone.dev/loadstone/internal/scaling"

// scaling is the section on where throughputs end to rise; nil if no load has several levels.
func (v *view) scaling() *extra {
	if len(v.t.Scaling) == 0 {
		return nil
	}
	e := &extra{Title: v.say("scaling.title"), Leads: []string{v.say("scaling.lead")}}
	e.Table.Head = []cell{
		v.th("connections"), v.thNum("throughput"), num(v.say("th.interval", v.confidence())), v.thNum("n"), v.thNum("perconnection"), v.thNum("residual"),
	}
	e.Table.Head[1].Sub = v.say("unit.rate")
	for _, s := range v.t.Scaling {
		part := section{Title: v.say("scaling.heading", s.Implementation, s.Load, v.scalingOutcome(s)), Detail: v.scalingDetail(s)}
		for _, p := range s.Points {
			part.Rows = append(part.Rows, v.scalingRow(p))
		}
		e.Table.Sections = append(e.Table.Sections, part)
	}
	e.Table = e.Table.finish(e.Title, true)
	return e
}

func (v *view) scalingRow(p scaling.Point) row {
	throughput, interval, n := v.mean(p.Throughput, rate), missing, 0
	if p.IsBound {
		throughput = v.say("atleast", throughput)
	}
	if s := p.Throughput; s != nil {
		n = s.N
		interval = v.limits(s.Low, s.High, rate)
	}
	return row{Muted: p.IsBound, Cells: []cell{
		word(integer(int64(p.Connections))), num(throughput), num(interval), num(integer(int64(n))),
		num(orMissing(p.PerConnection, percent)), num(orMissing(p.Residual, percent)),
	}}
}

// scalingOutcome is the outcome in a few words.
func (v *view) scalingOutcome(s scaling.Result) string {
	key := "scaling." + string(s.Outcome)
	from, to := integer(int64(s.From)), integer(int64(s.To))
	switch s.Outcome {
	case scaling.Knee:
		return v.say(key, digits(s.Knee.Value), v.confidence(), digits(s.Knee.Low), digits(s.Knee.High), v.count("blocks", s.Knee.N))
	case scaling.SaturatesBetween:
		return v.say(key, from, to)
	case scaling.SaturatedAtOrBelowFirst:
		return v.say(key, v.count("connections", int(s.To)))
	case scaling.NotReached:
		return v.say(key, from)
	case scaling.GeneratorLimited:
		return v.say(key, integer(int64(s.GeneratorLimitFrom)))
	case scaling.Unclear:
	}
	return v.say(key, v.say(key+"."+string(s.Reason)))
}

// scalingDetail holds the estimates that stand beside the outcome.
func (v *view) scalingDetail(s scaling.Result) string {
	var asymptotic, fit, limited string
	if a := s.Asymptotic; a != nil {
		asymptotic = v.say("scaling.asymptotic", digits(a.Value), v.confidence(), digits(a.Low), digits(a.High), v.count("blocks", a.N))
	}
	if f := s.Fit; f != nil {
		fit = v.say("scaling.fit", rate(f.Lambda), plainNumber(f.Sigma), plainNumber(f.Kappa), plainNumber(f.R2))
	}
	if s.GeneratorLimitFrom > 0 && s.Outcome != scaling.GeneratorLimited {
		limited = v.say("scaling.limited", integer(int64(s.GeneratorLimitFrom)))
	}
	return join(" ", asymptotic, fit, limited)
}
