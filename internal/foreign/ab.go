package foreign

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

var (
	abField    = regexp.MustCompile(`^([A-Z][A-Za-z/0-9 -]*): +(.+)$`)
	abFailures = regexp.MustCompile(`^\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$`)
	abTotal    = regexp.MustCompile(`^Total: +(\d+) +(\d+) +(\S+) +(\d+) +(\d+)$`)
	abQuantile = regexp.MustCompile(`^(\d+)% +(\d+)(?: \(longest request\))?$`)
	abGaveUp   = regexp.MustCompile(`^[a-z_]+: .* \(\d+\)$`)
	abPartial  = regexp.MustCompile(`^Total of (\d+) requests completed$`)
)

// abStep is the step of ab's tables in microseconds: they print whole milliseconds.
const abStep = 1000

// abText is what ab's fields said, while it is read.
type abText struct {
	host, port, path, scheme string
	latency                  Latency
	gaveUp                   string
}

// readAB reads the output of ab.
func readAB(lines []string, s *Sample) error {
	s.Threads = 1
	t := abText{scheme: "http", latency: Latency{ResolutionMicros: abStep}}
	for _, line := range lines {
		if err := t.line(line, s); err != nil {
			return fmt.Errorf("reading the line %q: %w", clip(line, 60), err)
		}
	}
	if s.Throughput.Value == 0 && s.Seconds.Value == 0 {
		s.Failed = "the output ends before ab's totals"
		if t.gaveUp != "" {
			s.Failed = clip(t.gaveUp, 200)
		}
		return nil
	}
	if s.Connections == 0 {
		return errors.New("the line \"Concurrency Level:\" is missing")
	}
	if t.path != "" {
		s.URL = clip(t.scheme+"://"+t.host+":"+t.port+t.path, 200)
	}
	t.latency.Kind = record.WithConnection
	if s.Reused != nil {
		t.latency.Kind = record.Observed
	}
	if t.latency.Mean != nil {
		s.Latency = append(s.Latency, t.latency)
	}
	s.Unknown = append(s.Unknown, "ab's first \"Time per request\" is its concurrency divided by its throughput and no measured latency; the measured mean is in its table, in whole milliseconds.")
	return nil
}

func (t *abText) line(line string, s *Sample) error {
	if m := abFailures.FindStringSubmatch(line); m != nil {
		var exceptions int64
		err := parseCounts(m[1:], &s.Errors.Connect, &s.Errors.Read, &s.Errors.Body, &exceptions)
		s.Errors.Unsorted = exceptions
		return err
	}
	if m := abTotal.FindStringSubmatch(line); m != nil {
		return t.total(m)
	}
	if m := abQuantile.FindStringSubmatch(line); m != nil {
		return t.quantile(m)
	}
	if m := abPartial.FindStringSubmatch(line); m != nil {
		return parseCounts(m[1:], &s.Requests)
	}
	if m := abField.FindStringSubmatch(line); m != nil {
		return t.field(m[1], m[2], s)
	}
	if abGaveUp.MatchString(line) {
		t.gaveUp = line
	}
	return nil
}

func (t *abText) total(m []string) error {
	l := &t.latency
	l.Min, l.Mean, l.SD, l.Median, l.Max = &Quantity{}, &Quantity{}, &Quantity{}, &Quantity{}, &Quantity{}
	into := []*Quantity{l.Min, l.Mean, l.SD, l.Median, l.Max}
	for i, q := range into {
		if err := assign(q, m[i+1]+"ms", microsUnits); err != nil {
			return err
		}
	}
	return nil
}

func (t *abText) quantile(m []string) error {
	q, err := parseNumber(m[1])
	if err != nil || q > 100 {
		return errNumber
	}
	micros, err := parseQuantity(m[2]+"ms", microsUnits)
	if q < 100 {
		t.latency.Quantiles = append(t.latency.Quantiles, Quantile{Q: q / 100, Micros: micros})
	}
	return err
}

func (t *abText) field(name, value string, s *Sample) error {
	first := strings.Fields(value)[0]
	switch name {
	case "Server Hostname":
		t.host = first
	case "Server Port":
		t.port = first
	case "Document Path":
		t.path = value
	case "SSL/TLS Protocol":
		t.scheme = "https"
	case "Concurrency Level":
		return parseCounts([]string{first}, &s.Connections)
	case "Time taken for tests":
		return assign(&s.Seconds, first, noUnits)
	case "Complete requests":
		return parseCounts([]string{first}, &s.Requests)
	case "Failed requests":
		return parseCounts([]string{first}, &s.Errors.Unsorted)
	case "Write errors":
		return parseCounts([]string{first}, &s.Errors.Write)
	case "Non-2xx responses":
		return parseCounts([]string{first}, &s.Errors.Status)
	case "Keep-Alive requests":
		s.Reused = new(int64)
		return parseCounts([]string{first}, s.Reused)
	case "Total transferred":
		s.Bytes = &Quantity{}
		return exactly(s.Bytes, first)
	case "HTML transferred":
		s.BodyBytes = &Quantity{}
		return exactly(s.BodyBytes, first)
	case "Requests per second":
		return assign(&s.Throughput, first, noUnits)
	}
	return nil
}

func exactly(to *Quantity, text string) error {
	err := assign(to, text, noUnits)
	to.Rounding = 0
	return err
}
