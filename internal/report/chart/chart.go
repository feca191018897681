package chart

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
)

// Mark is one element of a picture. Horizontal places are percentages, so the picture scales with the window while
// text keeps its size; vertical places are pixels.
type Mark struct {
	// Kind is line, band, text, curve, area, or a shape: circle, square, triangle, diamond, cross, up, down, dot.
	Kind string
	// X, Y, X2 and Y2 are places; W and H are a band's size.
	X, Y, X2, Y2, W, H string
	// Class, Anchor and Points are ours. Text and Title may come from outside; the template escapes them.
	Class, Anchor, Points string
	Text, Title           string
}

// Chart is a picture with an axis on its left.
type Chart struct {
	Title, Unit string
	// Name describes the picture for screen readers.
	Name   string
	Height int
	// MinWidth keeps levels apart; in a narrower window the picture scrolls.
	MinWidth int
	Axis     []Mark
	Plot     []Mark
}

const halfWidth = 500

// Wide reports whether the chart needs the full page width.
func (c Chart) Wide() bool { return c.MinWidth > halfWidth }

// Grid draws a line at each tick and labels it on the left.
func (c *Chart) Grid(y Span, ticks []float64, label func(float64) string) {
	for _, t := range ticks {
		at := Pixels(y.At(t))
		c.Plot = append(c.Plot, Line("0%", at, "100%", at, "grid"))
		c.Axis = append(c.Axis, Text("100%", Pixels(y.At(t)+4), "end", "tick", label(t)))
	}
}

const (
	Height = 250
	Top    = 24
	Bottom = 212
	Pad    = 0.09
	// SlotWidth is an implementation's least width in a category, in pixels.
	SlotWidth = 26
)

// Percentage prints a horizontal place.
func Percentage(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "%" }

// Pixels prints a vertical place.
func Pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// Line draws a straight line.
func Line(x, y, x2, y2, class string) Mark {
	return Mark{Kind: "line", X: x, Y: y, X2: x2, Y2: y2, Class: class}
}

// Text writes words.
func Text(x, y, anchor, class, words string) Mark {
	return Mark{Kind: "text", X: x, Y: y, Anchor: anchor, Class: class, Text: words}
}

// Templates print looks, legends, marks and charts.
//
//go:embed chart.gohtml
var Templates string

// AnchorAt keeps labels at the edges inside the picture.
func AnchorAt(x float64) string {
	switch {
	case x < 5:
		return "start"
	case x > 95:
		return "end"
	}
	return "middle"
}

// Thousandth places a share in a 1,000 by 1,000 square that is stretched over a picture.
func Thousandth(share float64) string { return strconv.FormatFloat(math.Round(share*1e3), 'f', 0, 64) }

// shapes distinguish implementations without color.
var shapes = []string{"circle", "square", "triangle", "diamond"}

// colours is the number of colours in the style sheet.
const colours = 8

// Look is how an implementation is drawn.
type Look struct{ Class, Shape string }

// ReferenceClass is the class of references.
const ReferenceClass = "creference"

// LookOf returns the look of an implementation by index, or of a reference.
func LookOf(index int, reference bool) Look {
	if reference {
		return Look{Class: ReferenceClass, Shape: "diamond"}
	}
	return Look{Class: fmt.Sprintf("c%d", index%colours), Shape: shapes[index%len(shapes)]}
}

// Legend is one implementation's mark.
type Legend struct {
	Name string
	Note string
	Look Look
}

// Span maps values to a part of the picture.
type Span struct {
	Low, High float64
	From, To  float64
	Log       bool
}

// At returns the place of a value.
func (s Span) At(v float64) float64 {
	low, high := s.Low, s.High
	if s.Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.From + (v-low)/(high-low)*(s.To-s.From)
}

// Clip limits a value to the span.
func (s Span) Clip(v float64) float64 { return min(max(v, s.Low), s.High) }

// Holds reports whether a value lies inside the span.
func (s Span) Holds(v float64) bool { return v >= s.Low && v <= s.High }

// Moved returns the span shifted down, or right.
func (s Span) Moved(by float64) Span {
	s.From, s.To = s.From+by, s.To+by
	return s
}
