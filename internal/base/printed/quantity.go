package printed

import (
	"fmt"
	"math"
	"strings"
)

// Quantity is a number as it was printed. The number that was meant lies within Value ± Rounding.
type Quantity struct {
	Value    float64 `json:"value"`
	Rounding float64 `json:"rounding"`
}

// Low is the smallest number that would have been printed so.
func (q Quantity) Low() float64 { return max(q.Value-q.Rounding, 0) }

// High is the largest number that would have been printed so.
func (q Quantity) High() float64 { return q.Value + q.Rounding }

// OrZero is the number that a pointer leads to; zero if it was not printed.
func OrZero(q *Quantity) Quantity {
	if q == nil {
		return Quantity{}
	}
	return *q
}

// Set reads a number as Parse does. A text that cannot be read leaves nothing.
func (q *Quantity) Set(text string, units Units) error {
	read, err := Parse(text, units)
	*q = read
	return err
}

// Units are suffixes and what each multiplies by; longest first where one ends in another.
type Units []struct {
	suffix string
	factor float64
}

// The units in which the tools print.
var (
	// Micros are durations, in microseconds.
	Micros = Units{{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"ns", 1e-3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}}
	// BinaryBytes are sizes in powers of 1024, as wrk prints them.
	BinaryBytes = Units{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}}
	// DecimalBytes are sizes in powers of 1000, as k6 prints them.
	DecimalBytes = Units{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}
	// Thousands are counts that were shortened, as wrk prints them.
	Thousands = Units{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1}}
	// Plain is no unit.
	Plain = Units{{"", 1}}
)

// Parse reads a number with one of the units. Its rounding is half of what its last digit counts.
func Parse(text string, units Units) (Quantity, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		digits = strings.TrimSpace(digits)
		v, err := Number(digits)
		if err != nil {
			return Quantity{}, fmt.Errorf("reading %q: %w", Clip(text, quoted), err)
		}
		return bounded(Quantity{Value: v * u.factor, Rounding: lastDigit(digits) / 2 * u.factor}, text)
	}
	return Quantity{}, fmt.Errorf("reading %q: %w", Clip(text, quoted), ErrNumber)
}

// ParseSpan reads a duration such as "1.62ms" or "1m20.5s" in microseconds, as k6 prints it, which cuts the digits that it leaves out.
func ParseSpan(text string) (Quantity, error) {
	var total, rounding float64
	rest := text
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return !digit(r) && r != '.' })
		if end <= 0 {
			return Quantity{}, fmt.Errorf("reading %q: %w", Clip(text, quoted), ErrNumber)
		}
		tail := strings.IndexFunc(rest[end:], digit)
		if tail < 0 {
			tail = len(rest) - end
		}
		part, err := Parse(rest[:end+tail], Micros)
		if err != nil {
			return Quantity{}, err
		}
		total, rounding, rest = total+part.Value, part.Rounding*2, rest[end+tail:]
	}
	if text == "" {
		return Quantity{}, fmt.Errorf("reading a duration: %w", ErrNumber)
	}
	return bounded(Quantity{Value: total, Rounding: rounding}, text)
}

func bounded(q Quantity, text string) (Quantity, error) {
	if q.Value > Largest {
		return Quantity{}, fmt.Errorf("reading %q: it is out of range", Clip(text, quoted))
	}
	return q, nil
}

// lastDigit is what the last digit of a decimal number counts.
func lastDigit(digits string) float64 {
	_, fraction, _ := strings.Cut(digits, ".")
	return math.Pow(10, -float64(len(fraction)))
}
