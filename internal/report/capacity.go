package report

import (
	"math"

	"loadstone.dev/loadstone/internal/capacity"
	"loadstone.dev/loadstone/internal/validity"
	"loadstone.dev/loadstone/internal/verdict"
)

// capacitySection is the section on the highest rates that searches found to keep their bounds: a picture of the steps and a table a load.
type capacitySection struct {
	extra
	Legend []legend
	Charts []chart
}

// capacity is nil if no load is a search.
func (v *view) capacity() *capacitySection {
	if len(v.t.Capacities) == 0 {
		return nil
	}
	c := &capacitySection{Legend: v.legend(v.t.Implementations)}
	c.Title, c.Leads = v.say("capacity.title"), []string{v.say("capacity.lead", v.confidence()), v.say("capacity.family")}
	c.Table.Head = []cell{
		v.th("impl"), v.thNum("kept"), num(v.say("th.interval", v.confidence())), v.thNum("n"), v.th("searches"), v.thNum("change"),
		num(v.say("th.interval", v.confidence())), v.thNum("padj"), v.th("verdict"),
	}
	c.Table.Head[1].Sub, c.Table.Head[5].Sub = v.say("unit.rate"), v.say("capacity.to", v.t.Run.Baseline)
	for _, load := range v.searches() {
		c.Charts = append(c.Charts, v.stepChart(load))
		s := section{
			Title:  load[0].Load,
			Detail: v.say("capacity.bound", load[0].Percentile, load[0].MaxMilliseconds, v.count("connections", int(load[0].Connections))),
		}
		for _, one := range load {
			s.Rows = append(s.Rows, v.capacityRow(one))
		}
		c.Table.Sections = append(c.Table.Sections, s)
	}
	c.Table = c.Table.finish(c.Title, true)
	return c
}

// searches are the capacities by load.
func (v *view) searches() [][]capacity.Capacity {
	var out [][]capacity.Capacity
	for _, c := range v.t.Capacities {
		if len(out) == 0 || out[len(out)-1][0].Load != c.Load {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

func (v *view) capacityRow(c capacity.Capacity) row {
	look := v.looks[c.Implementation]
	kept, interval, n := v.mean(c.Rate, rate), missing, 0
	if c.IsBound {
		kept = v.say("atleast", kept)
	}
	if s := c.Rate; s != nil {
		n = s.N
		interval = v.limits(s.Low, s.High, rate)
	}
	cells := []cell{
		{Text: c.Implementation, Look: &look},
		num(kept), num(interval), num(integer(int64(n))), wrapped(v.searchOutcomes(c), ""),
		num(missing), num(missing), num(missing), word(""),
	}
	if r := c.ToBaseline; r != nil {
		verdict, why := v.capacityVerdict(*r)
		copy(cells[5:], []cell{
			num(v.changeOf(*r)), num(v.changeLimits(*r)), num(probability(r.AdjustedP)),
			{Text: verdict, Sub: why, Tone: tones[r.Verdict]},
		})
	}
	return row{Cells: cells, Notes: v.notesOf(c.Findings, len(c.Trials))}
}

// limits prints an interval, of which an end may be open.
func (v *view) limits(low, high *float64, print func(float64) string) string {
	switch {
	case low != nil && high != nil:
		return v.say("range", print(*low), print(*high))
	case low != nil:
		return v.say("atleast", print(*low))
	case high != nil:
		return v.say("atmost", print(*high))
	}
	return missing
}

// searchOutcomes says how the searches ended, and why some give a lower bound only.
func (v *view) searchOutcomes(c capacity.Capacity) string {
	var words []string
	add := func(key string, n int) {
		if n > 0 {
			words = append(words, v.say("searches."+key, integer(int64(n))))
		}
	}
	add("Found", c.Found)
	add("NotReached", c.NotReached)
	add("BelowStart", c.BelowStart)
	add("NotTried", c.NotTried)
	add("Unusable", c.Unusable)
	add("Missing", c.Missing)
	bounds := map[capacity.Bound]int{}
	for _, t := range c.Trials {
		bounds[t.Bound]++
	}
	add("GeneratorLimited", bounds[capacity.GeneratorLimited])
	add("Disturbed", bounds[capacity.Disturbed])
	return join("; ", words...)
}

// capacityVerdict says who keeps the higher rate: nobody is faster here.
func (v *view) capacityVerdict(r verdict.Result) (words, why string) {
	if r.Verdict == verdict.Better || r.Verdict == verdict.Worse {
		return v.say("capacity." + string(r.Verdict)), ""
	}
	if r.Reason == verdict.BoundsOnly {
		return v.say("verdict." + string(r.Verdict)), v.say("capacity.BoundsOnly")
	}
	return v.rowVerdict(r, r.Verdict, r.Reason)
}

// stepChart shows the steps of one load's searches: a filled point kept the bound, a hollow one missed it.
func (v *view) stepChart(load []capacity.Capacity) chart {
	c := chart{
		Title: v.say("capacity.chart", load[0].Load), Name: v.say("capacity.chart", load[0].Load), Unit: v.say("capacity.unit", load[0].Percentile, load[0].MaxMilliseconds), Height: levelHeight,
	}
	steps, low, high := int32(1), math.Inf(1), 0.0
	for _, one := range load {
		for _, t := range one.Trials {
			for _, s := range t.Steps {
				steps = max(steps, s.Step)
				low, high = min(low, float64(s.Rate)), max(high, float64(s.Rate))
			}
		}
	}
	if high == 0 {
		low, high = 1, 10
	}
	ticks := valueTicks(low, max(high, low*1.01), levelBottom-levelTop)
	y := span{low: ticks[0], high: ticks[len(ticks)-1], from: levelBottom, to: levelTop, log: true}
	for _, t := range ticks {
		at := pixels(y.at(t))
		c.Plot = append(c.Plot, line("0%", at, "100%", at, "grid"))
		c.Axis = append(c.Axis, text("100%", pixels(y.at(t)+4), "end", "tick", axisNumber(t)))
	}
	width := 100 / float64(steps)
	for s := range steps {
		c.Plot = append(c.Plot, text(percentage((float64(s)+0.5)*width), pixels(levelBottom+18), "middle", "tick", integer(int64(s+1))))
	}
	c.Plot = append(c.Plot, text("50%", pixels(levelBottom+35), "middle", "tick faint", v.say("axis.steps")))
	c.MinWidth = int(steps) * len(load) * slotWidth / 2
	for k, one := range load {
		slot := width * (1 - 2*categoryPad) / float64(len(load))
		for _, t := range one.Trials {
			c.Plot = append(c.Plot, v.stepMarks(one, t, y, width*categoryPad+slot*(float64(k)+v.placeOf(t.Block)), width)...)
		}
	}
	return c
}

// placeOf is where a block stands within the place of its implementation, from 0 to 1.
func (v *view) placeOf(block int32) float64 {
	if v.t.Run.Blocks <= 1 {
		return 0.5
	}
	return 0.14 + 0.72*float64(block-1)/float64(v.t.Run.Blocks-1)
}

// stepMarks draws one search: a faint line from step to step, and a point at each.
func (v *view) stepMarks(c capacity.Capacity, t capacity.Trial, y span, left, width float64) []mark {
	var path, out []mark
	look := v.looks[c.Implementation]
	lastX, lastY := "", ""
	for _, s := range t.Steps {
		x, at := percentage(left+width*float64(s.Step-1)), pixels(y.at(y.clip(float64(s.Rate))))
		if lastX != "" {
			path = append(path, line(lastX, lastY, x, at, "path "+look.Class))
		}
		lastX, lastY = x, at
		m := mark{Kind: look.Shape, X: x, Y: at, Class: "dotted point " + look.Class}
		key := "point.met"
		if !s.Met {
			m.Class, key = "dotted hollow "+look.Class, "point.missed"
		}
		m.Title = join(" ", v.say(key, c.Implementation, integer(int64(t.Block)), integer(int64(s.Step)), integer(int64(s.Rate))), s.Why)
		if s.Validity == validity.Void {
			m.Kind, m.Class, m.Title = "cross", "void", v.say("point.void", m.Title)
		}
		out = append(out, m)
	}
	return append(path, out...)
}
