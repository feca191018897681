package report

import (
	"fmt"
	"math"
	"strconv"
)

// mark is one thing in a picture. Horizontal places are percentages of the picture's width, so that it grows and shrinks with the
// window while its text keeps its size; vertical places are pixels.
type mark struct {
	// Kind is line, band, text, curve, area, or a shape: circle, square, triangle, diamond, cross, up, down, dot.
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
	// Name is what the picture is called for who cannot see it.
	Name   string
	Height int
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

// limitClass is the class of what a limit is drawn in.
const limitClass = "climit"

func lookOf(index int, limit bool) look {
	if limit {
		return look{Class: limitClass, Shape: "diamond"}
	}
	return look{Class: fmt.Sprintf("c%d", index%colours), Shape: shapes[index%len(shapes)]}
}
