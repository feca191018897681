package foreign

import (
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

var (
	k6Scenario  = regexp.MustCompile(`^\* \S+: (.*)$`)
	k6Constant  = regexp.MustCompile(`^([0-9.]+) iterations/s for (\S+) \(`)
	k6Crossed   = regexp.MustCompile(`^✗ '([^']*)' .*$`)
	k6Pair      = regexp.MustCompile(`(\S+?)=(\S+)`)
	k6Percent   = regexp.MustCompile(`^p\((\d+(?:\.\d+)?)\)$`)
	k6OutOf     = regexp.MustCompile(`^\S+% +(\d+) out of (\d+)$`)
	k6Ticks     = regexp.MustCompile(`^\S+% +✓ (\d+) +✗ (\d+)$`)
	k6Counter   = regexp.MustCompile(`^(\d+) +([0-9.]+)/s$`)
	k6Data      = regexp.MustCompile(`^([0-9.]+ \w+) +[0-9.]+ \w+/s$`)
	k6LegacyBad = regexp.MustCompile(`^✗ [a-z][a-z0-9_]*\.{2,}: `)
)

// k6Text is what k6's summary said, while it is read.
type k6Text struct {
	scenarios int
	rate      float64
	seconds   float64
	dropped   int64
	started   int64
}

// readK6 reads the text that k6 prints at its end, in the layout with one list and in that with headings.
func readK6(lines []string, s *Sample) error {
	var t k6Text
	found := false
	for _, line := range lines {
		if m := k6Metric.FindStringSubmatch(line); m != nil {
			found = true
			if err := t.metric(m[1], strings.TrimSpace(m[2]), s); err != nil {
				return fmt.Errorf("reading the metric %s: %w", clip(m[1], 60), err)
			}
			if k6LegacyBad.MatchString(line) {
				s.Crossed = append(s.Crossed, clip(m[1], 60))
			}
			continue
		}
		t.around(line, s)
	}
	if !found || (s.Requests == 0 && t.started == 0) {
		s.Failed = "the output holds no requests of k6"
		return nil
	}
	t.arrivals(s)
	k6Unknown(s)
	return nil
}

func k6Unknown(s *Sample) {
	s.Unknown = append(s.Unknown,
		"k6's http_req_duration leaves out opening the connection and waiting for a free virtual user.",
		"k6 counts failed requests without telling statuses from connections that broke.")
}

// around reads the lines that are no metric: the plan above the summary, and the thresholds.
func (t *k6Text) around(line string, s *Sample) {
	if m := k6Crossed.FindStringSubmatch(line); m != nil {
		s.Crossed = append(s.Crossed, clip(m[1], 60))
	}
	m := k6Scenario.FindStringSubmatch(line)
	if m == nil {
		return
	}
	t.scenarios++
	if c := k6Constant.FindStringSubmatch(m[1]); c != nil {
		rate, errRate := parseNumber(c[1])
		span, errSpan := parseSpan(c[2])
		if errRate == nil && errSpan == nil {
			t.rate, t.seconds = rate, span.Value/1e6
		}
	}
}

// arrivals says what an open load asked for. Only a single scenario of a constant rate says it in numbers.
func (t *k6Text) arrivals(s *Sample) {
	if t.scenarios == 1 && t.rate > 0 {
		s.Arrivals = &Arrivals{PerSecond: t.rate, Asked: t.rate * t.seconds, Started: t.started, Dropped: t.dropped}
		s.AskedSeconds = t.seconds
		return
	}
	if t.dropped > 0 {
		s.Arrivals = &Arrivals{Asked: float64(t.started + t.dropped), Started: t.started, Dropped: t.dropped}
	}
}

func (t *k6Text) metric(name, value string, s *Sample) error {
	switch name {
	case "http_reqs":
		rate, err := counter(value, &s.Requests)
		s.Throughput = rate
		return err
	case "iterations":
		rate, err := counter(value, &t.started)
		s.loop().PerSecond = rate.Value
		return err
	case "dropped_iterations":
		_, err := counter(value, &t.dropped)
		return err
	case "http_req_failed":
		_, err := shares(value, &s.Errors.Unsorted)
		return err
	case "checks":
		failed, err := shares(value, &s.ChecksPassed)
		s.ChecksFailed = failed
		return err
	case "checks_succeeded":
		_, err := shares(value, &s.ChecksPassed)
		return err
	case "checks_failed":
		_, err := shares(value, &s.ChecksFailed)
		return err
	case "http_req_duration":
		l, err := k6Trend(value)
		s.Latency = []Latency{l}
		return err
	case "iteration_duration":
		l, err := k6Trend(value)
		if l.Mean != nil {
			s.loop().MeanMicros = *l.Mean
		}
		return err
	case "vus_max":
		return k6Users(value, s)
	case "data_received":
		return k6Received(value, s)
	}
	return nil
}

func (s *Sample) loop() *Loop {
	if s.Loop == nil {
		s.Loop = &Loop{}
	}
	return s.Loop
}

// counter reads "12345  411.2/s".
func counter(value string, into *int64) (Quantity, error) {
	m := k6Counter.FindStringSubmatch(value)
	if m == nil {
		return Quantity{}, fmt.Errorf("reading %q: expected a count and a rate", clip(value, 40))
	}
	if err := parseCounts(m[1:], into); err != nil {
		return Quantity{}, err
	}
	return parseQuantity(m[2], noUnits)
}

// shares reads "0.00% 3 out of 50" and, of older versions, "0.00% ✓ 3 ✗ 47": how many were, and how many were not.
func shares(value string, yes *int64) (no int64, err error) {
	if m := k6OutOf.FindStringSubmatch(value); m != nil {
		var all int64
		err := parseCounts(m[1:], yes, &all)
		return max(all-*yes, 0), err
	}
	m := k6Ticks.FindStringSubmatch(value)
	if m == nil {
		return 0, fmt.Errorf("reading %q: expected a share with its counts", clip(value, 40))
	}
	return no, parseCounts(m[1:], yes, &no)
}

// k6Trend reads "avg=1ms min=2ms med=3ms max=4ms p(90)=5ms".
func k6Trend(value string) (Latency, error) {
	l := Latency{Kind: record.Observed}
	for _, m := range k6Pair.FindAllStringSubmatch(value, -1) {
		if m[1] == "count" {
			continue
		}
		q, err := parseSpan(m[2])
		if err != nil {
			return l, err
		}
		if err := l.put(m[1], q); err != nil {
			return l, err
		}
	}
	return l, nil
}

// put sets one of k6's statistics by its name.
func (l *Latency) put(name string, q Quantity) error {
	switch name {
	case "avg":
		l.Mean = &q
	case "min":
		l.Min = &q
	case "med":
		l.Median = &q
	case "max":
		l.Max = &q
	}
	m := k6Percent.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	at, err := parseNumber(m[1])
	if err != nil || at > 100 {
		return fmt.Errorf("reading the quantile %q: %w", clip(name, 40), errNumber)
	}
	l.Quantiles = append(l.Quantiles, Quantile{Q: at / 100, Micros: q})
	return nil
}

func k6Users(value string, s *Sample) error {
	for _, m := range k6Pair.FindAllStringSubmatch(value, -1) {
		if m[1] == "max" {
			return parseCounts(m[2:], &s.Connections)
		}
	}
	return parseCounts(strings.Fields(value + " -")[:1], &s.Connections)
}

func k6Received(value string, s *Sample) error {
	m := k6Data.FindStringSubmatch(value)
	if m == nil {
		return fmt.Errorf("reading %q: expected bytes and a rate", clip(value, 40))
	}
	s.Bytes = &Quantity{}
	return assign(s.Bytes, m[1], decimalUnits)
}
