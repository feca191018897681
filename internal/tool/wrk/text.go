package wrk

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

var (
	begin       = regexp.MustCompile(`^Running (\S+) test @ (\S+)$`)
	dead        = regexp.MustCompile(`^unable to connect to \S+ .*$`)
	label       = regexp.MustCompile(`^(\d+) threads? and (\d+) connections?$`)
	latencyLine = regexp.MustCompile(`^Latency +(\S+) +(\S+) +(\S+) +\S+%$`)
	threadRate  = regexp.MustCompile(`^Req/Sec +([0-9.]+[kMG]?) +\S+ +\S+ +\S+%$`)
	quantile    = regexp.MustCompile(`^(\d+(?:\.\d+)?)% +(\S+)$`)
	totals      = regexp.MustCompile(`^(\d+) requests in (\S+), (\S+) read$`)
	socketError = regexp.MustCompile(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$`)
	badStatus   = regexp.MustCompile(`^Non-2xx or 3xx responses: (\d+)$`)
	throughput  = regexp.MustCompile(`^Requests/sec: +(\S+)$`)
	// Only wrk2 prints these lines.
	wrk2Mark = regexp.MustCompile(`^(Thread calibration: .*|Initialised .* threads.*|Latency Distribution \(HdrHistogram.*)$`)
)

const said = 200

// Text is the output for people of wrk, or of wrk2, which looks alike but has another meaning. URL and Failed are untrusted.
type Text struct {
	// Failed says why there is no result, in wrk's words if possible; the rest is then mostly absent.
	Failed string
	// Wrk2: wrk2 printed it, and latencies are from the intended start.
	Wrk2 bool
	URL  string
	// AskedSeconds is the requested duration; 0 if the first line is missing.
	AskedSeconds         float64
	Threads, Connections int64
	Requests             int64
	// Seconds is the duration; Throughput is in requests per second.
	Seconds, Throughput printed.Quantity
	// ThreadRate is the mean sampled rate of one thread, in requests per second; nil if not printed.
	ThreadRate *printed.Quantity
	Bytes      *printed.Quantity
	Errors     record.Errors
	Latency    *tool.PrintedLatency
	// Unread quotes lines whose values are no numbers.
	Unread []string
}

// Begins reports whether a trimmed line is wrk's first.
func Begins(line string) bool {
	return strings.HasPrefix(line, "Running ") && begin.MatchString(line) || strings.HasPrefix(line, "unable to connect ") && dead.MatchString(line)
}

// BeginsLabel reports whether a trimmed line is wrk's second, with threads and connections.
func BeginsLabel(line string) bool {
	return strings.Contains(line, " thread") && label.MatchString(line)
}

// HasDump reports whether the text holds the output of Loadstone's script: Parse reads more of it, and exactly.
func HasDump(raw string) bool { return strings.Contains(raw, prefix+"begin") }

// ParseText parses the lines of one wrk run and skips other lines. The error is of the lines in Unread, which cost no other value.
func ParseText(lines []string) (Text, error) {
	t := Text{}
	var unread []error
	l := tool.PrintedLatency{Kind: record.Corrected}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if dead.MatchString(line) {
			t.Failed = printed.Clip(line, said)
			return t, errors.Join(unread...)
		}
		if err := t.read(line, &l); err != nil {
			t.Unread, unread = append(t.Unread, printed.Clip(line, said)), append(unread, err)
		}
	}
	if t.Throughput.Value == 0 && t.Seconds.Value == 0 {
		t.Failed = "the output ends before wrk's totals"
		return t, errors.Join(unread...)
	}
	if t.Wrk2 {
		l.Kind = record.FromIntended
	}
	if l.Mean != nil {
		t.Latency = &l
	}
	return t, errors.Join(unread...)
}

func (t *Text) read(line string, l *tool.PrintedLatency) error {
	if wrk2Mark.MatchString(line) {
		t.Wrk2 = true
		return nil
	}
	if m := begin.FindStringSubmatch(line); m != nil {
		t.URL = printed.Clip(m[2], said)
		asked, err := printed.Parse(m[1], printed.Micros)
		t.AskedSeconds = asked.Value / 1e6
		return err
	}
	if m := label.FindStringSubmatch(line); m != nil {
		return printed.Counts(m[1:], &t.Threads, &t.Connections)
	}
	if m := socketError.FindStringSubmatch(line); m != nil {
		e := &t.Errors
		return printed.Counts(m[1:], &e.Connect, &e.Read, &e.Write, &e.Timeout)
	}
	if m := badStatus.FindStringSubmatch(line); m != nil {
		return printed.Counts(m[1:], &t.Errors.Status)
	}
	if m := throughput.FindStringSubmatch(line); m != nil {
		return t.Throughput.Set(m[1], printed.Plain)
	}
	if m := threadRate.FindStringSubmatch(line); m != nil {
		rate, err := printed.Parse(m[1], printed.Thousands)
		if err == nil {
			t.ThreadRate = &rate
		}
		return err
	}
	if m := totals.FindStringSubmatch(line); m != nil {
		return t.readTotals(m)
	}
	return readLatency(line, l)
}

func (t *Text) readTotals(m []string) error {
	if err := printed.Counts(m[1:], &t.Requests); err != nil {
		return err
	}
	took, err := printed.Parse(m[2], printed.Micros)
	if err != nil {
		return err
	}
	t.Seconds = printed.Quantity{Value: took.Value / 1e6, Rounding: took.Rounding / 1e6}
	read, err := printed.Parse(m[3], printed.BinaryBytes)
	if err == nil {
		t.Bytes = &read
	}
	return err
}

func readLatency(line string, l *tool.PrintedLatency) error {
	if m := latencyLine.FindStringSubmatch(line); m != nil && l.Mean == nil {
		var mean, sd, most printed.Quantity
		if err := errors.Join(mean.Set(m[1], printed.Micros), sd.Set(m[2], printed.Micros), most.Set(m[3], printed.Micros)); err != nil {
			return err
		}
		l.Mean, l.SD, l.Max = &mean, &sd, &most
		return nil
	}
	m := quantile.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	q, err := printed.Share(m[1])
	if err != nil {
		return fmt.Errorf("reading the quantile %q: %w", printed.Clip(line, 40), err)
	}
	// wrk2 may print a second distribution, which begins with a lower quantile.
	if n := len(l.Quantiles); n > 0 && l.Quantiles[n-1].Q >= q {
		return nil
	}
	micros, err := printed.Parse(m[2], printed.Micros)
	if err == nil {
		l.Quantiles = append(l.Quantiles, tool.PrintedQuantile{Q: q, Micros: micros})
	}
	return err
}
