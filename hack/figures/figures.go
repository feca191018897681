// Package figures compares numbers with their aims and prints each in a line: name, value, unit, aim, verdict and note.
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

// Figure is a number and its aim.
type Figure struct {
	Name  string
	Value float64
	// Interval is the interval of a mean. The aim says whether it is judged instead of the value.
	Interval Interval
	Unit     string
	Aim      Aim
	Note     string
	// Missing says why there is no value.
	Missing string
}

// Of is a figure without an interval.
func Of(name string, value float64, unit string, aim Aim, note string) Figure {
	return Figure{Name: name, Value: value, Unit: unit, Aim: aim, Note: note}
}

// Verdict is "met", "short", or "-" without an aim.
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

// Line prints the figure with four significant digits. The exact value is judged.
func (f Figure) Line() string {
	value, note := fmt.Sprintf("%.4g", f.Value), f.Note
	if f.Missing != "" {
		value, note = "-", f.Missing
	}
	return strings.Join([]string{f.Name, value, f.Unit, f.Aim.String(), f.Verdict(), note}, "\t")
}

// Median returns 0 for no values.
func Median(values []time.Duration) time.Duration {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Spread prints the number, minimum and maximum of durations.
func Spread(values []time.Duration) string {
	if len(values) == 0 {
		return "n=0"
	}
	return fmt.Sprintf("n=%d, %.3f to %.3f s", len(values), slices.Min(values).Seconds(), slices.Max(values).Seconds())
}

// Aim is a limit, and how a figure is compared with it. The zero value is no aim.
type Aim struct {
	sign  string
	limit float64
	// upTo is the upper limit of a range.
	upTo float64
	// bound: the worse end of the interval is judged instead of the value.
	bound bool
	// A bound may miss the limit by this share of it.
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

// Within is an inclusive range of the value.
func Within(low, high float64) Aim { return Aim{sign: between, limit: low, upTo: high} }

// Around requires an interval that includes a value.
func Around(value float64) Aim { return Aim{sign: around, limit: value, bound: true} }

// Bound judges the worse end of the interval, with a tolerance. With 0 the whole interval must be within the limit. An equal figure needs a
// tolerance, since its interval includes 1.
func (a Aim) Bound(tolerance float64) Aim {
	a.bound, a.tolerance = true, tolerance
	return a
}

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

// String prints the aim as in the table of figures.
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

// Confidence is the level of all printed intervals.
const Confidence = 0.99

// Interval is a geometric mean of ratios, with the interval of the paired t test on their logs.
type Interval struct{ Mean, Low, High float64 }

// String prints the interval for a note.
func (i Interval) String() string {
	return fmt.Sprintf("%.0f %% interval %.4g to %.4g", 100*Confidence, i.Low, i.High)
}

// Geometric needs at least two positive ratios.
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
