package ab

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool"
)

// Lines of ab's output, trimmed.
var (
	fieldLine      = regexp.MustCompile(`^([A-Z][A-Za-z/0-9 -]*): +(.+)$`)
	failureLine    = regexp.MustCompile(`^\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$`)
	totalLine      = regexp.MustCompile(`^Total: +(\d+) +(\d+) +(\S+) +(\d+) +(\d+)$`)
	percentileLine = regexp.MustCompile(`^(\d+)% +(\d+)(?: \(longest request\))?$`)
	// ab prints why it gave up on a separate line, or behind its progress.
	gaveUpLine = regexp.MustCompile(`(?:^|\.\.\.)([a-z_]+(?:\(\))?: .* \(\d+\))$`)
	secureLine = regexp.MustCompile(`(?:^|\.\.)SSL (?:read|write|handshake) failed \(\d+\)`)
	endedLine  = regexp.MustCompile(`^Total of (\d+) requests completed$`)

	countValue  = regexp.MustCompile(`^\d+(?: bytes)?$`)
	secondValue = regexp.MustCompile(`^\d+\.\d{3} seconds$`)
	rateValue   = regexp.MustCompile(`^\d+\.\d{2} \[#/sec\] \(mean\)$`)
)

const (
	// stepMicros is the resolution of ab's tables in microseconds: whole milliseconds.
	stepMicros = 1000
	// anyLength is printed as document length if lengths are not compared.
	anyLength = "Variable"
	said      = 200
)

// Failures explain ab's failed requests; one may count several times.
type Failures struct {
	Connect, Receive, Length, Exceptions int64
}

// Text is ab's output for people. Values not printed are nil, or 0 if ab prints only nonzero ones. URL and GaveUp are untrusted.
type Text struct {
	// GaveUp is ab's line on why there is no result.
	GaveUp      string
	URL         string
	Connections *int64
	// Complete counts all ended requests, or those before ab gave up; Failed is the failed part, explained by Failures.
	Complete, Failed *int64
	Failures         *Failures
	// Writes counts requests that could not be sent, OtherStatus answers other than 2xx.
	Writes, OtherStatus int64
	// Kept counts requests after which the connection was kept; nil without keep-alive.
	Kept *int64
	// AnyLength: ab did not compare answer lengths (-l).
	AnyLength bool
	// Bytes is everything read, BodyBytes without headers.
	Bytes, BodyBytes *int64
	// Seconds is the duration; Throughput is in requests per second.
	Seconds, Throughput *printed.Quantity
	// Secure counts failed reads, writes and handshakes of TLS.
	Secure int64
	// EmptyFirst: the first answer was empty, and ab compared the lengths of the others with it.
	EmptyFirst bool
	// Unread quotes lines whose values are no numbers.
	Unread []string
	// Latency covers all complete requests, from the table; its kind follows from Kept.
	Latency *tool.PrintedLatency
	// Doubts quote lines with a repeated field or an unusual value. The first number of the last such line counts, since people edit texts;
	// trials' texts are not edited, and Parse refuses such lines. Of two lines that explain failures the last counts, without a doubt.
	Doubts []string
}

type reader struct {
	Text
	host, port, path, scheme string
	fields                   []string
	latency                  tool.PrintedLatency
}

// Begins reports whether a trimmed line is ab's first.
func Begins(line string) bool { return strings.HasPrefix(line, "This is ApacheBench,") }

// BeginsResult reports whether a trimmed line is the first of ab's result.
func BeginsResult(line string) bool { return strings.HasPrefix(line, "Server Software:") }

// ParseText parses the lines of one ab run and skips other lines. The error is of the lines in Unread, which cost no other value.
func ParseText(lines []string) (Text, error) {
	var unread []error
	r := reader{scheme: "http", latency: tool.PrintedLatency{ResolutionMicros: stepMicros}}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if err := r.read(line); err != nil {
			r.Unread = append(r.Unread, printed.Clip(line, said))
			unread = append(unread, fmt.Errorf("reading the line %q: %w", printed.Clip(line, 60), err))
		}
	}
	if r.path != "" {
		r.URL = printed.Clip(r.scheme+"://"+r.host+":"+r.port+r.path, said)
	}
	if r.latency.Mean != nil {
		r.Latency = &r.latency
	}
	return r.Text, errors.Join(unread...)
}

func (r *reader) read(line string) error {
	if m := failureLine.FindStringSubmatch(line); m != nil {
		r.Failures = &Failures{}
		f := r.Failures
		return printed.Counts(m[1:], &f.Connect, &f.Receive, &f.Length, &f.Exceptions)
	}
	if m := totalLine.FindStringSubmatch(line); m != nil {
		return r.readTotal(m)
	}
	if m := percentileLine.FindStringSubmatch(line); m != nil {
		return r.readPercentile(m)
	}
	if m := endedLine.FindStringSubmatch(line); m != nil {
		return readCount(&r.Complete, m[1])
	}
	if m := fieldLine.FindStringSubmatch(line); m != nil {
		return r.readField(line, m[1], m[2])
	}
	if secureLine.MatchString(line) {
		r.Secure++
	}
	if m := gaveUpLine.FindStringSubmatch(line); m != nil {
		r.GaveUp = printed.Clip(m[1], said)
	}
	return nil
}

func (r *reader) readTotal(m []string) error {
	l := &r.latency
	l.Min, l.Mean, l.SD, l.Median, l.Max = &printed.Quantity{}, &printed.Quantity{}, &printed.Quantity{}, &printed.Quantity{}, &printed.Quantity{}
	for i, q := range []*printed.Quantity{l.Min, l.Mean, l.SD, l.Median, l.Max} {
		if err := q.Set(m[i+1]+"ms", printed.Micros); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readPercentile(m []string) error {
	q, err := printed.Share(m[1])
	if err != nil {
		return err
	}
	micros, err := printed.Parse(m[2]+"ms", printed.Micros)
	if q < 1 {
		r.latency.Quantiles = append(r.latency.Quantiles, tool.PrintedQuantile{Q: q, Micros: micros})
	}
	return err
}

func (r *reader) readField(line, name, value string) error {
	var err error
	first, usual := strings.Fields(value)[0], countValue
	switch name {
	case "Concurrency Level":
		err = readCount(&r.Connections, first)
	case "Time taken for tests":
		usual, err = secondValue, readQuantity(&r.Seconds, first)
	case "Complete requests":
		err = readCount(&r.Complete, first)
	case "Failed requests":
		err = readCount(&r.Failed, first)
	case "Write errors":
		err = printed.Counts([]string{first}, &r.Writes)
	case "Non-2xx responses":
		err = printed.Counts([]string{first}, &r.OtherStatus)
	case "Keep-Alive requests":
		err = readCount(&r.Kept, first)
	case "Total transferred":
		err = readCount(&r.Bytes, first)
	case "HTML transferred":
		err = readCount(&r.BodyBytes, first)
	case "Requests per second":
		usual, err = rateValue, readQuantity(&r.Throughput, first)
	case "Document Length":
		r.AnyLength, r.EmptyFirst = value == anyLength, value == "0 bytes"
		return nil
	default:
		if r.readAddress(name, first, value) {
			r.doubt(line, name, true)
		}
		return nil
	}
	r.doubt(line, name, usual.MatchString(value))
	return err
}

func (r *reader) readAddress(name, first, value string) bool {
	switch name {
	case "Server Hostname":
		r.host = first
	case "Server Port":
		r.port = first
	case "Document Path":
		r.path = value
	case "SSL/TLS Protocol":
		r.scheme = "https"
	default:
		return false
	}
	return true
}

func (r *reader) doubt(line, name string, usual bool) {
	if !usual {
		r.Doubts = append(r.Doubts, fmt.Sprintf("%q: ab prints no such value", printed.Clip(line, said)))
	}
	if slices.Contains(r.fields, name) {
		r.Doubts = append(r.Doubts, fmt.Sprintf("%q: the counter is there twice", printed.Clip(line, said)))
	}
	r.fields = append(r.fields, name)
}

func readCount(into **int64, text string) error {
	n, err := printed.Count(text)
	if err == nil {
		*into = &n
	}
	return err
}

func readQuantity(into **printed.Quantity, text string) error {
	q, err := printed.Parse(text, printed.Plain)
	if err == nil {
		*into = &q
	}
	return err
}
