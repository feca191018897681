package vegeta

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
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// unseen is how much later the attack may have begun: the earliest request may be late itself.
	unseen  = 100 * time.Microsecond
	clipped = 200

	unknownBytes = "The bytes of the answers are unknown: they say no length of their own, and vegeta counts none that it does not keep."
)

var (
	target  = regexp.MustCompile(`\n== vegeta-[^\n]*\.json\n`)
	records = regexp.MustCompile(`\n== vegeta-[^\n]*\.gob\n`)
)

// Parse implements tool.Tool.
func (Tool) Parse(raw []byte) (record.Measurement, error) {
	said, rest, ok := cut(raw, target)
	asked, rows, also := cut(rest, records)
	if !ok || !also || len(rows) == 0 {
		return record.Measurement{}, sentence(said)
	}
	var own request
	if err := json.Unmarshal(asked, &own); err != nil {
		return record.Measurement{}, fmt.Errorf("reading what vegeta was asked for: %w", err)
	}
	f := own.Loadstone
	if f.Rate < 1 || f.Rate > record.MaxRate || f.Seconds < 1 || f.Seconds > record.MaxCellSeconds { // No instant overflows then.
		return record.Measurement{}, fmt.Errorf("reading what vegeta was asked for: %d requests/s for %d s are out of range", f.Rate, f.Seconds)
	}
	list, err := readRows(rows)
	if err != nil {
		return record.Measurement{}, err
	}
	return f.measurement(list)
}

func cut(text []byte, at *regexp.Regexp) (before, after []byte, found bool) {
	if m := at.FindIndex(text); m != nil {
		return text[:m[0]], text[m[1]:], true
	}
	return text, nil, false
}

// sentence returns why vegeta left no records, in its own words if possible.
func sentence(said []byte) error {
	for line := range strings.Lines(string(said)) {
		if line = strings.TrimSpace(line); line != "" {
			return fmt.Errorf("vegeta did not run: %s", printed.Clip(line, clipped))
		}
	}
	return errors.New("vegeta left no records: it did not run, or ended before its time")
}

func (f facts) asked() int64 { return int64(f.Rate) * int64(f.Seconds) }

// due returns an arrival's instant after the attack began.
func (f facts) due(arrival uint64) time.Duration {
	return time.Duration(arrival+1) * (time.Second / time.Duration(f.Rate))
}

func (f facts) measurement(list []row) (record.Measurement, error) {
	m := record.Measurement{
		Tool: program, Threads: f.Threads, Connections: f.Connections, DurationMicros: int64(f.Seconds) * time.Second.Microseconds(), Asked: f.asked(),
		// Requests are numbered from 0 without gaps: arrivals without number never started.
		Dropped: max(f.asked()-int64(len(list)), 0),
	}
	bytesKnown := true
	var why string
	for _, r := range list {
		if int64(r.Seq) >= f.asked() {
			continue // It started in the margin, and is no arrival.
		}
		if !r.answered() {
			count(&m.Errors, r.Error)
			why = r.Error
			continue
		}
		m.Requests++
		n, known := r.bytes(f.Body != nil)
		m.Bytes, bytesKnown = m.Bytes+n, bytesKnown && known
		switch {
		case int32(r.Code) != f.Status:
			m.Errors.Status++
		case f.Body != nil && !bytes.Equal(r.Body, []byte(*f.Body)):
			m.Errors.Body++
		}
	}
	if m.Requests == 0 {
		return m, fmt.Errorf("vegeta got no answer: %s", printed.Clip(why, clipped))
	}
	if !bytesKnown {
		m.Bytes, m.Unknown = 0, append(m.Unknown, unknownBytes)
	}
	var err error
	m.Latency, err = f.latencies(list)
	return m, err
}

func count(e *record.Errors, text string) {
	switch {
	case strings.Contains(text, "Client.Timeout") || strings.Contains(text, "deadline exceeded"):
		e.Timeout++
	case strings.Contains(text, "dial tcp") || strings.Contains(text, "tls: "):
		e.Connect++
	case strings.Contains(text, "write tcp"):
		e.Write++
	default:
		e.Read++
	}
}

func (f facts) latencies(list []row) ([]record.Latency, error) {
	began := f.began(list)
	var each []tool.Bin
	var intended []tool.Bracket
	for _, r := range list {
		if !r.answered() || int64(r.Seq) >= f.asked() {
			continue
		}
		each = append(each, tool.Bin{Micros: r.Latency.Microseconds(), Count: 1})
		from := r.Timestamp.Sub(began) - f.due(r.Seq) + r.Latency
		intended = append(intended, tool.Bracket{LowMicros: from.Microseconds(), HighMicros: (from + unseen).Microseconds() + 1, Count: 1})
	}
	kind := record.Observed
	if f.PerRequest {
		kind = record.WithConnection
	}
	observed, err := tool.Latency(kind, each)
	if err != nil {
		return nil, fmt.Errorf("encoding vegeta's latencies: %w", err)
	}
	fromIntended, err := tool.Bracketed(record.FromIntended, intended)
	if err != nil {
		return nil, fmt.Errorf("encoding vegeta's latencies: %w", err)
	}
	return []record.Latency{observed, fromIntended}, nil
}

// began returns the latest possible start of the attack: no request starts before it is due.
func (f facts) began(list []row) time.Time {
	began := list[0].Timestamp.Add(-f.due(list[0].Seq))
	for _, r := range list {
		if at := r.Timestamp.Add(-f.due(r.Seq)); at.Before(began) {
			began = at
		}
	}
	return began
}
