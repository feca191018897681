package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// members are a JSON object's members by exact name: user counters may differ from others by case alone.
type members map[string]json.RawMessage

// readGoogleBenchmark reads a JSON object with context and benchmarks.
//
// real_time and cpu_time become Time and CPU time. Any other number that Google Benchmark does not define is a user counter with unknown unit
// and direction.
func readGoogleBenchmark(output []byte) (Output, error) {
	g := googleReader{collection: newCollection(), repetitions: map[repetition]bool{}, aggregated: map[string]int{}, names: bareNames(output)}
	const wayOut = "its member benchmarks is empty; let --benchmark_filter match a benchmark"
	text := nonFinite.ReplaceAll(output, []byte("${1}null${2}"))
	at := benchmarksMember.FindIndex(text)
	if at == nil {
		if err := json.Unmarshal(text, &members{}); err != nil {
			line, why := locate(output, err)
			return Output{}, fmt.Errorf("line %d: %w; standard output must hold Google Benchmark's JSON alone (--benchmark_format=json)", line, why)
		}
		return g.output(wayOut)
	}
	begin := bytes.IndexByte(text[:at[0]+1], '{')
	if begin < 0 {
		begin = at[0]
	}
	g.loseText(1, text[:begin])
	g.readContext(text[begin:at[0]])
	g.readRuns(googleText{text[at[1]:], lineAt(text, int64(at[1])+1)})
	for _, name := range slices.SortedFunc(maps.Keys(g.aggregated), func(a, b string) int { return g.aggregated[a] - g.aggregated[b] }) {
		if _, ok := g.index[name]; !ok {
			g.lose(g.aggregated[name], name, name, fmt.Errorf("case %q has aggregates and no repetitions: run without --benchmark_report_aggregates_only", name))
		}
	}
	return g.output(wayOut)
}

var (
	benchmarksMember = regexp.MustCompile(`"benchmarks"\s*:\s*\[`)
	// nonFinite finds a nonfinite number, which Google Benchmark prints as C does but JSON forbids.
	nonFinite = regexp.MustCompile(`(?i)("\s*:\s*)[-+]?(?:nan|inf|infinity)(\s*[,}])`)
	runName   = regexp.MustCompile(`"run_name"\s*:\s*("(?:[^"\\]|\\.)*")`)
	// nextRun is where a benchmark may begin after an undecodable one.
	nextRun = regexp.MustCompile(`\n\s*\{`)
)

func (g googleReader) loseText(first int, text []byte) {
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) != "" {
			g.lose(first+i, "", line, errors.New("it stands beside Google Benchmark's JSON: print nothing else to standard output, and notes to standard error"))
		}
	}
}

func (g googleReader) readContext(text []byte) {
	var printed struct {
		Context members `json:"context"`
	}
	if json.Unmarshal(append(bytes.TrimRight(bytes.TrimSpace(text), ","), '}'), &printed) != nil {
		return // It is only shown.
	}
	for _, key := range slices.Sorted(maps.Keys(printed.Context)) {
		if raw := printed.Context[key]; raw[0] != '[' && raw[0] != '{' {
			g.explain(key, strings.Trim(string(raw), `"`))
		}
	}
}

type googleText struct {
	rest []byte
	line int
}

func (t *googleText) skip(n int) {
	t.line += bytes.Count(t.rest[:n], []byte("\n"))
	t.rest = t.rest[n:]
}

func (t *googleText) skipBetween() {
	t.skip(len(t.rest) - len(bytes.TrimLeft(t.rest, " \t\r\n,")))
}

func (g googleReader) readRuns(t googleText) {
	for t.skipBetween(); len(t.rest) > 0 && t.rest[0] != ']'; t.skipBetween() {
		decoder := json.NewDecoder(bytes.NewReader(t.rest))
		var run members
		err := decoder.Decode(&run)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			g.lose(t.line, "", string(t.rest), errMidJSON)
			return
		case err != nil:
			t.skip(g.loseRun(t, err))
			continue
		}
		end := int(decoder.InputOffset())
		if err := g.add(t.line, run); err != nil {
			g.lose(t.line, g.nameOf(run), string(t.rest[:end]), err)
		}
		t.skip(end)
	}
	if len(t.rest) == 0 {
		g.lose(t.line, "", "", errMidJSON)
		return
	}
	t.skip(1)
	t.skipBetween()
	g.loseText(t.line, bytes.TrimPrefix(t.rest, []byte("}")))
}

// loseRun records an undecodable benchmark and returns its length: the next one begins on a new line.
func (g googleReader) loseRun(t googleText, err error) int {
	at, why := locate(t.rest, err)
	lines := bytes.SplitAfterN(t.rest, []byte("\n"), at+1)
	reach := len(bytes.Join(lines[:at], nil))
	if found := nextRun.FindIndex(t.rest[max(reach-1, 0):]); found != nil {
		reach += found[0]
	} else {
		reach = len(t.rest)
	}
	var name string
	if found := runName.FindSubmatch(t.rest[:reach]); found != nil && json.Unmarshal(found[1], &name) == nil {
		name = g.names[name]
	}
	g.lose(t.line+at-1, name, string(lines[at-1]), why)
	return reach
}

func (g googleReader) nameOf(run members) string {
	name, err := member[string](run, "run_name")
	if err != nil {
		return ""
	}
	return g.names[name]
}

type googleReader struct {
	*collection
	repetitions map[repetition]bool
	// aggregated holds cases with aggregates, and the line of the first.
	aggregated map[string]int
	// names are the cases' names by the printed ones.
	names map[string]string
}

type repetition struct {
	name  string
	index int64
}

func (g googleReader) add(line int, run members) error {
	printed, err := member[string](run, "run_name")
	if err != nil {
		return err
	}
	name := g.names[printed]
	kind, err := member[string](run, "run_type")
	if err != nil {
		return err
	}
	switch kind {
	case "aggregate":
		return g.addAggregate(line, name, run)
	case "iteration":
		return g.addRepetition(name, run)
	}
	return fmt.Errorf("run_type is %q: use a Google Benchmark that prints iteration or aggregate", words(kind))
}

// addAggregate notes an aggregate's case. Complexity fits belong to no case: they have a family's name.
func (g googleReader) addAggregate(line int, name string, run members) error {
	of, err := member[string](run, "aggregate_name")
	if err == nil && of != "BigO" && of != "RMS" && g.aggregated[name] == 0 {
		g.aggregated[name] = line
	}
	return err
}

func (g googleReader) addRepetition(name string, run members) error {
	index, err := member[int64](run, "repetition_index")
	if err != nil {
		return err
	}
	if g.repetitions[repetition{name, index}] {
		return fmt.Errorf("case %q has its repetition %d twice: give each benchmark its own name", name, index)
	}
	k, err := g.find(name)
	if err != nil {
		return err
	}
	g.repetitions[repetition{name, index}] = true
	if failure, failed, err := googleFailure(run); err != nil || failed {
		k.fail(failure, "it ended with an error that it does not explain")
		return err
	}
	iterations, err := member[int64](run, "iterations")
	if err != nil {
		return err
	}
	if err := k.iterate(iterations); err != nil {
		return err
	}
	return values(k.addGoogleTimes(run), k.addGoogleCounters(run))
}

// googleFailure returns the message of a failed or skipped benchmark; the member depends on the version.
func googleFailure(run members) (string, bool, error) {
	for _, of := range []struct{ flag, message string }{{"error_occurred", "error_message"}, {"skipped", "skip_message"}} {
		if _, ok := run[of.flag]; !ok {
			continue
		}
		failed, err := member[bool](run, of.flag)
		if err != nil || !failed {
			return "", failed, err
		}
		if _, ok := run[of.message]; !ok {
			return "", true, nil
		}
		why, err := member[string](run, of.message)
		return why, true, err
	}
	return "", false, nil
}

func (k gathered) addGoogleTimes(run members) error {
	unit, err := member[string](run, "time_unit")
	if err != nil {
		return err
	}
	factor, ok := nanoseconds[unit]
	if !ok {
		return fmt.Errorf("case %q: time_unit is %q, %w", k.Name, words(unit), errTimeUnit)
	}
	var errs []error
	for _, t := range []struct{ metric, member string }{{wallTime, "real_time"}, {cpuTime, "cpu_time"}} {
		value, err := googleNumber(run, t.member, t.metric)
		if err == nil {
			err = k.add(sample{metric: t.metric, unit: "ns", better: record.LessIsBetter, value: value * factor})
		}
		errs = append(errs, err)
	}
	return values(errs...)
}

// googleNumber reads a number. One that is not finite costs nothing else.
func googleNumber(run members, name, metric string) (float64, error) {
	value, err := member[float64](run, name)
	if err != nil && run[name] != nil {
		return 0, valueError{err, metric}
	}
	return value, err
}

// googleOwn are numbers that are not counters. Other members that are not counters are not numbers.
var googleOwn = []string{
	"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations", "real_time", "cpu_time",
}

// googleRates are the counters that Google Benchmark itself defines. A user's counter has no unit and no direction.
var googleRates = map[string]sample{
	"bytes_per_second": {unit: "B/s", better: record.MoreIsBetter},
	"items_per_second": {unit: "items/s", better: record.MoreIsBetter},
}

func (k gathered) addGoogleCounters(run members) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(run)) {
		if slices.Contains(googleOwn, name) || !strings.ContainsRune("-0123456789n", rune(run[name][0])) {
			continue
		}
		value, err := googleNumber(run, name, name)
		s, ok := googleRates[name]
		if !ok {
			s.better = record.UnknownDirection
		}
		if s.metric, s.value = name, value; err == nil {
			err = k.add(s)
		}
		errs = append(errs, err)
	}
	return values(errs...)
}

func member[T any](of members, name string) (T, error) {
	var value T
	raw, ok := of[name]
	if !ok {
		return value, fmt.Errorf("it has no %s: use Google Benchmark 1.5 or newer", name)
	}
	if string(raw) == "null" {
		return value, fmt.Errorf("%s is no number that is finite: print one", name)
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("%s is %s, which is no %T", name, words(string(raw)), value)
	}
	return value, nil
}

// bareNames shortens the printed names of an output, each only while it stays unique: a benchmark may run under two clocks.
func bareNames(output []byte) map[string]string {
	bare, printed := map[string]string{}, map[string]int{}
	for _, found := range runName.FindAllSubmatch(output, -1) {
		var name string
		if json.Unmarshal(found[1], &name) != nil || bare[name] != "" {
			continue
		}
		bare[name] = bareGoogleName(name)
		printed[bare[name]]++
	}
	for name, short := range bare {
		if printed[short] > 1 {
			bare[name] = name
		}
	}
	return bare
}

// bareGoogleName removes Google Benchmark's suffixes for its settings. The number of threads comes last and stays.
func bareGoogleName(name string) string {
	threads := ""
	if i := strings.LastIndex(name, "/threads:"); i >= 0 && !strings.Contains(name[i+1:], "/") {
		name, threads = name[:i], name[i:]
	}
	for {
		i := strings.LastIndexByte(name, '/')
		if i < 0 || !isGoogleSetting(name[i+1:]) {
			return name + threads
		}
		name = name[:i]
	}
}

func isGoogleSetting(part string) bool {
	key, _, hasValue := strings.Cut(part, ":")
	if hasValue {
		return slices.Contains([]string{"min_time", "min_warmup_time", "iterations", "repeats"}, key)
	}
	return slices.Contains([]string{"process_time", "real_time", "manual_time"}, key)
}
