package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/k6"
)

// readK6 makes a sample of what k6 printed.
func readK6(lines []string, s *Sample) error {
	e, err := k6.ParseText(lines)
	if err != nil {
		return err
	}
	s.endOfTest(e, "the output contains no k6 requests")
	return nil
}

// parseJSON reads one or several summaries of k6.
func parseJSON(name, text string) ([]Sample, error) {
	var out []Sample
	d := json.NewDecoder(strings.NewReader(text))
	for {
		line := 1 + strings.Count(text[:d.InputOffset()], "\n")
		var exported k6.Export
		err := d.Decode(&exported)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading JSON from line %d: %w", line, err)
		}
		e, err := exported.EndOfTest()
		if err != nil {
			return nil, err
		}
		s := Sample{File: name, Line: line, Tool: K6}
		s.endOfTest(e, "the summary contains no k6 requests")
		if s.Failed == "" {
			s.Unknown = append(s.Unknown, "k6's JSON does not show the requested load: a sustained rate looks like a closed loop.")
		}
		s.finish()
		if len(out) > 0 {
			s.Line++
		}
		out = append(out, s)
		addNameClaims(name, out[len(out)-1:])
	}
}

// endOfTest fills a sample with what k6 says at the end of a test; without any request it is one that failed.
func (s *Sample) endOfTest(e k6.EndOfTest, failed string) {
	s.Requests, s.Throughput, s.Connections, s.Bytes = e.Requests, e.Throughput, e.Users, e.Bytes
	s.Seconds = printed.Quantity{Value: e.Seconds}
	s.Errors.Unsorted, s.ChecksPassed, s.ChecksFailed, s.Crossed = e.Failed, e.ChecksPassed, e.ChecksFailed, e.Crossed
	if e.Latency != nil {
		s.Latency = []tool.PrintedLatency{*e.Latency}
	}
	if i := e.Iterations; i != nil {
		s.Loop = &Loop{PerSecond: i.PerSecond, MeanMicros: i.MeanMicros}
	}
	if !e.Ran() {
		s.Failed = failed
		return
	}
	s.arrivals(e)
	s.Unknown = append(s.Unknown,
		"k6's http_req_duration excludes connecting and waiting for a free virtual user.",
		"k6 counts failed requests without separating error statuses from broken connections.")
}

// arrivals returns what an open load asked for. Only a single scenario of a constant rate says it in numbers.
func (s *Sample) arrivals(e k6.EndOfTest) {
	if r := e.Rate; r != nil {
		s.Arrivals = &Arrivals{PerSecond: r.PerSecond, Asked: r.PerSecond * r.Seconds, Started: e.Started, Dropped: e.Dropped}
		s.AskedSeconds = r.Seconds
		return
	}
	if e.Dropped > 0 {
		s.Arrivals = &Arrivals{Asked: float64(e.Started + e.Dropped), Started: e.Started, Dropped: e.Dropped}
	}
}
