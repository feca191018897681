package figures

import (
	"fmt"
	"os"
	"strconv"
)

// Drawn returns how many runs a simulation draws: few in a test, and LOADSTONE_TEST_DRAWN_RUNS if it is set, as "make
// bench-stats" does.
func Drawn(few int) (int, error) {
	text := os.Getenv("LOADSTONE_TEST_DRAWN_RUNS")
	if text == "" {
		return few, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("LOADSTONE_TEST_DRAWN_RUNS is %q: set a number of runs", text)
	}
	return n, nil
}
