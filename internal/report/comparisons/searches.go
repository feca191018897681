package comparisons

import (
	_ "embed"
	"math"

	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed searches.gohtml
var searchText string

var searchTemplates = page.Templates(searchText)

type searches struct{ *view.View }

type capacities struct {
	Leads  []string
	Table  table.Table
	Legend []chart.Legend
	Charts []chart.Chart
}

// Capacity is the section on the results of searches.
func Capacity(w *view.View) page.Section {
	v := searches{w}
	s := page.Section{ID: "capacity", Title: v.Say("capacity.title"), Templates: searchTemplates}
	if len(v.Table.Capacities) > 0 {
		s.Data = v.capacities(s.Title)
	}
	return s
}

func (v searches) capacities(title string) capacities {
	c := capacities{Legend: v.Legend(v.Table.Implementations), Leads: []string{v.Say("capacity.lead", v.Confidence()), v.Say("capacity.family")}}
	c.Leads = append(append(c.Leads, v.Mixes()...), v.Protocols()...)
	c.Table.Head = []table.Cell{
		v.Th("impl"), v.ThNum("sustained"), v.ThInterval(), v.ThNum("n"), v.Th("searches"), v.ThNum("change"),
		v.ThInterval(), v.ThNum("padj"), v.Th("verdict"),
	}
	c.Table.Head[1].Sub, c.Table.Head[5].Sub = v.Say("unit.rate"), v.Say("capacity.to", v.Table.Run.Baseline)
	for _, load := range v.byLoad() {
		c.Charts = append(c.Charts, v.stepChart(load))
		s := table.Body{
			Title:  load[0].Load,
			Detail: v.Say("capacity.bound", load[0].Percentile, load[0].MaxMilliseconds, v.Count("connections", int(load[0].Connections))),
		}
		for _, one := range load {
			s.Rows = append(s.Rows, v.capacityRow(one))
		}
		c.Table.Bodies = append(c.Table.Bodies, s)
	}
	c.Table = c.Table.Finish(title, true)
	return c
}

func (v searches) byLoad() [][]capacity.Capacity {
	var out [][]capacity.Capacity
	for _, c := range v.Table.Capacities {
		if len(out) == 0 || out[len(out)-1][0].Load != c.Load {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

func (v searches) capacityRow(c capacity.Capacity) table.Row {
	look := v.Looks[c.Implementation]
	kept, interval, n := v.Mean(c.Rate, format.Rate), format.Missing, 0
	switch missed := c.Missed(); {
	case c.IsBound:
		kept = v.Say("atleast", kept)
	case c.Rate == nil && missed > 0:
		kept = v.Say("atmost", format.Rate(missed))
	}
	if s := c.Rate; s != nil {
		n = s.N
		interval = v.Limits(s.Low, s.High, format.Rate)
	}
	cells := []table.Cell{
		{Text: c.Implementation, Look: &look},
		table.Num(kept), table.Num(interval), table.Count(n), table.Wrapped(v.searchOutcomes(c), ""),
		table.Num(format.Missing), table.Num(format.Missing), table.Num(format.Missing), table.Word(""),
	}
	if r := c.ToBaseline; r != nil {
		verdict, why := v.CapacityVerdict(*r)
		copy(cells[5:], []table.Cell{
			table.Num(v.ChangeOf(*r)), table.Num(v.ChangeLimits(*r)), table.Num(format.Probability(r.AdjustedP)),
			{Text: verdict, Sub: why, Tone: view.Tone(r.Verdict)},
		})
	}
	return table.Row{Cells: cells, Notes: v.NotesOf(c.Findings, len(c.Trials))}
}

func (v searches) searchOutcomes(c capacity.Capacity) string {
	var words []string
	add := func(key string, n int) {
		if n > 0 {
			words = append(words, v.Say("searches."+key, format.Integer(n)))
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
	return format.Join("; ", words...)
}

// stepChart shows a load's searches: filled points met the bound, hollow ones missed it.
func (v searches) stepChart(load []capacity.Capacity) chart.Chart {
	c := chart.Chart{
		Title: v.Say("capacity.chart", load[0].Load), Name: v.Say("capacity.chart", load[0].Load),
		Unit: v.Say("capacity.unit", load[0].Percentile, load[0].MaxMilliseconds), Height: chart.Height,
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
	ticks := chart.ValueTicks(low, max(high, low*1.01), chart.Bottom-chart.Top)
	y := chart.Span{Low: ticks[0], High: ticks[len(ticks)-1], From: chart.Bottom, To: chart.Top, Log: true}
	c.Grid(y, ticks, format.TickNumber)
	width := 100 / float64(steps)
	for s := range steps {
		middle := chart.Percentage((float64(s) + 0.5) * width)
		c.Plot = append(c.Plot, chart.Text(middle, chart.Pixels(chart.Bottom+18), "middle", "tick", format.Integer(s+1)))
	}
	c.Plot = append(c.Plot, chart.Text("50%", chart.Pixels(chart.Bottom+35), "middle", "tick faint", v.Say("axis.steps")))
	c.MinWidth = int(steps) * len(load) * chart.SlotWidth / 2
	for k, one := range load {
		slot := width * (1 - 2*chart.Pad) / float64(len(load))
		for _, t := range one.Trials {
			c.Plot = append(c.Plot, v.stepMarks(one, t, y, width*chart.Pad+slot*(float64(k)+v.placeOf(t.Block)), width)...)
		}
	}
	return c
}

func (v searches) placeOf(block int32) float64 {
	if v.Table.Run.Blocks <= 1 {
		return 0.5
	}
	return 0.14 + 0.72*float64(block-1)/float64(v.Table.Run.Blocks-1)
}

func (v searches) stepMarks(c capacity.Capacity, t capacity.Trial, y chart.Span, left, width float64) []chart.Mark {
	var path, out []chart.Mark
	look := v.Looks[c.Implementation]
	lastX, lastY := "", ""
	for _, s := range t.Steps {
		x, at := chart.Percentage(left+width*float64(s.Step-1)), chart.Pixels(y.At(y.Clip(float64(s.Rate))))
		if lastX != "" {
			path = append(path, chart.Line(lastX, lastY, x, at, "path "+look.Class))
		}
		lastX, lastY = x, at
		m := chart.Mark{Kind: look.Shape, X: x, Y: at, Class: "dotted point " + look.Class}
		key := "point.met"
		if !s.Met {
			m.Class, key = "dotted hollow "+look.Class, "point.missed"
		}
		m.Title = format.Join(" ", v.Say(key, c.Implementation, format.Integer(t.Block), format.Integer(s.Step), format.Integer(s.Rate)), s.Why)
		if s.Validity == validity.Void {
			m.Kind, m.Class, m.Title = "cross", "void", v.Say("point.void", m.Title)
		}
		out = append(out, m)
	}
	return append(path, out...)
}
