package foreign

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/histogram"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

var (
	wrkLabel    = regexp.MustCompile(`^(\d+) threads? and (\d+) connections?$`)
	wrkLatency  = regexp.MustCompile(`^Latency +(\S+) +(\S+) +(\S+) +\S+%$`)
	wrkSampled  = regexp.MustCompile(`^Req/Sec +([0-9.]+[kMG]?) +\S+ +\S+ +\S+%$`)
	wrkQuantile = regexp.MustCompile(`^(\d+(?:\.\d+)?)% +(\S+)$`)
	wrkTotal    = regexp.MustCompile(`^(\d+) requests in (\S+), (\S+) read$`)
	wrkErrors   = regexp.MustCompile(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$`)
	wrkStatus   = regexp.MustCompile(`^Non-2xx or 3xx responses: (\d+)$`)
	wrkRate     = regexp.MustCompile(`^Requests/sec: +(\S+)$`)
	// wrk2 prints these lines, and wrk does not.
	wrk2Mark = regexp.MustCompile(`^(Thread calibration: .*|Initialised .* threads.*|Latency Distribution \(HdrHistogram.*)$`)
)

const wrkDump = "loadstone begin"

// readWrk reads the output of wrk, or of wrk2, which looks like it and means something else.
func readWrk(lines []string, s *Sample) error {
	l := Latency{Kind: record.Corrected}
	for _, line := range lines {
		if wrkDead.MatchString(line) {
			s.Failed = clip(line, 200)
			return nil
		}
		if err := wrkLine(line, s, &l); err != nil {
			return err
		}
	}
	if s.Connections == 0 {
		return errors.New("the line \"N threads and M connections\" is missing or cut off")
	}
	if s.Throughput.Value == 0 && s.Seconds.Value == 0 {
		s.Failed = "the output ends before wrk's totals"
		return nil
	}
	if s.Tool == Wrk2 {
		l.Kind = record.FromIntended
		s.Unknown = append(s.Unknown, "The rate that wrk2 was asked for is not printed.")
	} else {
		s.Unknown = append(s.Unknown, "wrk inserts latencies that it never measured; how many is not printed.")
	}
	if l.Mean != nil && s.Requests > 0 {
		s.Latency = append(s.Latency, l)
	}
	return addDump(lines, s)
}

func wrkLine(line string, s *Sample, l *Latency) error {
	if wrk2Mark.MatchString(line) {
		s.Tool = Wrk2
		return nil
	}
	if m := wrkBegin.FindStringSubmatch(line); m != nil {
		s.URL = clip(m[2], 200)
		asked, err := parseQuantity(m[1], microsUnits)
		s.AskedSeconds = asked.Value / 1e6
		return err
	}
	if m := wrkLabel.FindStringSubmatch(line); m != nil {
		return parseCounts(m[1:], &s.Threads, &s.Connections)
	}
	if m := wrkErrors.FindStringSubmatch(line); m != nil {
		e := &s.Errors
		return parseCounts(m[1:], &e.Connect, &e.Read, &e.Write, &e.Timeout)
	}
	if m := wrkStatus.FindStringSubmatch(line); m != nil {
		return parseCounts(m[1:], &s.Errors.Status)
	}
	if m := wrkRate.FindStringSubmatch(line); m != nil {
		return assign(&s.Throughput, m[1], noUnits)
	}
	if m := wrkSampled.FindStringSubmatch(line); m != nil {
		s.ThreadRate = &Quantity{}
		return assign(s.ThreadRate, m[1], countUnits)
	}
	if m := wrkTotal.FindStringSubmatch(line); m != nil {
		return wrkTotals(m, s)
	}
	return wrkLatencyLine(line, l)
}

func assign(to *Quantity, text string, units []unit) error {
	q, err := parseQuantity(text, units)
	*to = q
	return err
}

func wrkTotals(m []string, s *Sample) error {
	if err := parseCounts(m[1:], &s.Requests); err != nil {
		return err
	}
	took, err := parseQuantity(m[2], microsUnits)
	if err != nil {
		return err
	}
	s.Seconds = Quantity{Value: took.Value / 1e6, Rounding: took.Rounding / 1e6}
	s.Bytes = &Quantity{}
	return assign(s.Bytes, m[3], binaryUnits)
}

func wrkLatencyLine(line string, l *Latency) error {
	if m := wrkLatency.FindStringSubmatch(line); m != nil && l.Mean == nil {
		l.Mean, l.SD, l.Max = &Quantity{}, &Quantity{}, &Quantity{}
		return errors.Join(assign(l.Mean, m[1], microsUnits), assign(l.SD, m[2], microsUnits), assign(l.Max, m[3], microsUnits))
	}
	m := wrkQuantile.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	q, err := parseNumber(m[1])
	if err != nil || q > 100 {
		return fmt.Errorf("reading the quantile %q: %w", clip(line, 40), errNumber)
	}
	// wrk2 may print a second distribution, which begins with a lower quantile.
	if n := len(l.Quantiles); n > 0 && l.Quantiles[n-1].Q >= q/100 {
		return nil
	}
	micros, err := parseQuantity(m[2], microsUnits)
	l.Quantiles = append(l.Quantiles, Quantile{Q: q / 100, Micros: micros})
	return err
}

// addDump replaces what wrk printed by what Loadstone's own script wrote below it, which is exact and not rounded.
func addDump(lines []string, s *Sample) error {
	text := strings.Join(lines, "\n")
	if !strings.Contains(text, wrkDump) {
		return nil
	}
	m, err := wrk.Tool{}.Parse([]byte(text))
	if err != nil {
		return err
	}
	s.Seconds = Quantity{Value: float64(m.DurationMicros) / 1e6}
	s.Requests, s.Errors.Errors = m.Requests, m.Errors
	s.Bytes = &Quantity{Value: float64(m.Bytes)}
	s.Unknown, s.Latency = m.Unknown, nil
	for _, l := range m.Latency {
		h, err := histogram.Decode(l.HDR)
		if err != nil {
			return fmt.Errorf("decoding the histogram: %w", err)
		}
		if h.Samples() > 0 {
			s.Latency = append(s.Latency, described(l.Kind, h))
		}
	}
	return nil
}

// described reads a histogram of three digits.
func described(kind record.LatencyKind, h *histogram.Histogram) Latency {
	exact := func(v float64) Quantity { return Quantity{Value: v, Rounding: v/1000 + 1} }
	mean, sd, least, most := exact(h.Mean()), exact(h.StandardDeviation()), exact(float64(h.Min())), exact(float64(h.Max()))
	l := Latency{Kind: kind, Mean: &mean, SD: &sd, Min: &least, Max: &most}
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		l.Quantiles = append(l.Quantiles, Quantile{Q: q, Micros: exact(float64(h.Quantile(q)))})
	}
	return l
}
