package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/suite/history"
)

type historyBody struct {
	Reading bool
	Trouble string
	Losses  []string
	Groups  []courses
	// Notes qualify the comparison of values; Worth says how reliable change points are.
	Notes []string
	Worth string
}

type courses struct {
	Title string
	All   []course
}

type course struct {
	ID      string
	Chart   chart.Chart
	Changes []string
	Young   string
	Values  []value
}

type value struct {
	Round, Blocks int
	Started, Text string
}

func historyOf(c Course) historyBody {
	body := historyBody{Reading: c.Reading}
	if c.Err != nil {
		body.Trouble = c.Err.Error()
	}
	h := c.History
	for _, l := range h.Losses() {
		body.Losses = append(body.Losses, l.Text)
	}
	for i, s := range h.Series {
		title := s.Run + ", " + s.Load
		if n := len(body.Groups); n == 0 || body.Groups[n-1].Title != title {
			body.Groups = append(body.Groups, courses{Title: title})
		}
		g := &body.Groups[len(body.Groups)-1]
		g.All = append(g.All, courseOf(s, fmt.Sprintf("values-%d", i+1)))
		for _, b := range s.Breaks {
			note := fmt.Sprintf("%s, round %d: not compared with the rounds before: %s", s.Run, b.Round, b.Why)
			if !slices.Contains(body.Notes, note) {
				body.Notes = append(body.Notes, note)
			}
		}
	}
	for _, g := range h.Gaps {
		body.Notes = append(body.Notes, fmt.Sprintf("%s, round %d: left out: %s", g.Run, g.Round, g.Reason))
	}
	body.Worth = h.Worth()
	return body
}

func courseOf(s history.Series, id string) course {
	c := course{ID: id, Young: s.Young()}
	for i := len(s.Points) - 1; i >= 0; i-- {
		c.Changes = append(c.Changes, s.Say(s.Points[i]))
	}
	for i := len(s.Values) - 1; i >= 0; i-- {
		v := s.Values[i]
		c.Values = append(c.Values, value{int(v.Round), v.Blocks, format.Instant(v.Started), s.Text(v.Value)})
	}
	better := "less is better"
	if s.Metric.MoreIsBetter() {
		better = "more is better"
	}
	unit := s.Unit
	if s.Baseline != "" {
		unit = "ratio to " + s.Baseline
	}
	c.Chart = drawn(s)
	c.Chart.Title = format.Capital(phrase.English.Metric(s.Metric)) + " of " + s.Implementation
	c.Chart.Unit = unit + ", " + better
	c.Chart.Name = fmt.Sprintf("%s, %s, over %d rounds. %s", c.Chart.Title, c.Chart.Unit, len(s.Values), strings.Join(c.Changes, "; "))
	return c
}

const (
	courseHeight, courseTop, courseBottom = 200, 26, 164
	// leastSpan is the minimum axis range relative to its middle, so that ordinary noise does not look like a trend.
	leastSpan  = 0.04
	ticksAbout = 4
	eachSide   = 3.0
)

// drawn makes a series' chart: values by round, levels between changes, changes and breaks.
func drawn(s history.Series) chart.Chart {
	c := chart.Chart{Height: courseHeight}
	low, high := s.Values[0].Value, s.Values[0].Value
	for _, v := range s.Values {
		low, high = min(low, v.Value), max(high, v.Value)
	}
	ticks, decimals := axis(low, high)
	y := chart.Span{Low: ticks[0], High: ticks[len(ticks)-1], From: courseBottom, To: courseTop}
	c.Grid(y, ticks, func(v float64) string { return tick(s, v, decimals) })
	breaks := breaksOf(s)
	c.Plot = append(c.Plot, lines(s, y, breaks)...)
	for _, p := range s.Points {
		class := "change better"
		if p.Worse {
			class = "change worse"
		}
		c.Plot = append(c.Plot, upright(s, p.At, class), label(s, p.At, p.Round, class, p.Worse))
	}
	for _, b := range breaks {
		c.Plot = append(c.Plot, upright(s, b, "break"))
	}
	for i, v := range s.Values {
		at := chart.Mark{Kind: "circle", X: chart.Percentage(across(s, i)), Y: chart.Pixels(y.At(v.Value)), Class: "point c0"}
		at.Title = fmt.Sprintf("round %d: %s", v.Round, s.Text(v.Value))
		c.Plot = append(c.Plot, at)
	}
	last := len(s.Values) - 1
	c.Plot = append(c.Plot, chart.Text(chart.Percentage(across(s, 0)), chart.Pixels(courseBottom+20), "start", "tick", fmt.Sprintf("round %d", s.Values[0].Round)))
	if last > 0 {
		c.Plot = append(c.Plot, chart.Text(chart.Percentage(across(s, last)), chart.Pixels(courseBottom+20), "end", "tick", fmt.Sprintf("round %d", s.Values[last].Round)))
	}
	return c
}

func across(s history.Series, i int) float64 { return apart(i, len(s.Values)) }

func apart(i, of int) float64 {
	if of == 1 {
		return 50
	}
	return eachSide + float64(i)/float64(of-1)*(100-2*eachSide)
}

func upright(s history.Series, at int, class string) chart.Mark {
	x := chart.Percentage((across(s, at-1) + across(s, at)) / 2)
	return chart.Line(x, chart.Pixels(courseTop-8), x, chart.Pixels(courseBottom), class)
}

func label(s history.Series, at int, round int32, class string, worse bool) chart.Mark {
	word := "better"
	if worse {
		word = "worse"
	}
	x := (across(s, at-1) + across(s, at)) / 2
	return chart.Text(chart.Percentage(x), chart.Pixels(courseTop-13), chart.AnchorAt(x), "tick "+class, fmt.Sprintf("round %d: %s", round, word))
}

func breaksOf(s history.Series) []int {
	var out []int
	for _, b := range s.Breaks {
		if i := slices.IndexFunc(s.Values, func(v history.Value) bool { return v.Round == b.Round }); i > 0 {
			out = append(out, i)
		}
	}
	return out
}

// lines joins values between two breaks, and draws the levels around each change.
func lines(s history.Series, y chart.Span, breaks []int) []chart.Mark {
	var out []chart.Mark
	from := 0
	for _, to := range append(slices.Clone(breaks), len(s.Values)) {
		var points []string
		for i := from; i < to; i++ {
			points = append(points, chart.Thousandth(across(s, i)/100)+","+chart.Thousandth(y.At(s.Values[i].Value)/courseHeight))
		}
		out = append(out, chart.Mark{Kind: "curve", Points: strings.Join(points, " "), Class: "curve thin course c0"})
		from = to
	}
	level := func(from, to int, v float64) {
		at := chart.Pixels(y.At(v))
		out = append(out, chart.Line(chart.Percentage(across(s, from)), at, chart.Percentage(across(s, to-1)), at, "mean c0"))
	}
	for _, p := range s.Points {
		level(p.At-p.BeforeN, p.At, p.Before)
		level(p.At, p.At+p.AfterN, p.After)
	}
	return out
}

func axis(low, high float64) (ticks []float64, decimals int) {
	middle := (low + high) / 2
	if least := math.Abs(middle) * leastSpan; high-low < least {
		low, high = middle-least/2, middle+least/2
	}
	if high == low {
		high = low + 1
	}
	rough := (high - low) / ticksAbout
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if m*step >= rough*(1-1e-9) {
			step *= m
			break
		}
	}
	decimals = max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if scaled := step * math.Pow(10, float64(decimals)); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
		decimals++
	}
	for k := math.Floor(low/step + 1e-9); ; k++ {
		ticks = append(ticks, k*step)
		if k*step >= high-1e-9*step {
			return ticks, decimals
		}
	}
}

func tick(s history.Series, v float64, decimals int) string {
	if s.Baseline == "" && v >= 1e4 {
		return format.TickNumber(v)
	}
	text := format.Thousands(strconv.FormatFloat(v, 'f', decimals, 64))
	if s.Baseline != "" {
		text += "×"
	}
	return text
}
