package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// documentForms lists the JSON values that can be read; the first form with all its keys applies. It is filled at the start, because bombardier's
// text may contain its JSON.
var documentForms []documentForm

func init() {
	documentForms = []documentForm{
		{K6, []string{"metrics"}, readK6Export},
		{K6, []string{"results", "metadata", "config"}, readK6Machine},
		{Vegeta, []string{"latencies", "status_codes"}, readVegetaJSON},
		{Oha, []string{"summary", "latencyPercentiles"}, readOhaJSON},
		{Bombardier, []string{"spec", "result"}, readBombardierJSON},
		{Autocannon, []string{"latency", "requests", "non2xx"}, readAutocannonJSON},
		{Fortio, []string{"DurationHistogram", "ActualQPS"}, readFortioJSON},
	}
}

// stats sets statistics from a JSON object, converted to microseconds.
func stats(l *tool.PrintedLatency, values map[string]jsonNumber, factor float64) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if q := values[name].quantity(factor); q != nil {
			stat(l, name, *q)
		}
	}
}

func readVegetaJSON(text []byte, s *Sample) error {
	var v struct {
		Latencies map[string]jsonNumber `json:"latencies"`
		BytesIn   struct {
			Total jsonNumber `json:"total"`
		} `json:"bytes_in"`
		Duration    jsonNumber       `json:"duration"`
		Wait        jsonNumber       `json:"wait"`
		Rate        jsonNumber       `json:"rate"`
		StatusCodes map[string]int64 `json:"status_codes"`
		Errors      []string         `json:"errors"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	for code, n := range v.StatusCodes {
		status, err := strconv.ParseInt(code, 10, 32)
		if err != nil || n < 0 {
			return fmt.Errorf("the status %q has a count of %d", printed.Clip(code, quotedLine), n)
		}
		s.vegetaStatus(status, n)
	}
	for _, said := range v.Errors[:min(len(v.Errors), maxSaid)] {
		s.Said = append(s.Said, printed.Clip(said, quotedLine))
	}
	s.Seconds = printed.Quantity{Value: (v.Duration.value() + v.Wait.value()) / 1e9}
	s.BodyBytes = v.BytesIn.Total.quantity(1)
	s.openAt(v.Rate.value())
	l := tool.PrintedLatency{Kind: record.Observed}
	delete(v.Latencies, "total")
	stats(&l, v.Latencies, 1e-3)
	s.Latency = []tool.PrintedLatency{l}
	return s.vegetaDone()
}

func readOhaJSON(text []byte, s *Sample) error {
	var v struct {
		Summary struct {
			Total          jsonNumber `json:"total"`
			Slowest        jsonNumber `json:"slowest"`
			Fastest        jsonNumber `json:"fastest"`
			Average        jsonNumber `json:"average"`
			RequestsPerSec jsonNumber `json:"requestsPerSec"`
			TotalData      jsonNumber `json:"totalData"`
		} `json:"summary"`
		Percentiles map[string]jsonNumber `json:"latencyPercentiles"`
		Statuses    map[string]int64      `json:"statusCodeDistribution"`
		Errors      map[string]int64      `json:"errorDistribution"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	for code, n := range v.Statuses {
		status, err := strconv.ParseInt(code, 10, 32)
		if err != nil || n < 0 {
			return fmt.Errorf("the status %q has a count of %d", printed.Clip(code, quotedLine), n)
		}
		s.answered(status, n)
	}
	for _, said := range slices.SortedFunc(maps.Keys(v.Errors), func(a, b string) int { return cmp.Or(cmp.Compare(v.Errors[b], v.Errors[a]), cmp.Compare(a, b)) }) {
		s.failedWith(max(v.Errors[said], 0), said)
	}
	// Its rate includes requests that it dropped at its end, so compute it again.
	s.Seconds = printed.OrZero(v.Summary.Total.quantity(1))
	s.BodyBytes = v.Summary.TotalData.quantity(1)
	l := tool.PrintedLatency{Kind: record.Observed}
	stats(&l, v.Percentiles, 1e6)
	stats(&l, map[string]jsonNumber{"min": v.Summary.Fastest, "max": v.Summary.Slowest, "mean": v.Summary.Average}, 1e6)
	if l.Mean != nil {
		s.Latency = []tool.PrintedLatency{l}
	}
	if s.Requests == 0 && s.Seconds.Value == 0 {
		return errEnds("the totals")
	}
	s.Unknown = append(s.Unknown, "oha does not print its number of connections.")
	return nil
}

func readBombardierJSON(text []byte, s *Sample) error {
	var v struct {
		Spec struct {
			Connections int64      `json:"numberOfConnections"`
			Seconds     jsonNumber `json:"testDurationSeconds"`
			URL         string     `json:"url"`
			Rate        jsonNumber `json:"rate"`
		} `json:"spec"`
		Result struct {
			BytesRead jsonNumber `json:"bytesRead"`
			TimeTaken jsonNumber `json:"timeTakenSeconds"`
			Req1      int64      `json:"req1xx"`
			Req2      int64      `json:"req2xx"`
			Req3      int64      `json:"req3xx"`
			Req4      int64      `json:"req4xx"`
			Req5      int64      `json:"req5xx"`
			Others    int64      `json:"others"`
			Errors    []struct {
				Description string `json:"description"`
				Count       int64  `json:"count"`
			} `json:"errors"`
			Latency struct {
				Mean        jsonNumber            `json:"mean"`
				SD          jsonNumber            `json:"stddev"`
				Max         jsonNumber            `json:"max"`
				Percentiles map[string]jsonNumber `json:"percentiles"`
			} `json:"latency"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	r := v.Result
	for i, n := range []int64{r.Req1, r.Req2, r.Req3, r.Req4, r.Req5} {
		s.answered(int64(i+1)*100, max(n, 0))
	}
	s.Requests += max(r.Others, 0)
	s.Errors.Unsorted = max(r.Others, 0)
	for _, e := range r.Errors {
		s.say(e.Count, e.Description)
	}
	s.URL, s.Connections = printed.Clip(v.Spec.URL, quotedLine), max(v.Spec.Connections, 0)
	s.AskedSeconds = v.Spec.Seconds.value()
	s.Seconds, s.Bytes = printed.OrZero(r.TimeTaken.quantity(1)), r.BytesRead.quantity(1)
	l := tool.PrintedLatency{Kind: record.Observed}
	stats(&l, r.Latency.Percentiles, 1)
	stats(&l, map[string]jsonNumber{"mean": r.Latency.Mean, "sd": r.Latency.SD, "max": r.Latency.Max}, 1)
	if l.Mean != nil {
		s.Latency = []tool.PrintedLatency{l}
	}
	if s.Requests == 0 && s.Seconds.Value == 0 {
		return errEnds("the totals")
	}
	return nil
}

func readAutocannonJSON(text []byte, s *Sample) error {
	var v struct {
		URL         string                `json:"url"`
		Title       string                `json:"title"`
		Connections int64                 `json:"connections"`
		Pipelining  int64                 `json:"pipelining"`
		Duration    jsonNumber            `json:"duration"`
		Errors      int64                 `json:"errors"`
		Timeouts    int64                 `json:"timeouts"`
		Mismatches  int64                 `json:"mismatches"`
		Req1        int64                 `json:"1xx"`
		Req4        int64                 `json:"4xx"`
		Req5        int64                 `json:"5xx"`
		Latency     map[string]jsonNumber `json:"latency"`
		Requests    map[string]jsonNumber `json:"requests"`
		Throughput  map[string]jsonNumber `json:"throughput"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	s.URL, s.Title = printed.Clip(v.URL, quotedLine), printed.Clip(v.Title, quotedLine)
	s.Connections, s.Pipeline = max(v.Connections, 0), max(v.Pipelining, 0)
	s.Requests, s.Seconds = v.Requests["total"].count(), printed.OrZero(v.Duration.quantity(1))
	s.Errors.Timeout, s.Errors.Unsorted = max(v.Timeouts, 0), max(v.Errors-v.Timeouts, 0)
	s.Errors.Body, s.Errors.Status = max(v.Mismatches, 0), max(v.Req1+v.Req4+v.Req5, 0)
	s.Bytes = v.Throughput["total"].quantity(1)
	if s.Requests > 0 {
		l := tool.PrintedLatency{Kind: record.Observed, ResolutionMicros: 1000}
		delete(v.Latency, "totalCount")
		delete(v.Latency, "average")
		stats(&l, v.Latency, 1e3)
		s.Latency = []tool.PrintedLatency{l}
	}
	return nil
}

// fortioCodes adds requests by code: a status of HTTP or gRPC, or -1 without an answer.
func (s *Sample) fortioCodes(codes map[string]int64) {
	for code, n := range codes {
		status, err := strconv.ParseInt(code, 10, 32)
		switch {
		case n < 0:
		case err != nil && (code == "SERVING" || code == "OK"): // gRPC.
			s.answered(200, n)
		case err != nil || status <= 0:
			s.Requests += n
			s.Errors.Unsorted += n
		default:
			s.answered(status, n)
		}
	}
}

func readFortioJSON(text []byte, s *Sample) error {
	var v struct {
		URL       string     `json:"URL"`
		Labels    string     `json:"Labels"`
		Requested string     `json:"RequestedQPS"`
		Asked     string     `json:"RequestedDuration"`
		Duration  jsonNumber `json:"ActualDuration"`
		Threads   int64      `json:"NumThreads"`
		Histogram struct {
			Count       jsonNumber `json:"Count"`
			Min         jsonNumber `json:"Min"`
			Max         jsonNumber `json:"Max"`
			Avg         jsonNumber `json:"Avg"`
			SD          jsonNumber `json:"StdDev"`
			Percentiles []struct {
				Percentile jsonNumber `json:"Percentile"`
				Value      jsonNumber `json:"Value"`
			} `json:"Percentiles"`
		} `json:"DurationHistogram"`
		Codes map[string]int64 `json:"RetCodes"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	s.fortioCodes(v.Codes)
	if s.Requests == 0 {
		s.Requests = v.Histogram.Count.count()
	}
	s.URL, s.Title, s.Connections = printed.Clip(v.URL, quotedLine), printed.Clip(v.Labels, quotedLine), max(v.Threads, 0)
	s.Seconds = printed.Quantity{Value: v.Duration.value() / 1e9}
	if asked, err := printed.ParseSpan(strings.TrimSpace(v.Asked)); err == nil {
		s.AskedSeconds = asked.Value / 1e6
	}
	if rate, ok := bounded(v.Requested); ok && rate > 0 {
		s.Arrivals = &Arrivals{PerSecond: rate, Asked: rate * s.Seconds.Value, Started: s.Requests}
	}
	l := tool.PrintedLatency{Kind: record.Observed}
	h := v.Histogram
	stats(&l, map[string]jsonNumber{"min": h.Min, "max": h.Max, "mean": h.Avg, "sd": h.SD}, 1e6)
	for _, p := range h.Percentiles {
		if q := p.Value.quantity(1e6); q != nil {
			stat(&l, string(p.Percentile), *q)
		}
	}
	if l.Mean != nil {
		s.Latency = []tool.PrintedLatency{l}
	}
	return nil
}
