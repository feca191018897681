package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

type jmhMetric struct {
	Score number     `json:"score"`
	Unit  string     `json:"scoreUnit"`
	Raw   [][]number `json:"rawData"`
	// Histogram has pairs of a value and its count, for each fork and iteration.
	Histogram [][][][2]number `json:"rawDataHistogram"`
}

// readJMH reads JMH's JSON (-rf json). Iterations are repetitions. Parameters and, where needed, modes and threads are part of the name.
func readJMH(output []byte) (Output, error) {
	var results []struct {
		Benchmark string               `json:"benchmark"`
		Mode      string               `json:"mode"`
		Threads   int                  `json:"threads"`
		Params    map[string]any       `json:"params"`
		Primary   jmhMetric            `json:"primaryMetric"`
		Secondary map[string]jmhMetric `json:"secondaryMetrics"`
		Version   string               `json:"jmhVersion"`
		VM        string               `json:"vmName"`
		VMVersion string               `json:"vmVersion"`
	}
	if err := parseJSON(output, &results); err != nil {
		return Output{}, err
	}
	short := map[string]string{}
	long := func(i int) string {
		r := results[i]
		return fmt.Sprintf("%s%s/mode=%s/threads=%d", r.Benchmark, parameters(r.Params), r.Mode, r.Threads)
	}
	for i, r := range results {
		short[long(i)] = r.Benchmark + parameters(r.Params)
	}
	names := unique(short)
	c := newCollection()
	for i, r := range results {
		name := names[long(i)]
		c.explain("jmhVersion", r.Version)
		c.explain("vm", strings.TrimSpace(r.VM+" "+r.VMVersion))
		c.addJMH(name, wallTime, r.Primary)
		for _, metric := range slices.Sorted(maps.Keys(r.Secondary)) {
			c.addJMH(name, strings.Trim(metric, "·"), r.Secondary[metric])
		}
	}
	return c.output("let its regular expression match a benchmark")
}

// addJMH adds a metric. Times per operation are times; rates are named by their unit.
func (c *collection) addJMH(name, metric string, m jmhMetric) {
	samples := slices.Concat(m.Raw...)
	for _, fork := range m.Histogram {
		for _, iteration := range fork {
			var sum, n float64
			for _, pair := range iteration {
				sum, n = sum+pair[0].value*pair[1].value, n+pair[1].value
			}
			samples = append(samples, number{value: sum / n, text: "a histogram"})
		}
	}
	if len(samples) == 0 {
		samples = []number{m.Score}
	}
	factor, isTime := nanoseconds[strings.TrimSuffix(m.Unit, "/op")]
	switch {
	case isTime && metric == wallTime:
		c.addAll(name, times(wallTime), factor, samples)
	case strings.HasPrefix(m.Unit, "ops/") && metric == wallTime:
		c.addAll(name, sample{metric: "Throughput", unit: m.Unit, better: record.MoreIsBetter}, 1, samples)
	default:
		c.addAll(name, sample{metric: metric, unit: m.Unit, better: directionOfJMH(m.Unit, isTime)}, 1, samples)
	}
}

// directionOfJMH knows JMH's own units: time and bytes per operation, and operations per time. Others are a profiler's.
func directionOfJMH(unit string, isTime bool) record.Direction {
	switch {
	case isTime && strings.HasSuffix(unit, "/op"), unit == "B/op":
		return record.LessIsBetter
	case strings.HasPrefix(unit, "ops/"):
		return record.MoreIsBetter
	}
	return record.UnknownDirection
}
