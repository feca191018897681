package cases

import (
	"bytes"
	"errors"
	"fmt"

	"loadstone.dev/loadstone/internal/record"
)

// Format is how a program prints its cases.
type Format string

const (
	// GoogleBenchmark is what a program prints that is linked with Google Benchmark 1.5 or newer, with --benchmark_format=json.
	GoogleBenchmark Format = "GoogleBenchmark"
	// GoTest is the text of go test -bench, and of a test binary with -test.bench.
	GoTest Format = "GoTest"
	// JSONLines is a line of JSON for each value, in the schema loadstone.case/v1, from a program in any language.
	JSONLines Format = "JSONLines"
)

const (
	// wallTime is the metric of what a clock on the wall shows for one iteration.
	wallTime = "Time"
	// cpuTime is the metric of the processor time of one iteration.
	cpuTime = "CPU time"
)

// Value is one metric of a case.
type Value struct {
	// Metric and Unit are words for people. The unit of a time is ns.
	Metric, Unit string
	// Better is what the program declares. Where its format declares nothing, names that end in "/s", "_per_second" or "PerSecond" are
	// rates, of which more is better, and of everything else less is better.
	Better record.Direction
	// Samples has one number for each repetition that the program made, in the order of the output. Each is finite and at least 0.
	Samples []float64
}

// Axis is a parameter in a case's name.
type Axis struct{ Name, Value string }

// Case is one benchmark of a program, with one set of parameters.
type Case struct {
	// Name is as printed, but without what the tool itself appends: GOMAXPROCS as in "-8" (go test), and "/repeats:5", "/min_time:0.500",
	// "/iterations:3", "/real_time" and their like (Google Benchmark). It is at most 200 bytes of printable characters.
	Name string
	// Axes are the parts of the name after its first slash that have a name and a value: "/size:4096/threads:8", or "/size=4096".
	Axes []Axis
	// Values are in the order of the output, but Time comes first and CPU time second. Empty if the case failed.
	Values []Value
	// Iterations counts those of all repetitions; 0 if the program does not print it.
	Iterations int64
	// Failure is why the case has no values, in the program's words; empty if it has.
	Failure string
}

// Output is what a program printed.
type Output struct {
	// Cases has at least one case, in the order in which the output first names them.
	Cases []Case
	// Context is what the program says of itself and its machine, such as the CPU's model. It is shown and never computed with.
	Context map[string]string
	// Unread is what could not be read and belongs to no case, in the order of the output: at most 20 parts. UnreadMore counts those beyond.
	Unread     []Unread
	UnreadMore int
}

// Unread is a part of the output that could not be read.
type Unread struct {
	// Line is the number of its first line, from 1.
	Line int
	// Text is how it begins; untrusted. Why says what is wrong with it, and the way out.
	Text, Why string
}

// Read reads what a program printed to its standard output. What cannot be read costs the case that it belongs to, and is listed where it
// belongs to none. An error means that nothing could be read.
func Read(f Format, output []byte) (Output, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return Output{}, errors.New("the program printed nothing to its standard output: it must print its cases there")
	}
	switch f {
	case GoogleBenchmark:
		return readGoogleBenchmark(output)
	case GoTest:
		return readGoTest(output)
	case JSONLines:
		return readJSONLines(output)
	}
	return Output{}, fmt.Errorf("%q is no format: it is %s, %s or %s", f, GoogleBenchmark, GoTest, JSONLines)
}
