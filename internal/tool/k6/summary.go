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
	prefix = "loadstone "
	format = 1
	// clipped is how much of a message of k6's is passed on, in bytes.
	clipped = 300
)

// summary is what the wrapper prints when k6 has ended.
type summary struct {
	Format int `json:"format"`
	// Script is true where a user's script made the requests, PerRequest where each had a connection of its own.
	Script     bool `json:"script"`
	PerRequest bool `json:"perRequest"`
	// HTTP2 is true where the answers in HTTP/2 were counted.
	HTTP2 bool `json:"http2"`
	// Status is that of a correct answer; of a mix, Statuses are those of correct answers to each of its requests.
	Status   int32   `json:"status"`
	Statuses []int32 `json:"statuses"`
	// Stats name the statistics that each trend gives, in the same order.
	Stats []string `json:"stats"`
	// Millis is how long k6 ran, from the end of its initialisation on.
	Millis  float64           `json:"millis"`
	Metrics map[string]metric `json:"metrics"`
}

// metric holds what k6 gives of a counter (count), a gauge (value), a rate (fails) or a trend (count and quantiles, in milliseconds).
type metric struct {
	Count     float64   `json:"count"`
	Value     float64   `json:"value"`
	Fails     float64   `json:"fails"`
	Quantiles []float64 `json:"quantiles"`
}

// findSummary finds the wrapper's line among those that k6 and the script print, which never begin like it.
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

// check holds every number to what it can be.
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

// statuses are those of correct answers, one a request.
func (s summary) statuses() []int32 {
	if len(s.Statuses) > 0 {
		return s.Statuses
	}
	return []int32{s.Status}
}

// sum adds up counters.
func (s summary) sum(names []string) (sum int64) {
	for _, name := range names {
		sum += s.count(name)
	}
	return sum
}

func sane(v float64) bool { return v >= 0 && v <= tool.MaxCount }

// count is the count of a counter or a trend; k6 leaves out what never had a sample.
func (s summary) count(name string) int64 { return int64(s.Metrics[name].Count) }

// gauge is what the wrapper said.
func (s summary) gauge(name string) float64 { return s.Metrics[gaugePrefix+name].Value }

// brackets are those of a trend.
func (s summary) brackets(name string) ([]tool.Bracket, error) {
	return brackets(s.Stats, s.Metrics[name].Quantiles, s.count(name))
}

// least and largest are the ends of a trend in milliseconds; false if it has no samples.
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

// message is the first error that k6 logged, on one line; empty if there is none.
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

// sentence returns why k6 gave no summary, in its own words where it has any.
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
