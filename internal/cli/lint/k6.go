package lint

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/k6"
)

func readK6(lines []string, s *Sample) error {
	e, _ := k6.ParseText(lines) // The error repeats what Unread lists.
	s.Unread, s.Threw = e.Unread, e.Threw
	s.endOfTest(e, "the output contains no k6 requests")
	return nil
}

func readK6Export(text []byte, s *Sample) error {
	var exported k6.Export
	if err := json.Unmarshal(text, &exported); err != nil {
		return err
	}
	return s.exported(exported)
}

func readK6Machine(text []byte, s *Sample) error {
	exported, err := k6.ParseMachine(text)
	if err != nil {
		return err
	}
	return s.exported(exported)
}

func (s *Sample) exported(exported k6.Export) error {
	e, err := exported.EndOfTest()
	if err != nil {
		return err
	}
	s.endOfTest(e, "the summary contains no k6 requests")
	if s.Failed == "" {
		s.Unknown = append(s.Unknown, "k6's JSON does not show the requested load: a sustained rate looks like a closed loop.")
	}
	return nil
}

// endOfTest fills a sample from k6's end-of-test summary; a sample without requests failed.
func (s *Sample) endOfTest(e k6.EndOfTest, failed string) {
	s.Requests, s.Throughput, s.Connections, s.Bytes = e.Requests, e.Throughput, e.Users, e.Bytes
	s.Seconds = printed.Quantity{Value: e.Seconds}
	s.Errors.Unsorted, s.ChecksPassed, s.ChecksFailed, s.Crossed = e.Failed, e.ChecksPassed, e.ChecksFailed, e.Crossed
	s.ChecksNone, s.Part, s.Aborted = e.ChecksNone, e.Part, e.Aborted
	if e.Latency != nil {
		s.Latency = []tool.PrintedLatency{*e.Latency}
	}
	if i := e.Iterations; i != nil {
		s.Loop = &Loop{PerSecond: i.PerSecond, MeanMicros: i.MeanMicros}
	}
	if !e.Ran() {
		s.Failed = failed
		return
	}
	s.arrivals(e)
	s.Unknown = append(s.Unknown,
		"k6's http_req_duration excludes connecting and waiting for a free virtual user.",
		"k6 counts failed requests without separating error statuses from broken connections.")
}

// arrivals returns the requested rate of an open load. Only a single scenario of constant rate prints it.
func (s *Sample) arrivals(e k6.EndOfTest) {
	if r := e.Rate; r != nil {
		s.Arrivals = &Arrivals{PerSecond: r.PerSecond, Asked: r.PerSecond * r.Seconds, Started: e.Started, Dropped: e.Dropped}
		s.AskedSeconds = r.Seconds
		return
	}
	if e.Dropped > 0 {
		s.Arrivals = &Arrivals{Asked: float64(e.Started + e.Dropped), Started: e.Started, Dropped: e.Dropped}
	}
}

type k6Rows struct {
	tally
	// point reads the metric, the value and the time of a line; false if it holds none.
	point                                                func(line string) (metric string, value float64, seconds func() float64, ok bool)
	mine                                                 func(line string) bool
	requests, failed, iterations, dropped, passed, wrong int64
	users                                                float64
}

func (k *k6Rows) add(line string) bool {
	if line == "" {
		return true
	}
	if !k.mine(line) {
		return false
	}
	metric, value, seconds, ok := k.point(line)
	if !ok {
		return true
	}
	switch metric {
	case "http_reqs":
		k.requests += int64(value)
	case "http_req_failed":
		k.failed += int64(value)
	case "iterations":
		k.iterations += int64(value)
	case "dropped_iterations":
		k.dropped += int64(value)
	case "checks":
		k.passed += int64(value)
		k.wrong += 1 - int64(value)
	case "vus_max", "vus":
		k.users = max(k.users, value)
	case "http_req_duration":
		// The point's time is the request's end.
		end := seconds()
		k.request(end-value/1e3, value*1e3)
	case "data_received":
		k.bytes += int64(value)
	}
	return true
}

func (k *k6Rows) samples(s Sample) ([]Sample, error) {
	if k.requests == 0 && k.iterations == 0 {
		return nil, errEnds("k6's first request")
	}
	k.finish(&s, record.Observed, 0)
	s.Requests, s.Connections = k.requests, int64(k.users)
	s.Errors.Unsorted, s.ChecksPassed, s.ChecksFailed = k.failed, k.passed, max(k.wrong, 0)
	if k.dropped > 0 {
		s.Arrivals = &Arrivals{Asked: float64(k.iterations + k.dropped), Started: k.iterations, Dropped: k.dropped}
	}
	s.Unknown = append(s.Unknown, "k6's points do not show the requested load: a sustained rate looks like a closed loop.")
	return []Sample{s}, nil
}

type k6Point struct {
	Metric string `json:"metric"`
	Data   struct {
		Time  string  `json:"time"`
		Value float64 `json:"value"`
	} `json:"data"`
}

func isK6JSON(line string) bool {
	return strings.HasPrefix(line, `{"type":"`) || strings.HasPrefix(line, `{"metric":"`) || strings.HasPrefix(line, `{"data":`)
}

// counted are the metrics to read; other lines, most of the file, are not decoded.
var counted = []string{"http_reqs", "http_req_duration", "http_req_failed", "iterations", "dropped_iterations", "checks", "vus_max", "vus", "data_received"}

func newK6JSON() rows {
	var k *k6Rows
	k = &k6Rows{mine: isK6JSON, point: func(line string) (string, float64, func() float64, bool) {
		known := false
		for _, metric := range counted {
			known = known || strings.Contains(line, `"metric":"`+metric+`"`)
		}
		if !known || strings.Contains(line, `"type":"Metric"`) {
			return "", 0, nil, false
		}
		var p k6Point
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.Data.Value < 0 || p.Data.Value > printed.Largest {
			k.lose(line)
			return "", 0, nil, false
		}
		return p.Metric, p.Data.Value, func() float64 { return instant(p.Data.Time) }, true
	}}
	return k
}

// instant is a time in seconds; 0 if it is none.
func instant(text string) float64 {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return float64(at.UnixNano()) / 1e9
}

// newK6CSV reads lines such as "http_reqs,1772359200,1.000000,...". Times are whole seconds.
func newK6CSV() rows {
	var k *k6Rows
	k = &k6Rows{
		mine: func(line string) bool { return strings.Count(line, ",") >= 2 },
		point: func(line string) (string, float64, func() float64, bool) {
			cells := strings.SplitN(line, ",", 4)
			if cells[0] == "metric_name" {
				return "", 0, nil, false
			}
			value, ok := bounded(cells[2])
			if !ok {
				k.lose(line)
			}
			return cells[0], value, func() float64 {
				if seconds, err := strconv.ParseFloat(cells[1], 64); err == nil {
					return seconds
				}
				return instant(cells[1])
			}, ok
		},
	}
	return k
}
