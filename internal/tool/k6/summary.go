package k6

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	prefix  = "loadstone "
	format  = 1
	clipped = 300
)

type summary struct {
	Format int `json:"format"`
	// Script: a user's script made the requests. PerRequest: each had its own connection.
	Script     bool `json:"script"`
	PerRequest bool `json:"perRequest"`
	// HTTP2: HTTP/2 answers were counted.
	HTTP2 bool `json:"http2"`
	// Status is a right answer's; for a mix, Statuses has one per request.
	Status   int32    `json:"status"`
	Statuses []int32  `json:"statuses"`
	Stats    []string `json:"stats"`
	// Millis is k6's run time after its initialization.
	Millis  float64           `json:"millis"`
	Metrics map[string]metric `json:"metrics"`
}

// metric holds k6's counter (count), gauge (value), rate (fails) or trend (count and quantiles, in milliseconds).
type metric struct {
	Count     float64   `json:"count"`
	Value     float64   `json:"value"`
	Fails     float64   `json:"fails"`
	Quantiles []float64 `json:"quantiles"`
}

// findSummary finds the wrapper's line; no line of k6 or the script begins like it.
func findSummary(raw []byte) (summary, error) {
	var found []byte
	for line := range bytes.Lines(raw) {
		rest, ok := bytes.CutPrefix(line, []byte(prefix))
		if !ok {
			continue
		}
		if found != nil {
			return summary{}, errors.New("reading k6's summary: it is there twice")
		}
		found = rest
	}
	if found == nil {
		return summary{}, sentence(raw)
	}
	var s summary
	if err := json.Unmarshal(found, &s); err != nil {
		return s, fmt.Errorf("reading k6's summary: %w", err)
	}
	if s.Format != format {
		return s, fmt.Errorf("reading k6's summary: its format is %d, this version reads %d", s.Format, format)
	}
	return s, s.check()
}

func (s summary) check() error {
	if !sane(s.Millis) {
		return fmt.Errorf("reading k6's summary: it ran for %v ms", s.Millis)
	}
	for name, m := range s.Metrics {
		if !sane(m.Count) || !sane(m.Value) || !sane(m.Fails) || m.Count != math.Trunc(m.Count) || m.Fails != math.Trunc(m.Fails) {
			return fmt.Errorf("reading k6's summary: %s is out of range", name)
		}
	}
	needed := []string{metricRequests, metricExpected, metricUnanswered, metricTimeout}
	if s.HTTP2 {
		needed = append(needed, metricHTTP2)
	}
	for _, name := range slices.Concat(needed, metricsRight(s.statuses()), metricsMade(s.statuses()), gauges()) {
		if _, ok := s.Metrics[name]; !ok {
			return fmt.Errorf("reading k6's summary: %s is missing", name)
		}
	}
	return nil
}

func (s summary) statuses() []int32 {
	if len(s.Statuses) > 0 {
		return s.Statuses
	}
	return []int32{s.Status}
}

func (s summary) sum(names []string) (sum int64) {
	for _, name := range names {
		sum += s.count(name)
	}
	return sum
}

func sane(v float64) bool { return v >= 0 && v <= tool.MaxCount }

// count returns a counter's or trend's count; k6 omits metrics without samples.
func (s summary) count(name string) int64 { return int64(s.Metrics[name].Count) }

func (s summary) gauge(name string) float64 { return s.Metrics[gaugePrefix+name].Value }

func (s summary) brackets(name string) ([]tool.Bracket, error) {
	return brackets(s.Stats, s.Metrics[name].Quantiles, s.count(name))
}

// least and largest are a trend's ends in milliseconds; false without samples.
func (s summary) least(name string) (float64, bool) { return s.stat(name, "min") }

func (s summary) largest(name string) (float64, bool) { return s.stat(name, "max") }

func (s summary) stat(name, stat string) (float64, bool) {
	values := s.Metrics[name].Quantiles
	for i, known := range s.Stats {
		if known == stat && i < len(values) && s.count(name) > 0 && sane(values[i]) {
			return values[i], true
		}
	}
	return 0, false
}

var logged = regexp.MustCompile(`(?m)^time=\S+ level=(?:error|fatal) msg=("(?:[^"\\]|\\.)*"|\S+)`)

// message returns the first error that k6 logged, on one line, or empty.
func message(raw []byte) string {
	found := logged.FindSubmatch(raw)
	if found == nil {
		return ""
	}
	text := string(found[1])
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	return printed.Clip(strings.Join(strings.Fields(text), " "), clipped)
}

// sentence returns why k6 gave no summary, in its own words if possible.
func sentence(raw []byte) error {
	if text := message(raw); text != "" {
		return fmt.Errorf("k6 did not run: %s", text)
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			return fmt.Errorf("k6 did not run: %s", printed.Clip(line, clipped))
		}
	}
	return errors.New("k6 did not run and printed nothing")
}
