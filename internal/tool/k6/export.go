package k6

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Export is the JSON of --summary-export or of handleSummary's data. The latter keeps a metric's numbers in "values"; the former keeps them
// next to "thresholds", whose booleans mean crossed.
type Export struct {
	Metrics map[string]ExportedMetric `json:"metrics"`
	State   struct {
		RunMillis float64 `json:"testRunDurationMs"`
	} `json:"state"`
}

// ExportedMetric holds one metric's numbers and crossed thresholds.
type ExportedMetric struct {
	numbers map[string]float64
	crossed []string
	// odd is of a number that k6's own metrics cannot have. Metrics of scripts can.
	odd error
}

// UnmarshalJSON reads either shape.
func (e *ExportedMetric) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("reading a metric: %w", err)
	}
	e.numbers, e.crossed = map[string]float64{}, nil
	if values, ok := fields["values"]; ok {
		if err := json.Unmarshal(values, &e.numbers); err != nil {
			return fmt.Errorf("reading the values of a metric: %w", err)
		}
	}
	for name, raw := range fields {
		if name == "thresholds" {
			crossed, err := crossedThresholds(raw)
			if err != nil {
				return err
			}
			e.crossed = crossed
			continue
		}
		var n float64
		if json.Unmarshal(raw, &n) == nil {
			e.numbers[name] = n
		}
	}
	for name, n := range e.numbers {
		if n < 0 || n > printed.Largest || math.IsNaN(n) {
			delete(e.numbers, name)
			e.odd = fmt.Errorf("reading %q of a metric: %v is out of range", printed.Clip(name, 40), n)
		}
	}
	return nil
}

func crossedThresholds(raw json.RawMessage) ([]string, error) {
	var exported map[string]bool
	if json.Unmarshal(raw, &exported) == nil {
		var out []string
		for _, name := range slices.Sorted(maps.Keys(exported)) {
			if exported[name] {
				out = append(out, printed.Clip(name, kept))
			}
		}
		return out, nil
	}
	var handled map[string]struct {
		OK bool `json:"ok"`
	}
	if err := json.Unmarshal(raw, &handled); err != nil {
		return nil, fmt.Errorf("reading thresholds: %w", err)
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(handled)) {
		if !handled[name].OK {
			out = append(out, printed.Clip(name, kept))
		}
	}
	return out, nil
}

// EndOfTest converts the metrics. A test that never ran has no numbers, but may have crossed thresholds.
func (e Export) EndOfTest() (EndOfTest, error) {
	if len(e.Metrics) == 0 {
		return EndOfTest{}, errors.New("the JSON holds no \"metrics\"; expected that of k6's --summary-export or handleSummary")
	}
	number := func(metric, key string) float64 { return e.Metrics[metric].numbers[key] }
	count := func(metric, key string) int64 { return int64(number(metric, key)) }
	for _, metric := range own {
		if err := e.Metrics[metric].odd; err != nil {
			return EndOfTest{}, err
		}
	}
	out := EndOfTest{
		Requests: count("http_reqs", "count"), Started: count("iterations", "count"), Dropped: count("dropped_iterations", "count"),
	}
	for _, metric := range slices.Sorted(maps.Keys(e.Metrics)) {
		out.Crossed = append(out.Crossed, e.Metrics[metric].crossed...)
	}
	if !out.Ran() {
		return EndOfTest{Crossed: out.Crossed}, nil
	}
	out.Throughput = printed.Quantity{Value: number("http_reqs", "rate")}
	out.Seconds = e.State.RunMillis / 1e3
	out.Users = count("vus_max", "max")
	out.Bytes = &printed.Quantity{Value: number("data_received", "count")}
	// For a rate, "passes" counts true values: for http_req_failed, the failures.
	out.Failed = count("http_req_failed", "passes")
	out.ChecksPassed, out.ChecksFailed = count("checks", "passes"), count("checks", "fails")
	_, checks := e.Metrics["checks"]
	out.ChecksNone = checks && out.ChecksPassed+out.ChecksFailed == 0
	if mean := number("iteration_duration", "avg"); mean > 0 {
		out.Iterations = &Iterations{PerSecond: number("iterations", "rate"), MeanMicros: printed.Quantity{Value: mean * 1e3}}
	}
	l, err := exportedTrend(e.Metrics["http_req_duration"].numbers)
	if l.Mean != nil {
		out.Latency = &l
	}
	return out, err
}

// own are the metrics of k6 that are read.
var own = []string{"http_reqs", "http_req_duration", "http_req_failed", "iterations", "iteration_duration", "dropped_iterations", "checks", "vus_max", "data_received"}

func exportedTrend(numbers map[string]float64) (tool.PrintedLatency, error) {
	l := tool.PrintedLatency{Kind: record.Observed}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if err := setStat(&l, name, printed.Quantity{Value: numbers[name] * 1e3}); err != nil {
			return l, err
		}
	}
	slices.SortFunc(l.Quantiles, func(a, b tool.PrintedQuantile) int { return cmp.Compare(a.Q, b.Q) })
	return l, nil
}
