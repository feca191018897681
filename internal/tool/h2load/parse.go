package h2load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	maxClients = 400_000
	clipped    = 200

	noRow = "reading row %d of h2load's log: it is no row"

	unseen = "h2load counts no request whose connection broke, and no connection that was refused."
)

var (
	factsHeader = regexp.MustCompile(`\n== h2load-[^\n]*\.json\n`)
	logHeader   = regexp.MustCompile(`\n== h2load-[^\n]*\.log\n`)

	threadLine   = regexp.MustCompile(`(?m)^spawning thread #\d+: (\d+) total client\(s\)\. Timing-based test with \S+ of warm-up time and (\d+)s of main duration`)
	finishedLine = regexp.MustCompile(`(?m)^finished in ([0-9.]+(?:us|ms|s)), `)
	requestsLine = regexp.MustCompile(`(?m)^requests: \d+ total, \d+ started, (\d+) done, `)
	trafficLine  = regexp.MustCompile(`(?m)^traffic: \S+ \((\d+)\) total, `)
	protocolLine = regexp.MustCompile(`(?m)^Application protocol: h2$`)
)

// Parse implements tool.Tool.
func (Tool) Parse(raw []byte) (record.Measurement, error) {
	said, rest, ok := cut(raw, factsHeader)
	known, log, also := cut(rest, logHeader)
	if !ok || !also {
		return record.Measurement{}, sentence(said)
	}
	var f facts
	if err := json.Unmarshal(known, &f); err != nil {
		return record.Measurement{}, fmt.Errorf("reading what h2load was asked for: %w", err)
	}
	m, done, err := readSaid(said)
	if err != nil {
		return m, err
	}
	bins, err := readLog(log, f.Status, &m)
	if err != nil {
		return m, err
	}
	if rows := m.Requests + m.Errors.Read; rows != done {
		return m, fmt.Errorf("h2load's log has %d rows, and it says that %d requests were done", rows, done)
	}
	if m.Requests == 0 {
		return m, errors.New("h2load got no answer")
	}
	if protocolLine.Match(said) {
		m.HTTP2 = m.Requests
	}
	latency, err := tool.Latency(record.Observed, bins)
	if err != nil {
		return m, fmt.Errorf("encoding h2load's latencies: %w", err)
	}
	m.Latency, m.Unknown = []record.Latency{latency}, []string{unseen}
	return m, nil
}

func cut(text []byte, at *regexp.Regexp) (before, after []byte, found bool) {
	if m := at.FindIndex(text); m != nil {
		return text[:m[0]], text[m[1]:], true
	}
	return text, nil, false
}

// sentence returns why h2load left no log, in its own words if possible.
func sentence(said []byte) error {
	for line := range strings.Lines(string(said)) {
		if line = strings.TrimSpace(line); line != "" {
			return fmt.Errorf("h2load did not run: %s", printed.Clip(line, clipped))
		}
	}
	return errors.New("h2load left no log: it did not run, or ended before its time")
}

func readSaid(said []byte) (m record.Measurement, done int64, err error) {
	m.Tool = program
	var seconds int64
	for _, t := range threadLine.FindAllSubmatch(said, -1) {
		clients, err := tool.Count(string(t[1]))
		if err != nil || clients > maxClients {
			return m, 0, fmt.Errorf("h2load prints a thread of %s clients", t[1])
		}
		if seconds, err = tool.Count(string(t[2])); err != nil || seconds > record.MaxCellSeconds {
			return m, 0, fmt.Errorf("h2load prints a duration of %s s", t[2])
		}
		if m.Connections += int32(clients); m.Connections > maxClients {
			return m, 0, fmt.Errorf("h2load prints %d clients, more than there can be", m.Connections)
		}
		m.Threads++
	}
	finished, requests, traffic := finishedLine.FindSubmatch(said), requestsLine.FindSubmatch(said), trafficLine.FindSubmatch(said)
	if m.Threads == 0 || finished == nil || requests == nil || traffic == nil {
		return m, 0, errors.New("h2load ended before its time: it printed no summary")
	}
	whole, err := time.ParseDuration(string(finished[1]))
	if err != nil {
		return m, 0, fmt.Errorf("reading how long h2load ran: %w", err)
	}
	// Requests that end after the requested time are not counted, so that time is not measured.
	m.DurationMicros = min(seconds*time.Second.Microseconds(), whole.Microseconds())
	if m.Bytes, err = tool.Count(string(traffic[1])); err != nil {
		return m, 0, fmt.Errorf("reading h2load's bytes: %w", err)
	}
	done, err = tool.Count(string(requests[1]))
	return m, done, err
}

func readLog(log []byte, status int32, m *record.Measurement) ([]tool.Bin, error) {
	counts := map[int64]int64{}
	for n := 1; len(log) > 0; n++ {
		line, rest, ended := bytes.Cut(log, []byte("\n"))
		log = rest
		if n > maxRequests {
			return nil, fmt.Errorf("h2load's log has more than %d rows: make durationSeconds shorter", maxRequests)
		}
		start, line, _ := bytes.Cut(line, []byte("\t"))
		code, took, _ := bytes.Cut(line, []byte("\t"))
		if !ended || len(start) == 0 {
			return nil, fmt.Errorf(noRow, n)
		}
		// A failed request may never have been sent: then its time is since boot, and meaningless.
		if string(code) == "-1" {
			m.Errors.Read++
			continue
		}
		got, err := tool.Count(string(code))
		if err != nil {
			return nil, fmt.Errorf(noRow, n)
		}
		micros, err := tool.Count(string(took))
		if err != nil || micros > histogram.HighestMicros {
			return nil, fmt.Errorf(noRow, n)
		}
		m.Requests++
		if got != int64(status) {
			m.Errors.Status++
		}
		counts[micros]++
	}
	bins := make([]tool.Bin, 0, len(counts))
	for micros, count := range counts {
		bins = append(bins, tool.Bin{Micros: micros, Count: count})
	}
	return bins, nil
}
