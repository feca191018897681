package ab

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	unknownTimeouts = "ab counts no timeouts: a request that was never answered while others were is counted nowhere."
	unknownLengths  = "ab does not tell an answer of another length than the first from a connection that closed before its answer was whole: both are counted as wrong bodies."
	unknownCut      = "ab did not compare the lengths of answers: one whose connection closed before it was whole counts as a whole one."
	unknownLost     = "ab times requests that failed with their connection like the others: the latencies of those that were answered lie within wider bounds."
	unknownOpening  = "Some of ab's latencies begin with the opening of a connection, since the server did not keep every connection."
	unknownKept     = "The server kept no connection, although ab asked for it: all latencies begin with the opening of one."
)

// table is the header of the file of percentiles and its first line.
var table = regexp.MustCompile(`\n== ab-[^\n]*\.csv\nPercentage served,Time in ms\n`)

// Parse implements tool.Tool.
func (Tool) Parse(raw []byte) (record.Measurement, error) {
	text, rows := string(raw), ""
	if at := table.FindStringIndex(text); at != nil {
		text, rows = text[:at[0]+1], text[at[1]:]
	}
	if !strings.Contains(text, "\nComplete requests:") {
		return record.Measurement{}, sentence(text)
	}
	t, err := ParseText(strings.Split(text, "\n"))
	if err != nil {
		return record.Measurement{}, fmt.Errorf("reading ab's output: %w", err)
	}
	r, err := newReport(t)
	if err != nil {
		return record.Measurement{}, err
	}
	if r.answered() <= 0 {
		return record.Measurement{}, errors.New("ab got no answer: its connections were refused or broken")
	}
	if err := r.addDuration(t); err != nil {
		return record.Measurement{}, err
	}
	latency, err := parseLatency(r, rows)
	if err != nil {
		return record.Measurement{}, err
	}
	return record.Measurement{
		Tool: program, Threads: 1, Connections: int32(r.connections),
		DurationMicros: r.micros, Requests: r.answered(), Bytes: r.bytes,
		Errors: record.Errors{
			Connect: r.connects,
			// A broken connection counts as one of both, and as a length.
			Read: max(r.receives, r.exceptions), Write: r.writes, Status: r.otherStatus, Body: max(r.lengths-r.lost(), 0),
		},
		Latency: []record.Latency{latency},
		Unknown: unknown(r),
	}, nil
}

func parseLatency(r report, rows string) (record.Latency, error) {
	micros, err := parsePercentiles(rows, r.complete)
	if err != nil {
		return record.Latency{}, err
	}
	kind := record.WithConnection
	if r.kept > 0 {
		kind = record.Observed
	}
	latency, err := tool.Bracketed(kind, Brackets(micros, r.complete, r.lost()))
	if err != nil {
		return record.Latency{}, fmt.Errorf("encoding ab's latencies: %w", err)
	}
	return latency, nil
}

var row = regexp.MustCompile(`^(\d{1,3}),(-?\d+)\.(\d{3})$`)

// parsePercentiles reads the table's rows. Rows without a sample are meaningless and left 0.
func parsePercentiles(rows string, samples int64) (micros [percentiles]int64, err error) {
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	if len(lines) != percentiles {
		return micros, fmt.Errorf("ab's output is incomplete: its table has %d of %d percentiles", len(lines), percentiles)
	}
	least := int64(0)
	for p, line := range lines {
		found := row.FindStringSubmatch(line)
		if found == nil || found[1] != fmt.Sprint(p) {
			return micros, fmt.Errorf("reading ab's percentile %d: the line %q is not one of its table", p, printed.Clip(line, 80))
		}
		if _, ok := rank(int64(p), samples); !ok {
			continue
		}
		n, err := tool.Count(found[2] + found[3])
		if err == nil && n < least {
			err = errors.New("it is below the one before")
		}
		if err != nil {
			return micros, fmt.Errorf("reading ab's percentile %d: %w", p, err)
		}
		micros[p], least = n, n
	}
	return micros, nil
}

func unknown(r report) []string {
	out := []string{unknownTimeouts}
	if r.lengths > r.lost() {
		out = append(out, unknownLengths)
	}
	if r.anyLength {
		out = append(out, unknownCut)
	}
	if r.lost() > 0 {
		out = append(out, unknownLost)
	}
	switch {
	case r.keepAlive && r.kept == 0:
		out = append(out, unknownKept)
	case r.keepAlive && r.kept < r.complete:
		out = append(out, unknownOpening)
	}
	return out
}
