package chart

import "math"

// Span maps values to a stretch of the picture.
type Span struct {
	Low, High float64
	From, To  float64
	Log       bool
}

// At is the place of a value.
func (s Span) At(v float64) float64 {
	low, high := s.Low, s.High
	if s.Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.From + (v-low)/(high-low)*(s.To-s.From)
}

// Clip keeps a value inside the span.
func (s Span) Clip(v float64) float64 { return min(max(v, s.Low), s.High) }

// Holds reports whether a value lies inside the span.
func (s Span) Holds(v float64) bool { return v >= s.Low && v <= s.High }

// Moved is the same span further down, or further right.
func (s Span) Moved(by float64) Span {
	s.From, s.To = s.From+by, s.To+by
	return s
}
