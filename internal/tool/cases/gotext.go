package cases

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

type goFailure struct {
	name string
	line int
	// verb is failed or skipped; words is the benchmark's log.
	verb, words string
	// suffixed: the name has the results' suffix; it has none after a failure at the first iteration.
	suffixed bool
}

type goLoss struct {
	line int
	// name is the line's benchmark; empty if none.
	name, text string
	why        error
}

func scanGoTest(output []byte) goText {
	lines := strings.Split(strings.ReplaceAll(string(output), "\r\n", "\n"), "\n")
	text := goText{}
	reader := benchfmt.NewReader(bytes.NewReader(output), "output")
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			_, line := r.Pos()
			text.results = append(text.results, goResult{
				name: "Benchmark" + r.Name.String(), pkg: r.GetConfig("pkg"), line: line, iterations: r.Iters, values: slices.Clone(r.Values),
			})
			// The reader reuses this map, so the last one holds everything printed so far.
			text.context = r.Config
		case *benchfmt.SyntaxError:
			if _, ok := failureAt(lines, r.Line); !ok {
				text.loseLine(lines, r.Line, r.Msg)
			}
		}
	}
	if err := reader.Err(); err != nil {
		long := max(slices.IndexFunc(lines, func(line string) bool { return len(line) >= bufio.MaxScanTokenSize }), 0)
		text.losses = append(text.losses, goLoss{line: long + 1, text: lines[long], why: fmt.Errorf("reading it and what follows: %w: print shorter lines", err)})
	}
	text.units = reader.Units()
	text.findFailures(lines)
	return text
}

func (t *goText) loseLine(lines []string, number int, why string) {
	l := goLoss{line: number, text: lines[number-1]}
	l.why = fmt.Errorf("%q: %s: let benchmarks print nothing but by b.Log", words(l.text), why)
	if fields := strings.Fields(l.text); len(fields) > 0 && strings.HasPrefix(fields[0], "Benchmark") {
		l.name = fields[0]
	}
	t.losses = append(t.losses, l)
}

func (t *goText) findFailures(lines []string) {
	ended := 0
	lose := func(line int, format string, args ...any) {
		t.losses = append(t.losses, goLoss{line: line, text: lines[line-1], why: fmt.Errorf(format, args...)})
	}
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			lose(i+1, "the program ended with %q: mend it, or leave its benchmark out", words(line))
		case line == "FAIL", strings.HasPrefix(line, "FAIL\t"):
			ended = i + 1
		}
		f, ok := failureAt(lines, i+1)
		switch {
		case !ok:
		case !strings.HasPrefix(f.name, "Benchmark"):
			lose(i+1, "%q is no benchmark and failed: mend it, or leave tests out by -run='^$'", words(f.name))
		default:
			t.failures = append(t.failures, f)
		}
	}
	t.dropParents()
	if ended > 0 && len(t.failures)+len(t.losses) == 0 {
		lose(ended, "the program says FAIL of no benchmark: mend it, and run it by hand to see more")
	}
}

// dropParents removes benchmarks that failed only because a part failed.
func (t *goText) dropParents() {
	parents := map[string]bool{}
	for _, f := range t.failures {
		for i, r := range f.name {
			if r == '/' {
				parents[f.name[:i]] = true
			}
		}
	}
	t.failures = slices.DeleteFunc(t.failures, func(f goFailure) bool { return parents[f.name] })
}

// failureAt reads a line such as "--- FAIL: BenchmarkX" or "BenchmarkX-8 --- SKIP: BenchmarkX-8", and the log below it.
func failureAt(lines []string, number int) (goFailure, bool) {
	for _, of := range []struct{ mark, verb string }{{"--- FAIL: ", "it failed"}, {"--- SKIP: ", "it was skipped"}} {
		before, rest, found := strings.Cut(lines[number-1], of.mark)
		fields := strings.Fields(before)
		if !found || len(fields) > 1 || len(fields) == 1 && !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name, _, _ := strings.Cut(rest, " ")
		return goFailure{
			name: strings.TrimSpace(name), line: number, verb: of.verb, words: logged(lines[number:]), suffixed: len(fields) == 1,
		}, true
	}
	return goFailure{}, false
}

func logged(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		if !strings.HasPrefix(line, "    ") || strings.Contains(line, "--- ") || text.Len() > maxWords {
			break
		}
		text.WriteString(line + " ")
	}
	return text.String()
}
