package lint

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// readWrk makes a sample of what wrk printed, or wrk2, which looks like it and means something else.
func readWrk(lines []string, s *Sample) error {
	t, err := wrk.ParseText(lines)
	if err != nil {
		return err
	}
	s.Failed, s.URL, s.AskedSeconds, s.Threads, s.Connections = t.Failed, t.URL, t.AskedSeconds, t.Threads, t.Connections
	s.Requests, s.Seconds, s.Throughput, s.ThreadRate, s.Bytes = t.Requests, t.Seconds, t.Throughput, t.ThreadRate, t.Bytes
	s.Errors.Errors = t.Errors
	unknown := "wrk inserts latencies that it never measured; how many is not printed."
	if t.Wrk2 {
		s.Tool, unknown = Wrk2, "The rate that wrk2 was asked for is not printed."
	}
	if s.Failed != "" {
		return nil
	}
	s.Unknown = append(s.Unknown, unknown)
	if t.Latency != nil && s.Requests > 0 {
		s.Latency = append(s.Latency, *t.Latency)
	}
	return addDump(lines, s)
}

// addDump replaces what wrk printed by what Loadstone's own script wrote below it, which is exact and not rounded.
func addDump(lines []string, s *Sample) error {
	text := strings.Join(lines, "\n")
	if !wrk.HasDump(text) {
		return nil
	}
	m, err := wrk.Tool{}.Parse([]byte(text))
	if err != nil {
		return err
	}
	s.Seconds = printed.Quantity{Value: float64(m.DurationMicros) / 1e6}
	s.Requests, s.Errors.Errors = m.Requests, m.Errors
	s.Bytes = &printed.Quantity{Value: float64(m.Bytes)}
	s.Unknown, s.Latency = m.Unknown, nil
	for _, l := range m.Latency {
		h, err := histogram.Decode(l.HDR)
		if err != nil {
			return fmt.Errorf("decoding the histogram: %w", err)
		}
		if h.Samples() > 0 {
			s.Latency = append(s.Latency, described(l.Kind, h))
		}
	}
	return nil
}

// described reads a histogram of three digits.
func described(kind record.LatencyKind, h *histogram.Histogram) tool.PrintedLatency {
	exact := func(v float64) printed.Quantity { return printed.Quantity{Value: v, Rounding: v/1000 + 1} }
	mean, sd, least, most := exact(h.Mean()), exact(h.StandardDeviation()), exact(float64(h.Min())), exact(float64(h.Max()))
	l := tool.PrintedLatency{Kind: kind, Mean: &mean, SD: &sd, Min: &least, Max: &most}
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		l.Quantiles = append(l.Quantiles, tool.PrintedQuantile{Q: q, Micros: exact(float64(h.Quantile(q)))})
	}
	return l
}
