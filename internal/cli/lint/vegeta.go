package lint

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
)

var statusCount = regexp.MustCompile(`(\d+):(\d+)`)

var vegetaPatterns = []pattern{
	line(`^Requests +\[total, rate.*\] +(\d+), ([0-9.]+)`, func(r *reading, m []string) error {
		if err := printed.Counts(m[1:2], &r.Requests); err != nil {
			return err
		}
		rate, err := printed.Number(m[2])
		r.openAt(rate)
		return err
	}),
	line(`^Duration +\[total, attack, wait\] +([^,]+),`, func(r *reading, m []string) error {
		q, err := printed.ParseSpan(m[1])
		r.Seconds = printed.Quantity{Value: q.Value / 1e6, Rounding: q.Rounding / 1e6}
		return err
	}),
	line(`^Latencies +\[([^\]]+)\] +(.+)$`, func(r *reading, m []string) error {
		names, values := strings.Split(m[1], ", "), strings.Split(m[2], ", ")
		for i := range min(len(names), len(values)) {
			q, err := printed.ParseSpan(strings.TrimSpace(values[i]))
			if err != nil {
				return err
			}
			stat(&r.latency, names[i], q)
		}
		return nil
	}),
	line(`^Bytes In +\[total, mean\] +(\d+),`, quantity(func(r *reading) **printed.Quantity { return &r.BodyBytes }, printed.Plain)),
	line(`^Status Codes +\[code:count\] +(.*)$`, func(r *reading, m []string) error {
		r.Requests = 0
		for _, c := range statusCount.FindAllStringSubmatch(m[1], -1) {
			var status, n int64
			if err := printed.Counts(c[1:], &status, &n); err != nil {
				return err
			}
			r.vegetaStatus(status, n)
		}
		return nil
	}),
	line(`^Error Set:$`, func(r *reading, _ []string) error { r.columns = []string{"errors"}; return nil }),
	line(`^(\S.*)$`, func(r *reading, m []string) error {
		if r.columns != nil && len(r.Said) < maxSaid {
			r.Said = append(r.Said, printed.Clip(m[1], quotedLine))
		}
		return nil
	}),
}

// vegetaStatus counts requests by status; 0 means no answer.
func (s *Sample) vegetaStatus(status, n int64) {
	if status == 0 {
		s.Requests += n
		s.Errors.Unsorted += n
		return
	}
	s.answered(status, n)
}

// openAt marks an open load. Vegeta does not print the requested rate: it is the integer nearest to the rate of starts.
func (s *Sample) openAt(rate float64) {
	s.Arrivals = &Arrivals{PerSecond: math.Round(rate), Asked: float64(s.Requests), Started: s.Requests}
}

func readVegeta(lines []string, s *Sample) error {
	readTable(lines, s, vegetaPatterns)
	return s.vegetaDone()
}

func (s *Sample) vegetaDone() error {
	if s.Requests == 0 || s.Seconds.Value == 0 {
		return errEnds("vegeta's totals")
	}
	s.Unknown = append(s.Unknown, "vegeta measures from the real start of a request: waiting in the generator is not in its latencies.")
	return nil
}

type vegetaRecord struct {
	Code      uint16
	Timestamp time.Time
	Latency   time.Duration
	BytesIn   uint64
	Error     string
}

func isVegetaRecords(head []byte) bool {
	head = head[:min(len(head), 1024)]
	return bytes.Contains(head, []byte("Timestamp")) && bytes.Contains(head, []byte("Latency")) && bytes.Contains(head, []byte("BytesIn")) && bytes.IndexByte(head, 0) >= 0
}

func readVegetaRecords(in io.Reader, s Sample) (Sample, error) {
	v := vegetaRows{errors: map[string]int64{}}
	for d := gob.NewDecoder(in); ; {
		var r vegetaRecord
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if v.n == 0 {
				return s, fmt.Errorf("it begins like vegeta's results, and no record can be read: %w", err)
			}
			s.Failed = fmt.Sprintf("vegeta's results break off after %d records", v.n)
			break
		}
		v.count(r)
	}
	err := v.finish(&s)
	s.finish()
	return s, err
}

type vegetaRows struct {
	tally
	n        int64
	statuses [600]int64
	errors   map[string]int64
}

func (v *vegetaRows) count(r vegetaRecord) {
	v.n++
	v.statuses[min(int(r.Code), len(v.statuses)-1)]++
	v.bytes += int64(min(r.BytesIn, 1<<40))
	if r.Latency < 0 {
		v.lose(fmt.Sprintf("record %d has the latency %s", v.n, r.Latency))
		return
	}
	v.request(float64(r.Timestamp.UnixNano())/1e9, float64(r.Latency)/1e3)
	if _, known := v.errors[r.Error]; r.Error != "" && (known || len(v.errors) < maxSaid) {
		v.errors[r.Error]++
	}
}

func (v *vegetaRows) finish(s *Sample) error {
	for status, n := range v.statuses {
		s.vegetaStatus(int64(status), n)
	}
	for text, n := range v.errors {
		s.say(n, text)
	}
	v.tally.finish(s, record.Observed, 0)
	s.BodyBytes, s.Bytes = s.Bytes, nil
	if s.Seconds.Value > 0 {
		s.openAt(float64(s.Requests) / s.Seconds.Value)
	}
	return s.vegetaDone()
}

func vegetaLine(text string) (vegetaRecord, error) {
	var r struct {
		Code      uint16    `json:"code"`
		Timestamp time.Time `json:"timestamp"`
		Latency   int64     `json:"latency"`
		BytesIn   uint64    `json:"bytes_in"`
		Error     string    `json:"error"`
	}
	err := json.Unmarshal([]byte(text), &r)
	return vegetaRecord{Code: r.Code, Timestamp: r.Timestamp, Latency: time.Duration(r.Latency), BytesIn: r.BytesIn, Error: r.Error}, err
}
