package printed

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Largest bounds every parsed number, so that products of two cannot overflow.
const Largest = 1e15

const quoted = 40

// ErrNumber: a text is not an expected number.
var ErrNumber = errors.New("it is no number of a known unit")

// Number parses a nonnegative decimal number.
func Number(text string) (float64, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !digit(r) && r != '.' }) {
		return 0, ErrNumber
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || v > Largest {
		return 0, ErrNumber
	}
	return v, nil
}

// Count parses a nonnegative whole number.
func Count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > Largest {
		return 0, fmt.Errorf("reading %q: it is no count", Clip(text, quoted))
	}
	return n, nil
}

// Counts parses several whole numbers.
func Counts(texts []string, into ...*int64) error {
	for i, p := range into {
		n, err := Count(texts[i])
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

// Share parses a percentage from 0 to 100 as a share of 1.
func Share(text string) (float64, error) {
	v, err := Number(text)
	if err != nil || v > 100 {
		return 0, ErrNumber
	}
	return v / 100, nil
}

// Clip shortens untrusted text to n bytes of valid UTF-8.
func Clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

func digit(r rune) bool { return r >= '0' && r <= '9' }
