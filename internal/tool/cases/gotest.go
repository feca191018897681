package cases

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"loadstone.dev/loadstone/internal/record"
)

// goMetrics are package testing's metrics by unit. Custom metrics are named by their unit.
var goMetrics = map[string]sample{
	"ns/op":     {metric: wallTime, unit: "ns"},
	"B/op":      {metric: "Bytes allocated", unit: "B/op"},
	"allocs/op": {metric: "Allocations", unit: "allocs/op"},
	"MB/s":      {metric: "Throughput", unit: "MB/s"},
}

// goText is parsed text before the names' suffix is known.
type goText struct {
	results  []goResult
	failures []goFailure
	losses   []goLoss
	units    benchfmt.UnitMetadataMap
	context  []benchfmt.Config
}

type goResult struct {
	name, pkg  string
	line       int
	iterations int
	values     []benchfmt.Value
}

// readGoTest reads the Go benchmark format. Lines of a name are its repetitions, "key: value" is context. Other text is ignored unless it
// reports a failed benchmark, test or program.
//
// A line such as "Unit hops better=higher" declares a custom unit's direction.
func readGoTest(output []byte) (Output, error) {
	c := newCollection()
	whole := output[:bytes.LastIndexByte(output, '\n')+1]
	text := scanGoTest(whole)
	for _, entry := range text.context {
		c.explain(entry.Key, string(entry.Value))
	}
	suffix := text.suffix()
	if suffix != "" {
		c.explain("gomaxprocs", suffix[1:])
	}
	c.addGoResults(text, suffix)
	for _, f := range text.failures {
		k, err := c.find(strings.TrimSuffix(f.name, suffix))
		if err != nil {
			c.lose(f.line, "", f.name, err)
			continue
		}
		k.fail(f.words, f.verb)
	}
	for _, l := range text.losses {
		c.lose(l.line, strings.TrimSuffix(l.name, suffix), l.text, l.why)
	}
	if rest := output[len(whole):]; len(rest) > 0 {
		c.lose(1+bytes.Count(whole, []byte("\n")), "", string(rest), errors.New("the last line has no end: let the program end by itself"))
	}
	return c.output("no line begins with Benchmark and ends with measurements; let -bench match a benchmark, and print text, not -json")
}

// addGoResults adds results. A name that several packages have begins with its package.
func (c *collection) addGoResults(text goText, suffix string) {
	packages := map[string]map[string]bool{}
	for _, r := range text.results {
		name := strings.TrimSuffix(r.name, suffix)
		if packages[name] == nil {
			packages[name] = map[string]bool{}
		}
		packages[name][r.pkg] = true
	}
	for _, r := range text.results {
		name := strings.TrimSuffix(r.name, suffix)
		if len(packages[name]) > 1 {
			name = r.pkg + "." + name
		}
		if err := c.addGoResult(name, r, text.units); err != nil {
			c.lose(r.line, name, r.name, err)
		}
	}
}

func (c *collection) addGoResult(name string, r goResult, units benchfmt.UnitMetadataMap) error {
	k, err := c.find(name)
	if err != nil {
		return err
	}
	if err := k.iterate(int64(r.iterations)); err != nil {
		return err
	}
	var errs []error
	for _, v := range r.values {
		errs = append(errs, k.add(goSample(v, units)))
	}
	return values(errs...)
}

// goSample takes a value as printed, since benchfmt converts to seconds and bytes.
func goSample(v benchfmt.Value, units benchfmt.UnitMetadataMap) sample {
	unit, value := v.Unit, v.Value
	if v.OrigUnit != "" {
		unit, value = v.OrigUnit, v.OrigValue
	}
	s, ok := goMetrics[unit]
	if !ok {
		s = sample{metric: unit, unit: unit}
	}
	s.value, s.better = value, record.UnknownDirection
	switch units.GetBetter(v.Unit) {
	case 1:
		s.better = record.MoreIsBetter
	case -1:
		s.better = record.LessIsBetter
	}
	return s
}

// suffix returns "-8" if every name ends with it: GOMAXPROCS, which package testing omits if it is 1. With -cpu=1,2 the suffixes differ and
// stay.
func (t goText) suffix() string {
	var names []string
	for _, r := range t.results {
		names = append(names, r.name)
	}
	for _, f := range t.failures {
		if f.suffixed {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	i := strings.LastIndexByte(names[0], '-')
	if i < 0 {
		return ""
	}
	suffix := names[0][i:]
	if n, err := strconv.Atoi(suffix[1:]); err != nil || n < 2 || suffix[1:] != strconv.Itoa(n) {
		return ""
	}
	if slices.ContainsFunc(names, func(name string) bool { return !strings.HasSuffix(name, suffix) }) {
		return ""
	}
	return suffix
}
