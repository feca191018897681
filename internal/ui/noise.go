package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/stats/inference"
)

const mostAA = 200

// AARuns returns ended runs that measure the same server twice: the newest ones, oldest first.
func AARuns(runs []v1alpha1.BenchmarkRun) []v1alpha1.BenchmarkRun {
	var out []v1alpha1.BenchmarkRun
	for i := range runs {
		if runs[i].Status.CompletionTime != nil && compare.MayBeAA(runs[i].Spec) {
			out = append(out, runs[i])
		}
	}
	slices.SortFunc(out, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(a.Status.CompletionTime.Compare(b.Status.CompletionTime.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out[max(0, len(out)-mostAA):]
}

// AARun is an A/A run, and its report's noise.
type AARun struct {
	Namespace, Name string
	compare.Seen
}

// AASeries are A/A runs read so far, oldest first.
type AASeries struct {
	Runs    []AARun
	Reading bool
	Err     error
}

type noiseBody struct {
	Reading  bool
	Trouble  string
	Machines []noisyMachine
	Notes    []string
}

// noisyMachine is one machine, or several that measure together.
type noisyMachine struct {
	Name string
	// Says counts the intervals that exclude a difference of 0 %, and how many do so by chance.
	ID     string
	Says   string
	Charts []chart.Chart
	Rows   []noiseRow

	fingerprint string
	points      []noisePoint
}

type noisePoint struct {
	compare.Value
	run *AARun
}

type noiseRow struct {
	Run                                          link
	Namespace, Image, Measured, Load, Metric     string
	Blocks                                       int
	Ratio, Interval, Width, Detectable, Excludes string
}

// Noise is the page of noise in A/A runs.
func Noise(f Frame, s AASeries) Page {
	body := noiseBody{Reading: s.Reading}
	if s.Err != nil {
		body.Trouble = s.Err.Error()
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Nothing != "" {
			body.Notes = append(body.Notes, fmt.Sprintf("%s/%s is left out: %s", r.Namespace, r.Name, r.Nothing))
			continue
		}
		if r.Bounded > 0 {
			body.Notes = append(body.Notes, fmt.Sprintf("%s/%s shows %d of %d values: a load generator limited or hid the others", r.Namespace, r.Name, len(r.Values), len(r.Values)+r.Bounded))
		}
		body.add(r)
	}
	slices.Reverse(body.Notes)
	slices.SortStableFunc(body.Machines, func(a, b noisyMachine) int { return b.newest().Compare(a.newest()) })
	for i := range body.Machines {
		body.Machines[i].finish(fmt.Sprintf("values-%d", i+1))
	}
	return Page{Frame: f, Title: "Noise", Stream: EventsPath, Data: body, section: NoisePath, body: "noise"}
}

func (b *noiseBody) add(r *AARun) {
	i := slices.IndexFunc(b.Machines, func(m noisyMachine) bool { return m.fingerprint == r.Fingerprint })
	if i < 0 {
		i = len(b.Machines)
		b.Machines = append(b.Machines, noisyMachine{Name: fmt.Sprintf("%s (%s)", cmp.Or(r.Machine, "unknown"), r.Fingerprint), fingerprint: r.Fingerprint})
	}
	for _, v := range r.Values {
		b.Machines[i].points = append(b.Machines[i].points, noisePoint{v, r})
	}
}

func (m noisyMachine) newest() time.Time { return m.points[len(m.points)-1].run.Started }

func (m *noisyMachine) finish(id string) {
	m.ID = id
	of := map[verdict.Metric][]noisePoint{}
	var metrics []verdict.Metric
	for _, p := range m.points {
		if of[p.Metric] == nil {
			metrics = append(metrics, p.Metric)
		}
		of[p.Metric] = append(of[p.Metric], p)
	}
	for _, metric := range metrics {
		c := drawnNoise(of[metric])
		c.Title, c.Unit = format.Capital(phrase.English.Metric(metric)), "of one name against the other"
		c.Name = fmt.Sprintf("%s on %s: two equal servers against each other in A/A runs over time, %s", c.Title, m.Name, leaveOut(of[metric]))
		m.Charts = append(m.Charts, c)
	}
	for _, p := range slices.Backward(m.points) {
		m.Rows = append(m.Rows, p.row())
	}
	m.Says = fmt.Sprintf("%s. By chance, about 1 in %.0f does, or a little more; those of one run tend to go together.", format.Capital(leaveOut(m.points)), 1/inference.Alpha)
}

func leaveOut(points []noisePoint) string {
	some := 0
	for _, p := range points {
		if p.Excludes() {
			some++
		}
	}
	return fmt.Sprintf("%d of %d intervals leave out 0 %%", some, len(points))
}

func (p noisePoint) row() noiseRow {
	r := noiseRow{
		Run: link{p.run.Name, RunPath(p.run.Namespace, p.run.Name)}, Namespace: p.run.Namespace, Image: p.run.Image, Measured: format.Instant(p.run.Started), Load: p.Load,
		Metric: phrase.English.Metric(p.Metric), Blocks: p.Blocks, Ratio: format.Change(p.Ratio), Interval: p.interval(), Width: "± " + format.Percent(p.Width()), Detectable: format.Missing,
	}
	if p.Detectable > 0 {
		r.Detectable = format.Percent(p.Detectable)
	}
	if p.Excludes() {
		r.Excludes = "leaves out 0 %"
	}
	return r
}

func (p noisePoint) interval() string {
	return format.ChangeAs(p.Ratio, p.Low) + " to " + format.ChangeAs(p.Ratio, p.High)
}

// drawnNoise makes a chart of ratios with intervals, and a line at no difference. Runs are equally spaced, whenever measured.
func drawnNoise(points []noisePoint) chart.Chart {
	c := chart.Chart{Height: courseHeight}
	low, high := points[0].Low, points[0].High
	for _, p := range points {
		low, high = min(low, p.Low), max(high, p.High)
	}
	ticks := chart.RatioTicks(low, high)
	y := chart.Span{Low: ticks[0], High: ticks[len(ticks)-1], From: courseBottom, To: courseTop, Log: true}
	c.Grid(y, ticks, format.Change)
	c.Plot = append(c.Plot, chart.Line("0%", chart.Pixels(y.At(1)), "100%", chart.Pixels(y.At(1)), "one"))
	for i, p := range points {
		x, class, kind := chart.Percentage(apart(i, len(points))), "c0", "circle"
		if p.Excludes() {
			class, kind = "off", "diamond"
		}
		c.Plot = append(c.Plot, chart.Line(x, chart.Pixels(y.At(p.Low)), x, chart.Pixels(y.At(p.High)), "whisker "+class))
		at := chart.Mark{Kind: kind, X: x, Y: chart.Pixels(y.At(p.Ratio)), Class: "point " + class}
		at.Title = fmt.Sprintf("%s, %s, %s: %s (%s)", p.run.Name, p.Load, format.Instant(p.run.Started), format.Change(p.Ratio), p.interval())
		c.Plot = append(c.Plot, at)
	}
	at, first, last := apart(0, len(points)), format.Day(points[0].run.Started), format.Day(points[len(points)-1].run.Started)
	c.Plot = append(c.Plot, chart.Text(chart.Percentage(at), chart.Pixels(courseBottom+20), chart.AnchorAt(at), "tick", first))
	if last != first {
		c.Plot = append(c.Plot, chart.Text(chart.Percentage(100-eachSide), chart.Pixels(courseBottom+20), "end", "tick", last))
	}
	return c
}

// Confidence returns the intervals' confidence as text.
func (noiseBody) Confidence() string { return fmt.Sprintf("%.0f %%", 100*inference.Confidence) }
