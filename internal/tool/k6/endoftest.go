package k6

import (
	"fmt"
	"regexp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool"
)

// EndOfTest is k6's own summary: text for people (ParseText) or JSON (Export). Loadstone's trials do not need it: their wrapper prints more,
// and exactly.
type EndOfTest struct {
	Requests   int64
	Throughput printed.Quantity
	// Seconds is the test's duration; 0 in the text.
	Seconds float64
	Users   int64
	// Bytes were received; nil if not printed.
	Bytes *printed.Quantity
	// Failed counts requests with an error status or without an answer.
	Failed int64
	// Crossed lists the expressions of failed thresholds.
	ChecksPassed, ChecksFailed int64
	// ChecksNone: the script has checks, and none was made.
	ChecksNone       bool
	Crossed          []string
	Started, Dropped int64
	Iterations       *Iterations
	// Latency excludes connecting; nil if not printed.
	Latency *tool.PrintedLatency
	// Part is the share of a distributed test that an instance ran, above 0 and below 1; 0 for a whole test. Only the text has it.
	Part float64
	// Aborted and Threw are why the test ended early, and the last exception of the script, in k6's words. Only the text has them.
	Aborted, Threw string
	// Unread quotes lines of the text whose values are no numbers.
	Unread []string
	// Rate is set only for a single scenario with a constant rate; never from JSON.
	Rate *Rate
}

// Iterations is the total rate of iterations and their mean duration.
type Iterations struct {
	PerSecond  float64
	MeanMicros printed.Quantity
}

// Rate is iterations started per second, for a time.
type Rate struct {
	PerSecond float64
	Seconds   float64
}

// Ran reports whether the test made requests or iterations.
func (e EndOfTest) Ran() bool { return e.Requests > 0 || e.Started > 0 }

const kept = 60

var percentStat = regexp.MustCompile(`^p\(?(\d+(?:\.\d+)?)\)?$`)

func setStat(l *tool.PrintedLatency, name string, q printed.Quantity) error {
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
	m := percentStat.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	share, err := printed.Share(m[1])
	if err != nil {
		return fmt.Errorf("reading the quantile %q: %w", printed.Clip(name, 40), err)
	}
	l.Quantiles = append(l.Quantiles, tool.PrintedQuantile{Q: share, Micros: q})
	return nil
}
