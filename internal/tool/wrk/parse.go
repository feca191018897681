package wrk

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	prefix = "loadstone "
	// maxCount bounds every number that is read, so that sums of a whole dump stay far from overflow.
	maxCount = 1 << 42
	// maxMicros is above any latency that wrk can hold: its histogram ends at its timeout.
	maxMicros = 3_600_000_000
)

var (
	label    = regexp.MustCompile(`(?m)^\s*(\d+) threads and (\d+) connections\s*$`)
	counters = []string{"duration", "requests", "bytes", "connect", "read", "write", "timeout", "status", "bins"}
)

// dump is what the script wrote.
type dump struct {
	summary map[string]int64
	bins    []tool.Bin
	seen    map[int64]bool
	begun   bool
	ended   bool
}

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

// panicked finds the error that a script threw while wrk called it: LuaJIT prints it and ends wrk with status 1.
func panicked(raw []byte) error {
	const before = "PANIC: unprotected error in call to Lua API ("
	_, after, found := bytes.Cut(raw, []byte(before))
	if !found {
		return nil
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return fmt.Errorf("the script threw an error: %s", clip(strings.TrimSuffix(string(line), ")"), 200))
}

// parseLabel reads the line in which wrk says what it runs.
func parseLabel(raw []byte) (threads, connections int32, err error) {
	found := label.FindSubmatch(raw)
	if found == nil {
		return 0, 0, sentence(raw)
	}
	t, errThreads := strconv.ParseInt(string(found[1]), 10, 32)
	c, errConnections := strconv.ParseInt(string(found[2]), 10, 32)
	if err := errors.Join(errThreads, errConnections); err != nil {
		return 0, 0, fmt.Errorf("reading wrk's threads and connections: %w", err)
	}
	return int32(t), int32(c), nil
}

// sentence says why wrk did not run, in its own words where it has any.
func sentence(raw []byte) error {
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			return fmt.Errorf("wrk did not run: %s", clip(line, 200))
		}
	}
	return errors.New("wrk did not run and printed nothing")
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

func parseDump(raw []byte) (dump, error) {
	d := dump{summary: map[string]int64{}, seen: map[int64]bool{}}
	for line := range bytes.Lines(raw) {
		rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(prefix))
		if !ok {
			continue
		}
		if err := d.add(strings.Fields(string(rest))); err != nil {
			return d, fmt.Errorf("reading wrk's line %q: %w", clip(string(bytes.TrimSpace(line)), 80), err)
		}
	}
	if !d.begun || !d.ended {
		return d, errors.New("wrk's output is incomplete: it did not reach the end of its histogram")
	}
	for _, name := range counters {
		if _, ok := d.summary[name]; !ok {
			return d, fmt.Errorf("wrk's output is incomplete: %s is missing", name)
		}
	}
	if int64(len(d.bins)) != d.summary["bins"] {
		return d, fmt.Errorf("wrk's output is incomplete: it has %d of %d latencies", len(d.bins), d.summary["bins"])
	}
	return d, nil
}

var errLine = errors.New("the line is not one that the script writes here")

func (d *dump) add(words []string) error {
	switch {
	case d.ended:
		return errLine
	case len(words) == 1 && words[0] == "begin" && !d.begun:
		d.begun = true
		return nil
	case !d.begun:
		return errLine
	case len(words) == 1 && words[0] == "end":
		d.ended = true
		return nil
	case len(words) == 3 && words[0] == "summary":
		return d.addSummary(words[1], words[2])
	case len(words) == 3 && words[0] == "latency":
		return d.addLatency(words[1], words[2])
	}
	return errLine
}

func (d *dump) addSummary(name, value string) error {
	n, err := parseCount(value)
	if err != nil {
		return err
	}
	if _, twice := d.summary[name]; twice {
		return errors.New("the counter is there twice")
	}
	d.summary[name] = n
	return nil
}

func (d *dump) addLatency(micros, count string) error {
	m, err := parseCount(micros)
	if err != nil {
		return err
	}
	n, err := parseCount(count)
	if err != nil {
		return err
	}
	if m > maxMicros || d.seen[m] {
		return errors.New("the latency is there twice, or longer than any")
	}
	d.seen[m] = true
	d.bins = append(d.bins, tool.Bin{Micros: m, Count: n})
	return nil
}

func parseCount(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading a number: %w", err)
	}
	if n < 0 || n > maxCount {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return n, nil
}

// addLatency adds the corrected distribution, and the observed one where the samples without wrk's are as many as wrk's counters say.
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
