package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// bencherLine is a line of Rust's libtest, which criterion prints with --output-format bencher.
var bencherLine = regexp.MustCompile(`(?m)^test (.+?) +\.\.\. bench: +([0-9,.]+) (ns|us|µs|ms|s)/iter(?: \(\+/- [0-9,.]+\))?\r?$`)

func readBencher(output []byte) (Output, error) {
	c := newCollection()
	number := 0
	for line := range bytes.Lines(output) {
		number++
		m := bencherLine.FindStringSubmatch(strings.TrimRight(string(line), "\n"))
		if m == nil {
			continue
		}
		c.addAll(m[1], times(wallTime), nanoseconds[m[3]], numbers(strings.ReplaceAll(m[2], ",", "")))
	}
	return c.output("print lines such as \"test NAME ... bench: 10 ns/iter (+/- 1)\"")
}

func numbers(text string) []number {
	var n number
	_ = n.UnmarshalJSON([]byte(text)) // It takes anything.
	return []number{n}
}

// readCriterionLines reads the messages of cargo criterion (--message-format json). Each sample is the time of its iterations.
func readCriterionLines(output []byte) (Output, error) {
	c := newCollection()
	at := 0
	for line := range bytes.Lines(output) {
		if at++; !bytes.Contains(line, []byte(`"benchmark-complete"`)) {
			continue
		}
		var m struct {
			ID         string    `json:"id"`
			Unit       string    `json:"unit"`
			Iterations []float64 `json:"iteration_count"`
			Measured   []float64 `json:"measured_values"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			_, why := locate(line, err)
			c.lose(at, "", string(line), why)
			continue
		}
		factor, ok := nanoseconds[m.Unit]
		if !ok || len(m.Iterations) != len(m.Measured) {
			c.lose(at, m.ID, string(line), fmt.Errorf("case %q has %d values for %d counts, in %q: print criterion's own message", m.ID, len(m.Measured), len(m.Iterations), words(m.Unit)))
			continue
		}
		var samples []number
		for i, v := range m.Measured {
			samples = append(samples, number{value: v / m.Iterations[i], text: fmt.Sprint(v)})
		}
		c.addAll(m.ID, times(wallTime), factor, samples)
	}
	return c.output("let its filter match a benchmark")
}

// readEstimates reads the file estimates.json of one benchmark, which holds no name.
func readEstimates(output []byte) (Output, error) {
	var e struct {
		Slope *struct {
			Estimate number `json:"point_estimate"`
		} `json:"slope"`
		Mean *struct {
			Estimate number `json:"point_estimate"`
		} `json:"mean"`
	}
	if err := parseJSON(output, &e); err != nil {
		return Output{}, fmt.Errorf("%w; estimates.json has no name, so print one alone, or use --output-format bencher", err)
	}
	best := e.Slope
	if best == nil {
		best = e.Mean
	}
	if best == nil {
		return Output{}, errors.New("the estimates have neither slope nor mean: print criterion's estimates.json")
	}
	c := newCollection()
	c.addAll("benchmark", times(wallTime), 1, []number{best.Estimate})
	return c.output("print criterion's estimates.json")
}
