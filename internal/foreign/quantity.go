package foreign

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxValue bounds every number that is read, so that products of two stay far from overflow.
const maxValue = 1e15

// unit is a suffix and what it multiplies by.
type unit struct {
	suffix string
	factor float64
}

// The suffixes of wrk, longest first where one ends in another. wrk's bytes are powers of 1024 and its counts powers of 1000.
var (
	microsUnits = []unit{{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"ns", 1e-3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}}
	binaryUnits = []unit{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}}
	// decimalUnits are those of k6's bytes.
	decimalUnits = []unit{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}
	countUnits   = []unit{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1}}
	noUnits      = []unit{{"", 1}}
)

var errNumber = errors.New("it is no number of a known unit")

// parseQuantity reads a number with one of the units. Its rounding is half of its last digit.
func parseQuantity(text string, units []unit) (Quantity, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		digits = strings.TrimSpace(digits)
		v, err := parseNumber(digits)
		if err != nil {
			return Quantity{}, fmt.Errorf("reading %q: %w", clip(text, 40), err)
		}
		return bounded(Quantity{Value: v * u.factor, Rounding: lastDigit(digits) / 2 * u.factor}, text)
	}
	return Quantity{}, fmt.Errorf("reading %q: %w", clip(text, 40), errNumber)
}

// parseSpan reads a duration of k6 such as "1.62ms" or "1m20.5s", in microseconds. k6 cuts the digits that it does not print.
func parseSpan(text string) (Quantity, error) {
	var total, rounding float64
	rest := text
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return Quantity{}, fmt.Errorf("reading %q: %w", clip(text, 40), errNumber)
		}
		tail := strings.IndexFunc(rest[end:], func(r rune) bool { return r >= '0' && r <= '9' })
		if tail < 0 {
			tail = len(rest) - end
		}
		part, err := parseQuantity(rest[:end+tail], microsUnits)
		if err != nil {
			return Quantity{}, err
		}
		total, rounding, rest = total+part.Value, part.Rounding*2, rest[end+tail:]
	}
	if text == "" {
		return Quantity{}, fmt.Errorf("reading a duration: %w", errNumber)
	}
	return bounded(Quantity{Value: total, Rounding: rounding}, text)
}

func bounded(q Quantity, text string) (Quantity, error) {
	if q.Value > maxValue {
		return Quantity{}, fmt.Errorf("reading %q: it is out of range", clip(text, 40))
	}
	return q, nil
}

// parseNumber reads a plain decimal number that is not negative.
func parseNumber(text string) (float64, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
		return 0, errNumber
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || v > maxValue {
		return 0, errNumber
	}
	return v, nil
}

// parseCount reads a whole number that is not negative.
func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxValue {
		return 0, fmt.Errorf("reading %q: it is no count", clip(text, 40))
	}
	return n, nil
}

// parseCounts reads several.
func parseCounts(texts []string, into ...*int64) error {
	for i, p := range into {
		n, err := parseCount(texts[i])
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

// lastDigit is what the last digit of a decimal number counts.
func lastDigit(digits string) float64 {
	_, fraction, _ := strings.Cut(digits, ".")
	return math.Pow(10, -float64(len(fraction)))
}

// clip shortens untrusted text to n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
