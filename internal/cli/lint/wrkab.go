package lint

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// beginsWrk also finds outputs without their first lines.
func beginsWrk(line string, current *run) bool {
	switch {
	case wrk.Begins(line):
		return true
	case wrk.BeginsLabel(line):
		return !current.in(Wrk) || slices.ContainsFunc(current.lines, wrk.BeginsLabel) || current.has("Requests/sec:")
	case strings.HasPrefix(line, "Thread Stats "):
		return !current.in(Wrk) || current.has("Thread Stats ")
	}
	return false
}

func beginsAB(line string, current *run) bool {
	switch {
	case ab.Begins(line):
		return true
	case ab.BeginsResult(line):
		return !current.in(AB) || slices.ContainsFunc(current.lines, ab.BeginsResult)
	}
	// The first lines may be missing.
	for _, field := range []string{"Server Hostname:", "Document Path:", "Concurrency Level:"} {
		if strings.HasPrefix(line, field) {
			return !current.in(AB) || current.has(field)
		}
	}
	return false
}

func beginsK6(line string, current *run) bool {
	switch {
	case k6.Begins(line):
		return true
	case k6.BeginsPart(line):
		return !current.in(K6) || len(current.seen) > 0
	}
	metric, ok := k6.Metric(line)
	return ok && (!current.in(K6) || current.seen[metric] || current.over(metric))
}

func (r *run) note(line string) {
	if metric, ok := k6.Metric(line); ok {
		r.seen[metric] = true
	}
}

func (r *run) over(metric string) bool {
	return metric == "checks" && (r.seen["http_reqs"] || r.seen["iterations"])
}

func readAB(lines []string, s *Sample) error {
	t, _ := ab.ParseText(lines) // The error repeats what Unread lists.
	s.Threads, s.Unread, s.Secure, s.EmptyFirst = 1, t.Unread, t.Secure, t.EmptyFirst
	s.Connections, s.Requests = orNone(t.Connections), orNone(t.Complete)
	s.Seconds, s.Throughput = printed.OrZero(t.Seconds), printed.OrZero(t.Throughput)
	s.Bytes, s.BodyBytes, s.Reused = exactly(t.Bytes), exactly(t.BodyBytes), t.Kept
	s.Errors.Write, s.Errors.Status, s.Errors.Unsorted = t.Writes, t.OtherStatus, orNone(t.Failed)
	if f := t.Failures; f != nil {
		s.Errors.Connect, s.Errors.Read, s.Errors.Body, s.Errors.Unsorted = f.Connect, f.Receive, f.Length, f.Exceptions
	}
	if s.Throughput.Value == 0 && s.Seconds.Value == 0 {
		s.Failed = "the output ends before ab's totals"
		if t.GaveUp != "" {
			s.Failed = t.GaveUp
		}
		return nil
	}
	s.URL = t.URL
	if l := t.Latency; l != nil {
		l.Kind = record.WithConnection
		if s.Reused != nil {
			l.Kind = record.Observed
		}
		s.Latency = append(s.Latency, *l)
	}
	s.Unknown = append(s.Unknown, "ab's first \"Time per request\" is concurrency divided by throughput, not a measured latency. The measured mean is in its table, in whole milliseconds.")
	return nil
}

// orNone is a count; 0 if it was not printed.
func orNone(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func exactly(n *int64) *printed.Quantity {
	if n == nil {
		return nil
	}
	return &printed.Quantity{Value: float64(*n)}
}

// readWrk reads wrk's output, or wrk2's, which looks the same but has another meaning.
func readWrk(lines []string, s *Sample) error {
	t, _ := wrk.ParseText(lines) // The error repeats what Unread lists.
	s.Failed, s.URL, s.AskedSeconds, s.Threads, s.Connections = t.Failed, t.URL, t.AskedSeconds, t.Threads, t.Connections
	s.Requests, s.Seconds, s.Throughput, s.ThreadRate, s.Bytes = t.Requests, t.Seconds, t.Throughput, t.ThreadRate, t.Bytes
	s.Errors.Errors = t.Errors
	s.Unread = t.Unread
	unknown := "wrk adds latencies that it never measured, and does not print how many."
	if t.Wrk2 {
		s.Tool, unknown = Wrk2, "wrk2 does not print the requested rate."
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

// addDump replaces wrk's rounded numbers by the exact ones of Loadstone's script below.
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

func described(kind record.LatencyKind, h *histogram.Histogram) tool.PrintedLatency {
	exact := func(v float64) printed.Quantity { return printed.Quantity{Value: v, Rounding: v/1000 + 1} }
	mean, sd, least, most := exact(h.Mean()), exact(h.StandardDeviation()), exact(float64(h.Min())), exact(float64(h.Max()))
	l := tool.PrintedLatency{Kind: kind, Mean: &mean, SD: &sd, Min: &least, Max: &most}
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		l.Quantiles = append(l.Quantiles, tool.PrintedQuantile{Q: q, Micros: exact(float64(h.Quantile(q)))})
	}
	return l
}
