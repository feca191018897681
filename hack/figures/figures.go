// Package figures holds a number against what it should be and prints it as a line: name, value, unit, aim, verdict and note. It also
// makes a ratio with its interval out of ratios that were measured in pairs.
//
// It measures nothing, and knows no figure by name.
package figures

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
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

// Aim is a limit, and what of a figure is held against it. The zero Aim is none.
type Aim struct {
	sign  string
	limit float64
	// upTo is the other limit of a value that is to lie between two.
	upTo float64
	// bound is true if the worse end of the interval is held against the limit; otherwise the value is, and its interval is for the reader.
	bound bool
	// tolerance is the share of the limit by which a bound may lie beyond it.
	tolerance float64
}

const (
	most    = "<="
	least   = ">="
	between = ".."
	around  = "~"
)

// AtMost is an upper limit of the value.
func AtMost(limit float64) Aim { return Aim{sign: most, limit: limit} }

// AtLeast is a lower limit of the value.
func AtLeast(limit float64) Aim { return Aim{sign: least, limit: limit} }

// Within is a lower and an upper limit of the value.
func Within(low, high float64) Aim { return Aim{sign: between, limit: low, upTo: high} }

// Around is a value that the interval is to hold.
func Around(value float64) Aim { return Aim{sign: around, limit: value, bound: true} }

// Bound holds the worse end of the interval against the limit, which it may miss by a share: with a share of 0 the whole interval
// must keep the limit, with another a figure at parity can be met, which no interval around 1 could without.
func (a Aim) Bound(tolerance float64) Aim {
	a.bound, a.tolerance = true, tolerance
	return a
}

// met judges a value, or an end of its interval where it has one.
func (a Aim) met(value float64, i Interval) bool {
	if a.sign == around {
		return i.Low <= a.limit && a.limit <= i.High
	}
	if a.sign == between {
		if a.bound && i != (Interval{}) {
			return i.Low >= a.limit && i.High <= a.upTo
		}
		return value >= a.limit && value <= a.upTo
	}
	if a.bound && i != (Interval{}) {
		value = i.High
		if a.sign == least {
			value = i.Low
		}
	}
	if a.sign == least {
		return value >= a.limit*(1-a.tolerance)
	}
	return value <= a.limit*(1+a.tolerance)
}

// String is the aim as the table of figures has it.
func (a Aim) String() string {
	if a == (Aim{}) {
		return "-"
	}
	if a.sign == between {
		text := strconv.FormatFloat(a.limit, 'f', -1, 64) + between + strconv.FormatFloat(a.upTo, 'f', -1, 64)
		if a.bound {
			text += " (bound)"
		}
		return text
	}
	text := a.sign + strconv.FormatFloat(a.limit, 'f', -1, 64)
	if a.sign == around {
		return text + " (within its interval)"
	}
	switch {
	case a.tolerance > 0:
		text += " (bound within " + strconv.FormatFloat(100*a.tolerance, 'f', -1, 64) + " %)"
	case a.bound:
		text += " (bound)"
	}
	return text
}

// Confidence is that of the intervals that are printed.
const Confidence = 0.99

// Interval is a geometric mean of ratios with the interval of the paired t on their logs.
type Interval struct{ Mean, Low, High float64 }

// String is the interval as the note of a figure has it.
func (i Interval) String() string {
	return fmt.Sprintf("%.0f %% interval %.4g to %.4g", 100*Confidence, i.Low, i.High)
}

// Geometric needs two ratios or more, all of them positive.
func Geometric(ratios []float64) (Interval, error) {
	n := float64(len(ratios))
	if n < 2 {
		return Interval{}, errors.New("computing an interval: fewer than two pairs")
	}
	var sum, squares float64
	for _, r := range ratios {
		if !(r > 0) || math.IsInf(r, 1) {
			return Interval{}, errors.New("computing an interval: a ratio is not positive and finite")
		}
		sum += math.Log(r)
	}
	mean := sum / n
	for _, r := range ratios {
		squares += (math.Log(r) - mean) * (math.Log(r) - mean)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - (1-Confidence)/2)
	half := t * math.Sqrt(squares/(n-1)/n)
	return Interval{math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)}, nil
}
