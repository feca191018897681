package lint

import (
	"errors"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/ab"
)

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
	s.Unknown = append(s.Unknown, "ab's first \"Time per request\" is its concurrency divided by its throughput and no measured latency; the measured mean is in its table, in whole milliseconds.")
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
