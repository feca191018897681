package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// members are those of a JSON object, by their exact names: user counters may have names that differ from others by case alone.
type members map[string]json.RawMessage

// readGoogleBenchmark reads one JSON object with the members context and benchmarks.
//
// A benchmark's real_time and cpu_time become Time and CPU time. Every other number that is not one of Google Benchmark's own is a user
// counter, named as it is: nothing in the format tells its unit or its direction.
func readGoogleBenchmark(output []byte) (Output, error) {
	var printed struct {
		Context    members   `json:"context"`
		Benchmarks []members `json:"benchmarks"`
	}
	if err := json.Unmarshal(output, &printed); err != nil {
		line, why := locate(output, err)
		return Output{}, fmt.Errorf("line %d: %w; standard output must hold Google Benchmark's JSON alone (--benchmark_format=json)", line, why)
	}
	c := newCollection()
	for _, key := range slices.Sorted(maps.Keys(printed.Context)) {
		if raw := printed.Context[key]; raw[0] != '[' && raw[0] != '{' {
			c.explain(key, strings.Trim(string(raw), `"`))
		}
	}
	g := googleReader{collection: c, repetitions: map[repetition]bool{}, aggregated: map[string]bool{}}
	for i, run := range printed.Benchmarks {
		if err := g.add(run); err != nil {
			return Output{}, fmt.Errorf("benchmarks[%d]: %w", i, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.aggregated)) {
		if _, ok := c.index[name]; !ok {
			return Output{}, fmt.Errorf("case %q has aggregates and no repetitions: run without --benchmark_report_aggregates_only", name)
		}
	}
	return c.output("its member benchmarks is empty; let --benchmark_filter match a benchmark")
}

// googleReader reads the benchmarks one after the other.
type googleReader struct {
	*collection
	repetitions map[repetition]bool
	aggregated  map[string]bool
}

// repetition is what the output can hold once only.
type repetition struct {
	name  string
	index int64
}

func (g googleReader) add(run members) error {
	printed, err := member[string](run, "run_name")
	if err != nil {
		return err
	}
	name := bareGoogleName(printed)
	kind, err := member[string](run, "run_type")
	if err != nil {
		return err
	}
	switch kind {
	case "aggregate":
		return g.addAggregate(name, run)
	case "iteration":
		return g.addRepetition(name, run)
	}
	return fmt.Errorf("run_type is %q: use a Google Benchmark that prints iteration or aggregate", words(kind))
}

// addAggregate remembers whose it is. Fits of a complexity are of no case: they bear the name of a family.
func (g googleReader) addAggregate(name string, run members) error {
	of, err := member[string](run, "aggregate_name")
	if err == nil && of != "BigO" && of != "RMS" {
		g.aggregated[name] = true
	}
	return err
}

func (g googleReader) addRepetition(name string, run members) error {
	index, err := member[int64](run, "repetition_index")
	if err != nil {
		return err
	}
	if g.repetitions[repetition{name, index}] {
		return fmt.Errorf("case %q has its repetition %d twice: give each benchmark a name of its own", name, index)
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
	if err := k.addGoogleTimes(run); err != nil {
		return err
	}
	return k.addGoogleCounters(run)
}

// googleFailure returns the words of a benchmark that failed or was skipped; which member tells so depends on the version.
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

func (k *Case) addGoogleTimes(run members) error {
	unit, err := member[string](run, "time_unit")
	if err != nil {
		return err
	}
	factor, ok := nanoseconds[unit]
	if !ok {
		return fmt.Errorf("case %q: time_unit is %q, %w", k.Name, words(unit), errTimeUnit)
	}
	for _, t := range []struct{ metric, member string }{{wallTime, "real_time"}, {cpuTime, "cpu_time"}} {
		value, err := member[float64](run, t.member)
		if err != nil {
			return err
		}
		if err := k.add(sample{metric: t.metric, unit: "ns", better: direction(t.metric), value: value * factor}); err != nil {
			return err
		}
	}
	return nil
}

// googleOwn are the numbers that are no counters. Other members that are none are no numbers.
var googleOwn = []string{
	"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations", "real_time", "cpu_time",
}

func (k *Case) addGoogleCounters(run members) error {
	for _, name := range slices.Sorted(maps.Keys(run)) {
		if slices.Contains(googleOwn, name) || !strings.ContainsRune("-0123456789", rune(run[name][0])) {
			continue
		}
		value, err := member[float64](run, name)
		if err != nil {
			return err
		}
		unit := map[string]string{"bytes_per_second": "B/s", "items_per_second": "items/s"}[name]
		if err := k.add(sample{metric: name, unit: unit, better: direction(name), value: value}); err != nil {
			return err
		}
	}
	return nil
}

// member decodes one member, which must be there.
func member[T any](of members, name string) (T, error) {
	var value T
	raw, ok := of[name]
	if !ok {
		return value, fmt.Errorf("it has no %s: use Google Benchmark 1.5 or newer", name)
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("%s is %s, which is no %T", name, words(string(raw)), value)
	}
	return value, nil
}

// bareGoogleName is a name without what Google Benchmark appends for its own settings. The number of threads comes last and stays.
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
