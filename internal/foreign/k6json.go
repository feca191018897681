package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// k6Summary is the JSON of --summary-export, or of the data that handleSummary gets. The latter keeps the numbers of a metric in
// "values"; the former keeps them beside "thresholds", whose booleans say that one was crossed.
type k6Summary struct {
	Metrics map[string]k6Values `json:"metrics"`
	State   struct {
		RunMillis float64 `json:"testRunDurationMs"`
	} `json:"state"`
}

// k6Values are the numbers of one metric, and its crossed thresholds.
type k6Values struct {
	numbers map[string]float64
	crossed []string
}

// UnmarshalJSON reads either shape.
func (v *k6Values) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("reading a metric: %w", err)
	}
	v.numbers, v.crossed = map[string]float64{}, nil
	if values, ok := fields["values"]; ok {
		if err := json.Unmarshal(values, &v.numbers); err != nil {
			return fmt.Errorf("reading the values of a metric: %w", err)
		}
	}
	for name, raw := range fields {
		if name == "thresholds" {
			crossed, err := crossedThresholds(raw)
			if err != nil {
				return err
			}
			v.crossed = crossed
			continue
		}
		var n float64
		if json.Unmarshal(raw, &n) == nil {
			v.numbers[name] = n
		}
	}
	for name, n := range v.numbers {
		if n < 0 || n > maxValue || math.IsNaN(n) {
			return fmt.Errorf("reading %q of a metric: %v is out of range", clip(name, 40), n)
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
				out = append(out, clip(name, 60))
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
			out = append(out, clip(name, 60))
		}
	}
	return out, nil
}

// parseJSON reads one or several summaries of k6.
func parseJSON(name, text string) ([]Sample, error) {
	var out []Sample
	d := json.NewDecoder(strings.NewReader(text))
	for {
		line := 1 + strings.Count(text[:d.InputOffset()], "\n")
		var k k6Summary
		err := d.Decode(&k)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading JSON from line %d on: %w", line, err)
		}
		if len(k.Metrics) == 0 {
			return nil, errors.New("the JSON holds no \"metrics\"; expected that of k6's --summary-export or handleSummary")
		}
		s := Sample{File: name, Line: line, Tool: K6}
		if err := k.fill(&s); err != nil {
			return nil, err
		}
		s.finish()
		if len(out) > 0 {
			s.Line++
		}
		out = append(out, s)
		addNameClaims(name, out[len(out)-1:])
	}
}

func (k k6Summary) fill(s *Sample) error {
	number := func(metric, key string) float64 { return k.Metrics[metric].numbers[key] }
	count := func(metric, key string) int64 { return int64(number(metric, key)) }
	s.Requests = count("http_reqs", "count")
	started, dropped := count("iterations", "count"), count("dropped_iterations", "count")
	for _, metric := range slices.Sorted(maps.Keys(k.Metrics)) {
		s.Crossed = append(s.Crossed, k.Metrics[metric].crossed...)
	}
	if s.Requests == 0 && started == 0 {
		s.Failed = "the summary holds no requests of k6"
		return nil
	}
	s.Throughput = Quantity{Value: number("http_reqs", "rate")}
	s.Seconds = Quantity{Value: k.State.RunMillis / 1e3}
	s.Connections = count("vus_max", "max")
	s.Bytes = &Quantity{Value: number("data_received", "count")}
	// Of a rate, k6 calls "passes" what was true: of http_req_failed the failures.
	s.Errors.Unsorted = count("http_req_failed", "passes")
	s.ChecksPassed, s.ChecksFailed = count("checks", "passes"), count("checks", "fails")
	if mean := number("iteration_duration", "avg"); mean > 0 {
		s.Loop = &Loop{PerSecond: number("iterations", "rate"), MeanMicros: Quantity{Value: mean * 1e3}}
	}
	if dropped > 0 {
		s.Arrivals = &Arrivals{Asked: float64(started + dropped), Started: started, Dropped: dropped}
	}
	l, err := k6Distribution(k.Metrics["http_req_duration"].numbers)
	if err != nil {
		return err
	}
	if l.Mean != nil {
		s.Latency = []Latency{l}
	}
	k6Unknown(s)
	s.Unknown = append(s.Unknown, "k6's JSON does not say which load was asked for: a rate that was kept cannot be told from a closed loop.")
	return nil
}

// k6Distribution reads a trend in milliseconds; its quantiles in ascending order.
func k6Distribution(numbers map[string]float64) (Latency, error) {
	l := Latency{Kind: record.Observed}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if err := l.put(name, Quantity{Value: numbers[name] * 1e3}); err != nil {
			return l, err
		}
	}
	slices.SortFunc(l.Quantiles, func(a, b Quantile) int { return cmp.Compare(a.Q, b.Q) })
	return l, nil
}
