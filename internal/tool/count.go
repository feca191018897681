package tool

import (
	"fmt"
	"strconv"
)

// MaxCount bounds every number that is read from what a program wrote for a parser, so that sums of a whole output stay far from overflow.
const MaxCount = 1 << 42

// Count reads a whole number from 0 to MaxCount.
func Count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading a number: %w", err)
	}
	if n < 0 || n > MaxCount {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return n, nil
}
