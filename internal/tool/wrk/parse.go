package wrk

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// Parse implements tool.Tool.
func (Tool) Parse(raw []byte) (record.Measurement, error) {
	if err := panicked(raw); err != nil {
		return record.Measurement{}, err
	}
	threads, connections, err := parseLabel(raw)
	if err != nil {
		return record.Measurement{}, err
	}
	d, err := parseDump(raw)
	if err != nil {
		return record.Measurement{}, err
	}
	s := d.summary
	m := record.Measurement{
		Tool:           program,
		Threads:        threads,
		Connections:    connections,
		DurationMicros: s["duration"],
		Requests:       s["requests"],
		ByRequest:      d.made,
		Bytes:          s["bytes"],
		Errors: record.Errors{
			Connect: s["connect"], Read: s["read"], Write: s["write"], Timeout: s["timeout"], Status: s["status"],
		},
	}
	if m.Requests > 0 && m.DurationMicros == 0 {
		return record.Measurement{}, fmt.Errorf("wrk counted %d requests in no time", m.Requests)
	}
	if err := addLatency(&m, d.bins); err != nil {
		return record.Measurement{}, err
	}
	return m, nil
}

// panicked finds an error thrown by a script that wrk called: LuaJIT prints it and ends wrk with status 1.
func panicked(raw []byte) error {
	const before = "PANIC: unprotected error in call to Lua API ("
	_, after, found := bytes.Cut(raw, []byte(before))
	if !found {
		return nil
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return fmt.Errorf("the script threw an error: %s", printed.Clip(strings.TrimSuffix(string(line), ")"), said))
}

func parseLabel(raw []byte) (threads, connections int32, err error) {
	for line := range strings.Lines(string(raw)) {
		found := label.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		t, errThreads := strconv.ParseInt(found[1], 10, 32)
		c, errConnections := strconv.ParseInt(found[2], 10, 32)
		if err := errors.Join(errThreads, errConnections); err != nil {
			return 0, 0, fmt.Errorf("reading wrk's threads and connections: %w", err)
		}
		return int32(t), int32(c), nil
	}
	return 0, 0, sentence(raw)
}

// sentence returns why wrk did not run, in its own words if possible.
func sentence(raw []byte) error {
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			return fmt.Errorf("wrk did not run: %s", printed.Clip(line, said))
		}
	}
	return errors.New("wrk did not run and printed nothing")
}

// addLatency adds the corrected distribution, and the observed one if its number of samples matches wrk's counters.
func addLatency(m *record.Measurement, bins []tool.Bin) error {
	observed, err := undone(*m, bins)
	if err == nil {
		latency, err := tool.Latency(record.Observed, observed)
		if err != nil {
			return fmt.Errorf("encoding observed latencies: %w", err)
		}
		m.Latency = append(m.Latency, latency)
	} else {
		m.Unknown = append(m.Unknown, "The observed latencies are unknown, since wrk's correction could not be undone: "+err.Error()+".")
	}
	corrected, err := tool.Latency(record.Corrected, bins)
	if err != nil {
		return fmt.Errorf("encoding corrected latencies: %w", err)
	}
	m.Latency = append(m.Latency, corrected)
	return nil
}

func undone(m record.Measurement, bins []tool.Bin) ([]tool.Bin, error) {
	observed, err := Undo(bins, interval(m.DurationMicros, m.Requests, int64(m.Connections)))
	if err != nil {
		return nil, err
	}
	var samples int64
	for _, b := range observed {
		samples += b.Count
	}
	if want := m.Requests - m.Errors.Timeout; samples != want {
		return nil, fmt.Errorf("%d samples are left where %d requests without %d timeouts make %d", samples, m.Requests, m.Errors.Timeout, want)
	}
	return observed, nil
}
