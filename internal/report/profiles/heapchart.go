package profiles

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
)

// heapChart draws the heap of every implementation over its run; false if nobody's was measured.
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

// kindOf is the word of what a tool measures: pages that the kernel gives, or the heap that the allocator gives.
func kindOf(pages bool) string {
	if pages {
		return "pages"
	}
	return "heap"
}
