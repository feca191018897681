package report

import (
	"fmt"
	"math"
	"strconv"
)

// mark is one thing in a picture. Horizontal places are percentages of the picture's width, so that it grows and shrinks with the
// window while its text keeps its size; vertical places are pixels.
type mark struct {
	// Kind is line, band, text, curve, or a shape: circle, square, triangle, diamond, cross.
	Kind string
	// X, Y, X2, Y2 are places; W and H are a band's size.
	X, Y, X2, Y2, W, H string
	// Class, Anchor and Points are ours; Text and Title may hold words from outside, and are escaped by the template.
	Class, Anchor, Points string
	Text, Title           string
}

// chart is a picture with an axis on its left.
type chart struct {
	Title, Unit string
	Height      int
	// MinWidth keeps many levels apart; the picture scrolls if the window is narrower.
	MinWidth int
	Axis     []mark
	Plot     []mark
}

// halfWidth is about what the plot of a chart has in pixels where two charts stand side by side.
const halfWidth = 500

// Wide says whether the chart needs the whole width of the page.
func (c chart) Wide() bool { return c.MinWidth > halfWidth }

func percentage(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "%" }
func pixels(v float64) string     { return strconv.FormatFloat(v, 'f', 1, 64) }

// span maps values to a stretch of the picture.
type span struct {
	low, high float64
	from, to  float64
	log       bool
}

func (s span) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// clip keeps a value inside the span.
func (s span) clip(v float64) float64 { return min(max(v, s.low), s.high) }

// holds says whether a value lies inside the span.
func (s span) holds(v float64) bool { return v >= s.low && v <= s.high }

// niceTicks are round numbers from 0 to at least the largest value, about four of them.
func niceTicks(largest float64) []float64 {
	if largest <= 0 {
		return []float64{0, 1}
	}
	unit := math.Pow(10, math.Floor(math.Log10(largest)))
	step := unit
	for _, s := range []float64{0.2, 0.25, 0.5, 1, 2} {
		if largest/(s*unit) <= 5 {
			step = s * unit
			break
		}
	}
	ticks := []float64{0}
	for k := 1; ticks[len(ticks)-1] < largest; k++ {
		ticks = append(ticks, float64(k)*step)
	}
	return ticks
}

// ratioTicks are round ratios within a span, thinned until they have room.
func ratioTicks(s span) []float64 {
	for _, steps := range [][]float64{
		{0.96, 0.98, 1, 1.02, 1.04},
		{0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.25},
		{0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 1.8, 2},
		{0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5},
		{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20},
	} {
		var in []float64
		for _, t := range steps {
			if s.holds(t) {
				in = append(in, t)
			}
		}
		covered := steps[0] <= s.low*1.1 && steps[len(steps)-1] >= s.high/1.1
		if covered && len(in) <= 9 {
			return in
		}
	}
	return []float64{0.01, 0.1, 1, 10, 100}
}

// decades are 1, 2 and 5 times the powers of ten within a span, or the powers alone where those are many.
func decades(s span) []float64 {
	steps := []float64{1, 2, 5}
	if math.Log10(s.high/s.low) > 2.2 {
		steps = []float64{1}
	}
	var out []float64
	for e := math.Floor(math.Log10(s.low)); e <= math.Ceil(math.Log10(s.high)); e++ {
		for _, k := range steps {
			if v := k * math.Pow(10, e); s.holds(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func line(x, y, x2, y2, class string) mark {
	return mark{Kind: "line", X: x, Y: y, X2: x2, Y2: y2, Class: class}
}

func text(x, y, anchor, class, words string) mark {
	return mark{Kind: "text", X: x, Y: y, Anchor: anchor, Class: class, Text: words}
}

// shapes tell implementations apart where colours cannot.
var shapes = []string{"circle", "square", "triangle", "diamond"}

// colours is the number of colours in the style sheet.
const colours = 8

// look is how an implementation is drawn.
type look struct{ Class, Shape string }

func lookOf(index int, limit bool) look {
	if limit {
		return look{Class: "climit", Shape: "diamond"}
	}
	return look{Class: fmt.Sprintf("c%d", index%colours), Shape: shapes[index%len(shapes)]}
}
