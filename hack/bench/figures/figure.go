package figures

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figure is one number with what it should be.
type Figure struct {
	Name  string
	Value float64
	// Interval is that of the value, if it is a mean that has one. An aim says whether it is judged instead of the value.
	Interval Interval
	Unit     string
	Aim      Aim
	// Note says how many values there were and how they spread.
	Note string
	// Missing says why there is no value; it is empty if there is one.
	Missing string
}

// Of is a figure without an interval.
func Of(name string, value float64, unit string, aim Aim, note string) Figure {
	return Figure{Name: name, Value: value, Unit: unit, Aim: aim, Note: note}
}

// Verdict is "met" or "short"; "-" of a figure that has no aim.
func (f Figure) Verdict() string {
	switch {
	case f.Missing != "":
		return "not measured"
	case f.Aim == Aim{}:
		return "-"
	case f.Aim.met(f.Value, f.Interval):
		return "met"
	}
	return "short"
}

// Line is how a figure is printed. The value has four significant digits; it is judged as it is.
func (f Figure) Line() string {
	value, note := fmt.Sprintf("%.4g", f.Value), f.Note
	if f.Missing != "" {
		value, note = "-", f.Missing
	}
	return strings.Join([]string{f.Name, value, f.Unit, f.Aim.String(), f.Verdict(), note}, "\t")
}

// Median is the middle value, or the mean of the two in the middle; 0 of nothing.
func Median(values []time.Duration) time.Duration {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Spread tells number, least and largest of some durations.
func Spread(values []time.Duration) string {
	if len(values) == 0 {
		return "n=0"
	}
	return fmt.Sprintf("n=%d, %.3f to %.3f s", len(values), slices.Min(values).Seconds(), slices.Max(values).Seconds())
}
