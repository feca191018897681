package k6

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

var (
	beginLine        = regexp.MustCompile(`^execution: \S+$`)
	headingLine      = regexp.MustCompile(`^█ (THRESHOLDS|TOTAL RESULTS)$`)
	metricLine       = regexp.MustCompile(`^(?:[✓✗] )?([a-z][a-z0-9_]*)\.{2,}: +(.*)$`)
	crossedMetric    = regexp.MustCompile(`^✗ [a-z][a-z0-9_]*\.{2,}: `)
	crossedThreshold = regexp.MustCompile(`^✗ '([^']*)' .*$`)
	partLine         = regexp.MustCompile(`^scenarios: \((\d+(?:\.\d+)?)%\) `)
	abortedLine      = regexp.MustCompile(`level=(?:error|warning) msg="?((?:test run was aborted|thresholds on metrics .* were crossed; at least one has abortOnFail)[^"]*)`)
	threwLine        = regexp.MustCompile(`level=error msg="?((?:[A-Za-z]*Error|GoError): [^"]*)`)
	scenarioLine     = regexp.MustCompile(`^\* \S+: (.*)$`)
	constantRate     = regexp.MustCompile(`^([0-9.]+) iterations/s for (\S+) \(`)
	pair             = regexp.MustCompile(`(\S+?)=(\S+)`)
	outOf            = regexp.MustCompile(`^\S+% +(\d+) out of (\d+)$`)
	ticks            = regexp.MustCompile(`^\S+% +✓ (\d+) +✗ (\d+)$`)
	countAndRate     = regexp.MustCompile(`^(\d+) +([0-9.]+)/s$`)
	bytesAndRate     = regexp.MustCompile(`^([0-9.]+ \w+) +[0-9.]+ \w+/s$`)
)

// Begins reports whether a trimmed line is the first of k6's plan.
func Begins(line string) bool {
	return strings.HasPrefix(line, "execution: ") && beginLine.MatchString(line)
}

// BeginsPart reports whether a trimmed line is a heading of the final summary.
func BeginsPart(line string) bool {
	return strings.HasPrefix(line, "█ ") && headingLine.MatchString(line)
}

// Metric returns the name of the metric in a trimmed line.
func Metric(line string) (name string, ok bool) {
	if !strings.Contains(line, "..: ") {
		return "", false
	}
	if m := metricLine.FindStringSubmatch(line); m != nil {
		return m[1], true
	}
	return "", false
}

type reader struct {
	EndOfTest
	scenarios int
	rate      Rate
	checks    bool
}

// ParseText parses the lines of one k6 run, with or without headings, and skips other lines. The error is of the lines in Unread, which cost no other
// value.
func ParseText(lines []string) (EndOfTest, error) {
	var r reader
	var unread []error
	for _, line := range lines {
		line = strings.TrimSpace(line)
		m := metricLine.FindStringSubmatch(line)
		if m == nil {
			r.readAround(line)
			continue
		}
		if err := r.readMetric(m[1], strings.TrimSpace(m[2])); err != nil {
			r.Unread = append(r.Unread, printed.Clip(line, 2*kept))
			unread = append(unread, fmt.Errorf("reading the metric %s: %w", printed.Clip(m[1], kept), err))
		}
		if crossedMetric.MatchString(line) {
			r.Crossed = append(r.Crossed, printed.Clip(m[1], kept))
		}
	}
	if r.scenarios == 1 && r.rate.PerSecond > 0 {
		r.Rate = &r.rate
	}
	r.ChecksNone = r.checks && r.ChecksPassed+r.ChecksFailed == 0
	return r.EndOfTest, errors.Join(unread...)
}

func (r *reader) readAround(line string) {
	if m := crossedThreshold.FindStringSubmatch(line); m != nil {
		r.Crossed = append(r.Crossed, printed.Clip(m[1], kept))
	}
	if m := partLine.FindStringSubmatch(line); m != nil {
		if part, err := printed.Share(m[1]); err == nil && part > 0 && part < 1 {
			r.Part = part
		}
	}
	if m := abortedLine.FindStringSubmatch(line); m != nil {
		r.Aborted = printed.Clip(m[1], 2*kept)
	}
	if m := threwLine.FindStringSubmatch(line); m != nil {
		r.Threw = printed.Clip(m[1], 2*kept)
	}
	m := scenarioLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	r.scenarios++
	if c := constantRate.FindStringSubmatch(m[1]); c != nil {
		rate, errRate := printed.Number(c[1])
		span, errSpan := printed.ParseSpan(c[2])
		if errRate == nil && errSpan == nil {
			r.rate = Rate{PerSecond: rate, Seconds: span.Value / 1e6}
		}
	}
}

func (r *reader) readMetric(name, value string) error {
	var rest int64
	switch name {
	case "http_reqs":
		rate, err := counter(value, &r.Requests)
		r.Throughput = rate
		return err
	case "iterations":
		rate, err := counter(value, &r.Started)
		r.iterations().PerSecond = rate.Value
		return err
	case "dropped_iterations":
		_, err := counter(value, &r.Dropped)
		return err
	case "http_req_failed":
		return shares(value, &r.Failed, &rest)
	case "checks":
		r.checks = true
		return shares(value, &r.ChecksPassed, &r.ChecksFailed)
	case "checks_succeeded":
		r.checks = true
		return shares(value, &r.ChecksPassed, &rest)
	case "checks_failed":
		return shares(value, &r.ChecksFailed, &rest)
	case "http_req_duration":
		l, err := trend(value)
		if err == nil {
			r.Latency = &l
		}
		return err
	case "iteration_duration":
		l, err := trend(value)
		if l.Mean != nil {
			r.iterations().MeanMicros = *l.Mean
		}
		return err
	case "vus_max":
		return r.readUsers(value)
	case "data_received":
		return r.readBytes(value)
	}
	return nil
}

func (r *reader) iterations() *Iterations {
	if r.Iterations == nil {
		r.Iterations = &Iterations{}
	}
	return r.Iterations
}

func (r *reader) readUsers(value string) error {
	for _, m := range pair.FindAllStringSubmatch(value, -1) {
		if m[1] == "max" {
			return printed.Counts(m[2:], &r.Users)
		}
	}
	return printed.Counts(strings.Fields(value + " -")[:1], &r.Users)
}

func (r *reader) readBytes(value string) error {
	m := bytesAndRate.FindStringSubmatch(value)
	if m == nil {
		return fmt.Errorf("reading %q: expected bytes and a rate", printed.Clip(value, 40))
	}
	read, err := printed.Parse(m[1], printed.DecimalBytes)
	if err == nil {
		r.Bytes = &read
	}
	return err
}

// counter reads "12345  411.2/s".
func counter(value string, into *int64) (printed.Quantity, error) {
	m := countAndRate.FindStringSubmatch(value)
	if m == nil {
		return printed.Quantity{}, fmt.Errorf("reading %q: expected a count and a rate", printed.Clip(value, 40))
	}
	if err := printed.Counts(m[1:], into); err != nil {
		return printed.Quantity{}, err
	}
	return printed.Parse(m[2], printed.Plain)
}

// shares parses "0.00% 3 out of 50" or the older "0.00% ✓ 3 ✗ 47" into both counts.
func shares(value string, yes, no *int64) error {
	if m := outOf.FindStringSubmatch(value); m != nil {
		var all int64
		err := printed.Counts(m[1:], yes, &all)
		*no = max(all-*yes, 0)
		return err
	}
	m := ticks.FindStringSubmatch(value)
	if m == nil {
		return fmt.Errorf("reading %q: expected a share with its counts", printed.Clip(value, 40))
	}
	return printed.Counts(m[1:], yes, no)
}

// trend reads "avg=1ms min=2ms med=3ms max=4ms p(90)=5ms".
func trend(value string) (tool.PrintedLatency, error) {
	l := tool.PrintedLatency{Kind: record.Observed}
	for _, m := range pair.FindAllStringSubmatch(value, -1) {
		if m[1] == "count" {
			continue
		}
		q, err := printed.ParseSpan(m[2])
		if err != nil {
			return l, err
		}
		if err := setStat(&l, m[1], q); err != nil {
			return l, err
		}
	}
	return l, nil
}
