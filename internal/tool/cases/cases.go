package cases

import (
	"bytes"
	"errors"
	"fmt"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// wallTime is the metric of what a clock on the wall shows for one iteration.
	wallTime = "Time"
	// cpuTime is the metric of the processor time of one iteration.
	cpuTime = "CPU time"
)

// Output is what a program printed.
type Output struct {
	// Cases has at least one case, in the order in which the output first names them. Names are as printed, but without what the tool itself
	// appends: GOMAXPROCS as in "-8" (go test), and "/repeats:5", "/min_time:0.500", "/iterations:3", "/real_time" and their like (Google
	// Benchmark). Axes are the parts of a name after its first slash that have a name and a value: "/size:4096/threads:8", or "/size=4096". Of
	// values Time comes first and CPU time second; where a format declares no direction, more is better of metrics that end in "/s", "_per_second"
	// or "PerSecond".
	Cases []record.Case
	// Context is what the program says of itself and its machine, such as the CPU's model. It is shown and never computed with.
	Context map[string]string
	// Unread is what could not be read and belongs to no case, in the order of the output: at most 20 parts. UnreadMore counts those beyond.
	Unread     []record.Unread
	UnreadMore int
}

// Read reads what a program printed to its standard output. What cannot be read costs the case that it belongs to, and is listed where it
// belongs to none. An error means that nothing could be read.
func Read(f record.CaseFormat, output []byte) (Output, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return Output{}, errors.New("the program printed nothing to its standard output: it must print its cases there")
	}
	switch f {
	case record.GoogleBenchmark:
		return readGoogleBenchmark(output)
	case record.GoTest:
		return readGoTest(output)
	case record.JSONLines:
		return readJSONLines(output)
	}
	return Output{}, fmt.Errorf("%q is no format: it is %s, %s or %s", f, record.GoogleBenchmark, record.GoTest, record.JSONLines)
}
