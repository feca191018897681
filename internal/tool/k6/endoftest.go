package k6

import (
	"fmt"
	"regexp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool"
)

// EndOfTest is what k6 itself says of a test at its end: in a text for people, which ParseText reads, or as JSON, which Export is.
// Loadstone's own trials do not need it: their wrapper prints more, and exactly.
type EndOfTest struct {
	Requests int64
	// Throughput is in requests per second.
	Throughput printed.Quantity
	// Seconds is how long the test ran; 0 in the text.
	Seconds float64
	// Users is the largest number of virtual users.
	Users int64
	// Bytes were received; nil if not printed.
	Bytes *printed.Quantity
	// Failed counts requests with an error status, and those that were not answered.
	Failed int64
	// ChecksPassed and ChecksFailed count the script's checks; Crossed are the expressions of thresholds that were not met.
	ChecksPassed, ChecksFailed int64
	Crossed                    []string
	// Started and Dropped count iterations.
	Started, Dropped int64
	// Iterations is nil if not printed.
	Iterations *Iterations
	// Latency is that of requests, without the opening of connections; nil if not printed.
	Latency *tool.PrintedLatency
	// Rate is nil unless the load is a single scenario of a constant rate: JSON never tells it.
	Rate *Rate
}

// Iterations is how fast virtual users were: their rate together, and the mean duration of one iteration.
type Iterations struct {
	PerSecond  float64
	MeanMicros printed.Quantity
}

// Rate is a number of iterations that shall start each second, for a time.
type Rate struct {
	PerSecond float64
	Seconds   float64
}

// Ran reports whether there was a test: whether it made requests, or iterations at least.
func (e EndOfTest) Ran() bool { return e.Requests > 0 || e.Started > 0 }

// kept is how much is kept of the name of a threshold, in bytes.
const kept = 60

var percentStat = regexp.MustCompile(`^p\((\d+(?:\.\d+)?)\)$`)

// setStat sets one of a trend's statistics by k6's name for it; others are passed over.
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
