package lint

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

type pattern struct {
	shape *regexp.Regexp
	set   func(r *reading, m []string) error
}

func line(shape string, set func(r *reading, m []string) error) pattern {
	return pattern{regexp.MustCompile(shape), set}
}

type reading struct {
	*Sample
	latency tool.PrintedLatency
	columns []string
}

// readTable reads each line by the first matching pattern. An invalid number loses only that value.
func readTable(lines []string, s *Sample, patterns []pattern) {
	r := reading{Sample: s, latency: tool.PrintedLatency{Kind: record.Observed}}
	for _, text := range lines {
		for _, p := range patterns {
			m := p.shape.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			if err := p.set(&r, m); err != nil {
				s.Unread = append(s.Unread, printed.Clip(text, quotedLine))
			}
			break
		}
	}
	if l := r.latency; l.Mean != nil || len(l.Quantiles) > 0 {
		s.Latency = append(s.Latency, l)
	}
}

// The match's first group is the number, the second its unit.
func quantity(into func(r *reading) **printed.Quantity, units printed.Units) func(*reading, []string) error {
	return func(r *reading, m []string) error {
		q, err := printed.Parse(strings.Join(m[1:], ""), units)
		if err == nil {
			*into(r) = &q
		}
		return err
	}
}

func counts(into func(r *reading) []*int64) func(*reading, []string) error {
	return func(r *reading, m []string) error { return printed.Counts(m[1:], into(r)...) }
}

// quantile adds a quantile. The match has its percentage, a latency and its unit, which may be in the latency.
func quantile(r *reading, m []string) error {
	share, err := printed.Share(m[1])
	if err != nil {
		return err
	}
	micros, err := printed.Parse(strings.TrimSuffix(strings.TrimSuffix(strings.Join(m[2:], ""), "ecs"), "ec"), printed.Micros)
	if n := len(r.latency.Quantiles); err == nil && (n == 0 || r.latency.Quantiles[n-1].Q < share) {
		r.latency.Quantiles = append(r.latency.Quantiles, tool.PrintedQuantile{Q: share, Micros: micros})
	}
	return err
}

// stat sets a latency statistic by name; quantiles are named by percentage.
func stat(l *tool.PrintedLatency, name string, q printed.Quantity) {
	switch strings.ToLower(name) {
	case "min":
		l.Min = &q
	case "mean", "avg", "average":
		l.Mean = &q
	case "median", "med":
		l.Median = &q
	case "sd", "stdev", "stddev":
		l.SD = &q
	case "max":
		l.Max = &q
	}
	digits := strings.ReplaceAll(strings.Trim(strings.TrimSuffix(strings.TrimSuffix(name, "%"), "th"), "p()"), "_", ".")
	if share, err := printed.Share(digits); err == nil && share > 0 && share < 1 {
		l.Quantiles = append(l.Quantiles, tool.PrintedQuantile{Q: share, Micros: q})
		slices.SortFunc(l.Quantiles, func(a, b tool.PrintedQuantile) int { return compare(a.Q, b.Q) })
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// maxSaid bounds the different errors of a tool that are quoted.
const maxSaid = 3

func (s *Sample) say(n int64, text string) {
	if len(s.Said) < maxSaid {
		s.Said = append(s.Said, fmt.Sprintf("%s (%d)", printed.Clip(text, quotedLine), n))
	}
}

func (s *Sample) answered(status, n int64) {
	s.Requests += n
	if status < 200 || status >= 400 {
		s.Errors.Status += n
	}
}

// tally gathers requests that a tool wrote one by one.
type tally struct {
	latency     histogram.Histogram
	first, last float64
	bytes       int64
	// lost counts rows without a request; example is the first.
	lost    int64
	example string
}

// request counts a request by its start in seconds and its latency in microseconds.
func (t *tally) request(start, micros float64) {
	if t.latency.Samples() == 0 || start < t.first {
		t.first = start
	}
	t.last = max(t.last, start+micros/1e6)
	if err := t.latency.Record(int64(math.Round(micros)), 1); err != nil {
		t.lose(err.Error())
	}
}

func (t *tally) lose(row string) {
	if t.lost++; t.lost == 1 {
		t.example = row
	}
}

// finish writes the numbers into a sample. resolution is the tool's step in microseconds; 0 if fine.
func (t *tally) finish(s *Sample, kind record.LatencyKind, resolution float64) {
	s.Seconds = printed.Quantity{Value: t.last - t.first}
	if t.latency.Samples() > 0 {
		l := described(kind, &t.latency)
		l.ResolutionMicros = resolution
		s.Latency = append(s.Latency, l)
	}
	if t.bytes > 0 {
		s.Bytes = &printed.Quantity{Value: float64(t.bytes)}
	}
	if t.lost > 0 {
		s.Unread = append(s.Unread, fmt.Sprintf("%s (%d lines)", printed.Clip(t.example, quotedLine), t.lost))
	}
}

// bounded parses a number of at least 0 and at most printed.Largest. It returns 0 for any other text.
func bounded(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > printed.Largest {
		return 0, false
	}
	return v, true
}
