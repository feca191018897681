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
	// wallTime is the metric for wall-clock time per iteration.
	wallTime = "Time"
	// cpuTime is the metric for CPU time per iteration.
	cpuTime = "CPU time"
)

// Output is a program's parsed output.
type Output struct {
	// Cases holds at least one case, in output order. Names are as printed, without suffixes of the tool: GOMAXPROCS as in "-8" (go test), or
	// "/repeats:5", "/min_time:0.500", "/iterations:3", "/real_time" and similar (Google Benchmark). Axes are the named parts after the first
	// slash: "/size:4096/threads:8", or "/size=4096". Time comes first, CPU time second. A counter without a declared direction has an unknown one;
	// no name is a declaration.
	Cases []record.Case
	// Context describes the program and its machine, such as the CPU model; for display only.
	Context map[string]string
	// Unread lists at most 20 unreadable values and parts without a case, in output order; UnreadMore counts the rest.
	Unread     []record.Unread
	UnreadMore int
	// Outside counts the unreadable parts without a case.
	Outside int
	// Format is the format that record.Auto found; empty if it has no name in specs.
	Format record.CaseFormat
}

// Read parses a program's standard output. An unreadable part fails its case, or is listed if it has none. It fails only if nothing is
// readable.
func Read(f record.CaseFormat, output []byte) (Output, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return Output{}, errors.New("the program printed nothing to its standard output: it must print its cases there")
	}
	output = decoded(output)
	switch f {
	case record.Auto, "":
		return readAuto(output)
	case record.GoogleBenchmark:
		return readGoogleBenchmark(output)
	case record.GoTest:
		return readGoTest(output)
	case record.JSONLines:
		return readJSONLines(output)
	case record.TimeOnly: // Its output is not read.
	}
	return Output{}, fmt.Errorf("%q is no format: it is %s, %s, %s or %s", f, record.Auto, record.GoogleBenchmark, record.GoTest, record.JSONLines)
}

// Record copies the output into its process's record.
func (o Output) Record(into *record.ProgramRun) {
	into.Cases, into.Context, into.UnreadMore = o.Cases, o.Context, o.UnreadMore
	into.Unread = append(into.Unread, o.Unread...)
}

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

// errMidJSON: the program was ended or stopped printing in the middle of JSON.
var errMidJSON = errors.New("the output ends in the middle of JSON: let the program end by itself")

// noNumber matches what C and similar languages print for nonfinite numbers.
var noNumber = regexp.MustCompile(`(?i):\s*[-+]?(nan|inf|infinity)\s*([,}]|$)`)

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset-1, 0), int64(len(text)))], []byte("\n"))
}
