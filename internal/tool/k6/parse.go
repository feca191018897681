package k6

import (
	"errors"
	"fmt"
	"math"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// early is how many milliseconds before its time a scenario may seem to end, since clocks are read in sequence.
const early = 5

// Parse implements tool.Tool.
func (Tool) Parse(raw []byte) (record.Measurement, error) {
	s, err := findSummary(raw)
	if err != nil {
		return record.Measurement{}, err
	}
	if err := s.ran(raw); err != nil {
		return record.Measurement{}, err
	}
	m := record.Measurement{
		Tool:           program,
		Threads:        int32(min(s.gauge("threads"), math.MaxInt32)),
		Connections:    int32(min(s.gauge("vus"), math.MaxInt32)),
		DurationMicros: int64(s.gauge("duration") * microsPerMilli),
		Requests:       s.completed(),
		Bytes:          s.count(metricReceived),
	}
	for _, name := range metricsMade(s.statuses()) {
		m.ByRequest = append(m.ByRequest, s.count(name))
	}
	if s.HTTP2 {
		m.HTTP2 = s.count(metricHTTP2)
	}
	if m.Errors, err = s.errors(); err != nil {
		return record.Measurement{}, err
	}
	if err := s.addLatency(&m); err != nil {
		return record.Measurement{}, err
	}
	if s.gauge("rate") > 0 {
		s.addArrivals(&m)
	}
	return m, nil
}

// ran returns why the run was not the requested load, or nil.
func (s summary) ran(raw []byte) error {
	if n := s.count(metricThrew); n > 0 {
		return fmt.Errorf("the script threw %d times, at first: %s", n, message(raw))
	}
	if s.gauge("iterations") > 0 {
		return s.probed()
	}
	planned, loaded := s.gauge("duration"), s.Millis-s.gauge("setup")-s.gauge("teardown")
	switch {
	case planned == 0:
		return errors.New("reading k6's summary: its scenario took no time")
	case loaded < planned-early:
		return fmt.Errorf("k6 ended after %.0f of %.0f ms: the script must not end the test", loaded, planned)
	}
	return s.requested()
}

func (s summary) probed() error {
	if s.count(metricIterations) == 0 {
		return fmt.Errorf("the script's iteration did not end within %s", probeLimit)
	}
	return s.requested()
}

// requested compares requests with iterations: the wrapper makes exactly one request per iteration, a script at least one per run.
func (s summary) requested() error {
	requests, iterations := s.count(metricRequests), s.count(metricIterations)
	switch {
	case s.Script && iterations > 0 && requests == 0:
		return fmt.Errorf("the script made no request in %d iterations", iterations)
	case !s.Script && requests < iterations:
		return fmt.Errorf("k6 made %d iterations of one request each, and counted %d requests", iterations, requests)
	case len(s.Statuses) > 0 && s.sum(metricsMade(s.Statuses)) != requests:
		return fmt.Errorf("k6 counted %d requests, and %d by the requests of the mix", requests, s.sum(metricsMade(s.Statuses)))
	case s.count(metricUnanswered) > requests:
		return fmt.Errorf("k6 counted %d requests, %d of them unanswered", requests, s.count(metricUnanswered))
	case s.count(metricHTTP2) > s.completed():
		return fmt.Errorf("k6 counted %d answers, %d of them in HTTP/2", s.completed(), s.count(metricHTTP2))
	}
	return nil
}

func (s summary) completed() int64 { return s.count(metricRequests) - s.count(metricUnanswered) }

// errors counts errors by kind. An unanswered request is a timeout, a failed connect, or a broken read.
func (s summary) errors() (record.Errors, error) {
	e := record.Errors{Timeout: s.count(metricTimeout), Body: s.count(metricWrongBody) + int64(s.Metrics[metricChecks].Fails)}
	for _, code := range connectCodes {
		e.Connect += s.count(metricCode(code))
	}
	e.Read = s.count(metricUnanswered) - e.Timeout - e.Connect
	right := s.sum(metricsRight(s.statuses()))
	if s.Script {
		right = s.count(metricExpected)
	}
	e.Status = s.completed() - right
	if e.Read < 0 || e.Status < 0 {
		return e, fmt.Errorf("k6's counters contradict each other: %+v", e)
	}
	return e, nil
}

func (s summary) addLatency(m *record.Measurement) error {
	kind, name := record.Observed, metricObserved
	switch {
	case s.PerRequest && !s.Script:
		kind, name = record.WithConnection, metricWithConnection
	case s.PerRequest:
		m.Unknown = append(m.Unknown, "The latencies from the opening of the connection are unknown, since k6 tells them to the script only.")
	}
	if left := m.Requests - s.count(name); left < 0 {
		return fmt.Errorf("k6 counted %d answers and %d latencies", m.Requests, s.count(name))
	} else if s.Script && left > 0 {
		m.Unknown = append(m.Unknown, fmt.Sprintf("The latencies of %d answers with a wrong status are unknown.", left))
	}
	found, err := s.brackets(name)
	if err != nil {
		return fmt.Errorf("reading k6's latencies: %w", err)
	}
	latency, err := tool.Bracketed(kind, found)
	if err != nil {
		return fmt.Errorf("encoding k6's latencies: %w", err)
	}
	m.Latency = append(m.Latency, latency)
	return nil
}
