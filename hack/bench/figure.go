package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// figure is one number with what it should be.
type figure struct {
	name  string
	value float64
	unit  string
	aim   aim
	// note says how many values there were and how they spread.
	note string
}

// aim is a limit: an upper one, or else a lower one.
type aim struct {
	limit float64
	lower bool
}

func atMost(limit float64) aim  { return aim{limit: limit} }
func atLeast(limit float64) aim { return aim{limit: limit, lower: true} }

func (a aim) met(value float64) bool {
	if a.lower {
		return value >= a.limit
	}
	return value <= a.limit
}

func (a aim) String() string {
	sign := "<="
	if a.lower {
		sign = ">="
	}
	return sign + strconv.FormatFloat(a.limit, 'f', -1, 64)
}

// line is how a figure is printed. The value has four significant digits; it is judged as it is.
func (f figure) line() string {
	verdict := "short"
	if f.aim.met(f.value) {
		verdict = "met"
	}
	return strings.Join([]string{f.name, fmt.Sprintf("%.4g", f.value), f.unit, f.aim.String(), verdict, f.note}, "\t")
}

// median is the middle value, or the mean of the two in the middle; 0 of nothing.
func median(values []time.Duration) time.Duration {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// spread tells number, least and largest of some durations.
func spread(values []time.Duration) string {
	if len(values) == 0 {
		return "n=0"
	}
	return fmt.Sprintf("n=%d, %.3f to %.3f s", len(values), slices.Min(values).Seconds(), slices.Max(values).Seconds())
}
