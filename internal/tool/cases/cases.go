package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

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

// Record fills the output into the record of its process.
func (o Output) Record(into *record.ProgramRun) {
	into.Cases, into.Context, into.UnreadMore = o.Cases, o.Context, o.UnreadMore
	into.Unread = append(into.Unread, o.Unread...)
}

// locate returns on which line of a text JSON cannot be decoded, and why, with the way out.
func locate(text []byte, err error) (int, error) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(len(text))
	switch {
	case errors.As(err, &kind):
		return lineAt(text, kind.Offset), fmt.Errorf("%s holds a %s that is no %s: print one", words(kind.Field), words(kind.Value), kind.Type)
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return 1, fmt.Errorf("%s: see the documentation of the format", words(err.Error()))
	}
	line := lineAt(text, offset)
	here := bytes.TrimSpace(bytes.Split(text, []byte("\n"))[line-1])
	switch {
	case noNumber.Match(here):
		return line, fmt.Errorf("%q holds what is no number: print only what is finite", words(string(here)))
	case offset >= int64(len(text)):
		return line, errMidJSON
	}
	return line, fmt.Errorf("%q is no JSON (%w): print nothing else to standard output, and notes to standard error", words(string(here)), err)
}

// errMidJSON is why the end of an output cannot be read whose program was ended, or stopped printing.
var errMidJSON = errors.New("the output ends in the middle of JSON: let the program end by itself")

// noNumber is one of the values that C and its heirs print for what is no finite number.
var noNumber = regexp.MustCompile(`(?i):\s*[-+]?(nan|inf|infinity)\s*([,}]|$)`)

// lineAt is the number of the line that holds an offset, from 1.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset-1, 0), int64(len(text)))], []byte("\n"))
}
