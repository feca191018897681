package profiles

import (
	"path"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

const (
	leastHeld = 0.01
	// treeLines bounds the lines of a tree; the file has all.
	treeLines = 60
	indent    = "\u00a0\u00a0"
)

func (v profiles) heap(name string, m massif.Result, pages bool) part {
	peak := m.Peak()
	if peak == nil || peak.Tree == nil {
		return part{}
	}
	title := v.Say("profiles.peak."+kindOf(pages), name)
	t := table.Table{Head: []table.Cell{v.th("function"), table.Num(v.Say("profiles.held")), table.Num(v.Say("profiles.share")), v.th("where")}}
	var body table.Body
	for _, b := range peak.Tree.Branches(leastHeld, treeLines) {
		body.Rows = append(body.Rows, v.branch(b))
	}
	if len(body.Rows) == 0 {
		return part{}
	}
	t.Bodies = append(t.Bodies, body)
	leads := []string{v.Say("profiles.treeLead")}
	if stacks := m.PeakStacks(); stacks > 0 {
		leads = append([]string{v.Say("profiles.stacks", size(peak.HeapBytes), size(peak.ExtraBytes), size(peak.StackBytes), size(stacks))}, leads...)
	}
	return part{Title: title, Leads: leads, Table: t.Finish(title, false)}
}

func (v profiles) branch(b massif.Branch) table.Row {
	row := table.Row{Cells: []table.Cell{{Mono: true, Wrap: true}, table.Num(size(b.Bytes)), table.Num(format.Percent(b.Share)), {}}}
	switch {
	case b.Cut == 0:
		row.Cells[0].Text, row.Cells[3] = b.Function, table.Wrapped(placeOf(b.Node), "")
	case b.Full:
		row.Muted, row.Cells[0].Text = true, v.Count("profiles.full", b.Cut)
	default:
		row.Muted, row.Cells[0].Text = true, v.Count("profiles.small", b.Cut)
	}
	row.Cells[0].Text = strings.Repeat(indent, b.Depth) + row.Cells[0].Text
	return row
}

func placeOf(n massif.Node) string {
	if n.File == "" {
		return ""
	}
	if n.Line == 0 {
		return path.Base(n.File)
	}
	return path.Base(n.File) + ":" + strconv.Itoa(n.Line)
}

func size(bytes int64) string { return format.Size(float64(bytes)) }

func (v profiles) heapChart(p analysis.Profile) (chart.Chart, bool) {
	var largest int64
	pages := p.Tool == profiler.MassifPages
	alike := func(f analysis.Profiled) bool { return (f.Tool == profiler.MassifPages) == pages }
	for _, f := range p.Found {
		if alike(f) && f.Result != nil && f.Result.Massif != nil {
			largest = max(largest, f.Result.Massif.PeakHeap())
		}
	}
	if largest == 0 {
		return chart.Chart{}, false
	}
	ticks := chart.NiceTicks(float64(largest))
	y := chart.Span{Low: 0, High: ticks[len(ticks)-1], From: chart.Bottom, To: chart.Top}
	c := chart.Chart{
		Title: v.Say("profiles.over." + kindOf(pages)), Unit: v.Say("profiles.unit." + kindOf(pages)), Height: chart.Height, Name: v.Say("profiles.heapName", p.Name),
	}
	c.Grid(y, ticks, func(n float64) string { return format.Size(n) })
	c.Plot = append(c.Plot, chart.Text("50%", chart.Pixels(chart.Height-5), "middle", "tick faint", v.Say("profiles.heapAxis")))
	for _, f := range p.Found {
		if !alike(f) || f.Result == nil || f.Result.Massif == nil || len(f.Result.Massif.Snapshots) == 0 {
			continue
		}
		snapshots := f.Result.Massif.Snapshots
		whole := float64(max(snapshots[len(snapshots)-1].Time, 1))
		var points []string
		for _, s := range snapshots {
			at := y.At(float64(s.HeapBytes)) / chart.Height
			points = append(points, chart.Thousandth(float64(s.Time)/whole)+","+chart.Thousandth(at))
		}
		c.Plot = append(c.Plot, chart.Mark{Kind: "curve", Points: strings.Join(points, " "), Class: "curve thin " + v.Looks[f.Implementation].Class})
	}
	return c, true
}

func kindOf(pages bool) string {
	if pages {
		return "pages"
	}
	return "heap"
}
