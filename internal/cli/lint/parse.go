package lint

import (
	"errors"
	"fmt"
	"regexp"
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

// A file's text is cut into runs at the lines with which tools begin.
var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// furniture is what stands around output and is no title: the end of the output before, progress, fences of Markdown.
	furniture = regexp.MustCompile("^(```.*|~~~.*|[-=*_#/\\\\|(~). ‾]+|(Requests|Transfer)/sec:.*|\\d+(\\.\\d+)?% .*|Non-2xx .*|Socket errors: .*|" +
		"loadstone .*|running \\(.*|\\S+ +[✓✗↓] \\[.*|time=\".*|data_(sent|received)\\.*: .*|/\\\\ .*|/ .*)$")
)

// chunk is the part of a file that one run printed.
type chunk struct {
	tool  string
	first int
	lines []string
	// titles are the lines above it, the nearest first.
	titles []string
	// seen are the metrics of k6 that it has already.
	seen map[string]bool
}

// Parse finds every run in the text of a file. Name is what people call the file, and appears in samples and errors. A run whose
// tool gave up is a sample with Failed set; an error means that the text holds no run, or one that cannot be read.
func Parse(name string, text []byte) ([]Sample, error) {
	clean := strings.ToValidUTF8(escapes.ReplaceAllString(string(text), ""), "?")
	if strings.HasPrefix(strings.TrimSpace(clean), "{") {
		samples, err := parseJSON(name, clean)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		return samples, nil
	}
	chunks := split(clean)
	if len(chunks) == 0 {
		return nil, fmt.Errorf("reading %s: found no output of wrk (\"Running 10s test @ URL\"), ab (\"This is ApacheBench\") or k6: "+
			"use the summary that k6 prints at its end (\"http_reqs...: 12345 411.2/s\"), or the JSON of k6's --summary-export or handleSummary", name)
	}
	var out []Sample
	for _, c := range chunks {
		s := Sample{File: name, Line: c.first, Tool: c.tool}
		if len(c.titles) > 0 {
			s.Title = printed.Clip(c.titles[0], 120)
		}
		if err := c.read(&s); err != nil {
			return nil, fmt.Errorf("reading %s: %s run at line %d: %w", name, c.tool, c.first, err)
		}
		s.finish()
		s.Claims = claims(s, c.titles)
		out = append(out, s)
	}
	addNameClaims(name, out)
	return out, nil
}

func (c chunk) read(s *Sample) error {
	switch c.tool {
	case Wrk:
		return readWrk(c.lines, s)
	case AB:
		return readAB(c.lines, s)
	}
	return readK6(c.lines, s)
}

// split cuts text into chunks.
func split(text string) []chunk {
	var (
		out    []chunk
		lines  = strings.Split(text, "\n")
		titles []string
	)
	for i, line := range lines {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), ">"))
		var current *chunk
		if len(out) > 0 {
			current = &out[len(out)-1]
		}
		if tool := begins(line, current); tool != "" {
			out = append(out, chunk{tool: tool, first: i + 1, titles: titles, seen: map[string]bool{}})
			current = &out[len(out)-1]
		}
		if current != nil {
			current.lines = append(current.lines, line)
			if metric, ok := k6.Metric(line); ok {
				current.seen[metric] = true
			}
		}
		titles = withTitle(titles, line, current != nil && len(current.lines) == 1)
	}
	return out
}

// maxTitles is how many lines above an output may say what it is.
const maxTitles = 3

// withTitle adds a line that may be the title of the next run, the nearest first.
func withTitle(titles []string, line string, begun bool) []string {
	switch {
	case begun:
		return nil
	case line == "":
		return titles
	case furniture.MatchString(line):
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			return titles
		}
		return nil
	}
	titles = append([]string{line}, titles...)
	return titles[:min(len(titles), maxTitles)]
}

// begins returns which tool's run begins with a line, after what the current chunk holds already.
func begins(line string, current *chunk) string {
	in := func(tool string) bool { return current != nil && current.tool == tool }
	switch {
	case wrk.Begins(line):
		return Wrk
	case ab.Begins(line):
		return AB
	case ab.BeginsResult(line) && (!in(AB) || slices.ContainsFunc(current.lines, ab.BeginsResult)):
		return AB
	case k6.Begins(line):
		return K6
	case k6.BeginsPart(line) && (!in(K6) || len(current.seen) > 0):
		return K6
	}
	if metric, ok := k6.Metric(line); ok && (!in(K6) || current.seen[metric] || current.over(metric)) {
		return K6
	}
	return ""
}

// over says that a metric begins another summary, although this one does not have it: checks come first, and one may have none.
func (c *chunk) over(metric string) bool {
	return metric == "checks" && (c.seen["http_reqs"] || c.seen["iterations"])
}

// readAB makes a sample of what ab printed.
func readAB(lines []string, s *Sample) error {
	t, err := ab.ParseText(lines)
	if err != nil {
		return err
	}
	s.Threads = 1
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
	if s.Connections == 0 {
		return errors.New("the line \"Concurrency Level:\" is missing")
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

// exactly is a count as a quantity that was not rounded; nil if it was not printed.
func exactly(n *int64) *printed.Quantity {
	if n == nil {
		return nil
	}
	return &printed.Quantity{Value: float64(*n)}
}

// readWrk makes a sample of what wrk printed, or wrk2, which looks like it and means something else.
func readWrk(lines []string, s *Sample) error {
	t, err := wrk.ParseText(lines)
	if err != nil {
		return err
	}
	s.Failed, s.URL, s.AskedSeconds, s.Threads, s.Connections = t.Failed, t.URL, t.AskedSeconds, t.Threads, t.Connections
	s.Requests, s.Seconds, s.Throughput, s.ThreadRate, s.Bytes = t.Requests, t.Seconds, t.Throughput, t.ThreadRate, t.Bytes
	s.Errors.Errors = t.Errors
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
