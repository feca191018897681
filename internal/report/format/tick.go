package format

import (
	"fmt"
	"math"
	"strconv"
)

// nearly forgives what the arithmetic of a tick loses.
const nearly = 1e-9

// TickMicros prints a round tick without decimals.
func TickMicros(v float64) string {
	s := scale(v*(1+nearly), microsScales)
	return Integer(int64(math.Round(v/s.factor))) + " " + s.unit
}

// TickNumber prints a tick shortly: 50k rather than 50,000.
func TickNumber(t float64) string {
	switch {
	case t >= 1e6:
		return fmt.Sprintf("%gM", t/1e6)
	case t >= 1e4:
		return fmt.Sprintf("%gk", t/1e3)
	}
	return fmt.Sprintf("%g", t)
}

// TickChange labels a round ratio in the form of an effect.
func TickChange(t float64) string {
	number := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) }
	switch {
	case t >= Manyfold*(1-nearly):
		return Thousands(number(t)) + "×"
	case math.Abs(t-1) < nearly:
		return "0 %"
	case t < 1:
		return "−" + number((1-t)*100) + " %"
	}
	return "+" + number((t-1)*100) + " %"
}
