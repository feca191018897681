package printed

import (
	"fmt"
	"math"
	"strings"
)

// Quantity is a printed number. The exact one lies within Value ± Rounding.
type Quantity struct {
	Value    float64 `json:"value"`
	Rounding float64 `json:"rounding"`
}

// Low is the smallest number that prints like this.
func (q Quantity) Low() float64 { return max(q.Value-q.Rounding, 0) }

// High is the largest number that prints like this.
func (q Quantity) High() float64 { return q.Value + q.Rounding }

// OrZero returns *q, or zero for nil.
func OrZero(q *Quantity) Quantity {
	if q == nil {
		return Quantity{}
	}
	return *q
}

// Set parses a number like Parse. On error q is zero.
func (q *Quantity) Set(text string, units Units) error {
	read, err := Parse(text, units)
	*q = read
	return err
}

// Units are suffixes and their factors; a suffix precedes those that it ends with.
type Units []struct {
	suffix string
	factor float64
}

var (
	// Micros are durations, in microseconds.
	Micros = Units{{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"ns", 1e-3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}}
	// BinaryBytes are sizes in powers of 1024, as in wrk.
	BinaryBytes = Units{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}}
	// DecimalBytes are sizes in powers of 1000, as in k6.
	DecimalBytes = Units{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}
	// Thousands are shortened counts, as in wrk.
	Thousands = Units{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1}}
	Plain     = Units{{"", 1}}
)

// Parse parses a number with a unit. Its rounding is half a unit of its last digit.
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

// ParseSpan parses a k6 duration such as "1.62ms" or "1m20.5s" in microseconds. k6 truncates digits.
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

func lastDigit(digits string) float64 {
	_, fraction, _ := strings.Cut(digits, ".")
	return math.Pow(10, -float64(len(fraction)))
}
