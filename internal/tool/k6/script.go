package k6

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// timeoutMillis is how long the wrapper's own requests wait for an answer: as long as wrk's do.
	timeoutMillis = 2000
	// warmupMargin is what a warm-up is asked to take longer than it may, in seconds: the agent ends it by killing it.
	warmupMargin = 5
	// grace is how long requests that are under way at the end of an arrival rate may still be answered.
	grace = "500ms"
	// probeLimit is how long the one iteration of a probe may take.
	probeLimit = "5s"
	// scenarioName is the name of the only scenario. k6 tags with it what is not of setup and teardown.
	scenarioName = "load"
)

//go:embed wrapper.js
var wrapper string

// scenario is one scenario of k6's options; which fields it needs depends on its executor.
type scenario struct {
	Executor        string            `json:"executor"`
	VUs             int32             `json:"vus,omitempty"`
	Iterations      int32             `json:"iterations,omitempty"`
	Duration        string            `json:"duration,omitempty"`
	MaxDuration     string            `json:"maxDuration,omitempty"`
	Rate            int32             `json:"rate,omitempty"`
	StartRate       int32             `json:"startRate,omitempty"`
	Stages          []stage           `json:"stages,omitempty"`
	TimeUnit        string            `json:"timeUnit,omitempty"`
	PreAllocatedVUs int32             `json:"preAllocatedVUs,omitempty"`
	MaxVUs          int32             `json:"maxVUs,omitempty"`
	GracefulStop    string            `json:"gracefulStop"`
	Env             map[string]string `json:"env"`
}

type stage struct {
	Duration string `json:"duration"`
	Target   int32  `json:"target"`
}

// options are what k6 reads as the script's options.
type options struct {
	Scenarios         map[string]scenario `json:"scenarios"`
	Thresholds        map[string][]string `json:"thresholds"`
	SummaryTrendStats []string            `json:"summaryTrendStats"`
	SystemTags        []string            `json:"systemTags"`
	NoConnectionReuse bool                `json:"noConnectionReuse"`
	InsecureSkipTLS   bool                `json:"insecureSkipTLSVerify,omitempty"`
}

// plan is what the wrapper knows of its cell.
type plan struct {
	Requests []asked `json:"requests"`
	// Sequence is the order of the requests, as tool.Sequence has it.
	Sequence      string `json:"sequence"`
	TimeoutMillis int    `json:"timeoutMillis"`
	PerRequest    bool   `json:"perRequest"`
	Open          *open  `json:"open"`
	TLS           bool   `json:"tls,omitempty"`
	HTTP2         bool   `json:"http2,omitempty"`
}

// asked is one request, and what answers to it must be.
type asked struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Sent    *string           `json:"sent"`
	Status  int32             `json:"status"`
	Body    *string           `json:"body"`
}

// open is the timetable of an arrival rate.
type open struct {
	Rate    int32 `json:"rate"`
	RateEnd int32 `json:"rateEnd"`
	Ramp    bool  `json:"ramp"`
	Seconds int32 `json:"seconds"`
}

// Files implements tool.Tool: one script for the cell, which imports the user's where there is one.
func (t Tool) Files(cell record.Cell, target tool.Target) []tool.File {
	status := statuses(cell)
	var b strings.Builder
	b.WriteString("import http from 'k6/http';\nimport exec from 'k6/execution';\nimport { Counter, Gauge, Trend } from 'k6/metrics';\n")
	if path := tool.ScriptPath(t.Scripts, cell); path != "" {
		fmt.Fprintf(&b, "import * as user from %s;\n", literal(path))
	} else {
		b.WriteString("const user = null;\n")
	}
	fmt.Fprintf(&b, "const cell = %s;\n", literal(planOf(cell, target)))
	once := func(declaration string, v any) {
		fmt.Fprintf(&b, "%s = __VU > 0 ? {} : %s;\n", declaration, literal(v))
	}
	once("const says", says)
	once("const kept", metricNames(status, speaksHTTP2(cell)))
	once("const scenarios", map[tool.Purpose]scenario{
		tool.Measure: scenarioOf(cell, cell.DurationSeconds),
		tool.Warmup:  scenarioOf(cell, cell.WarmupSeconds+warmupMargin),
		tool.Probe:   {Executor: "shared-iterations", VUs: 1, Iterations: 1, MaxDuration: probeLimit, GracefulStop: "0s", Env: environment(cell)},
	})
	once("export const options", optionsOf(cell, status, target))
	fmt.Fprintf(&b, "options.scenarios = { %s: scenarios[__ENV.LOADSTONE_PURPOSE] };\n\n", scenarioName)
	b.WriteString(wrapper)
	return []tool.File{{Name: scriptName(cell), Text: b.String()}}
}

// planOf is what the wrapper of a cell knows. k6 says itself of a method that is about a body that there is none.
func planOf(cell record.Cell, target tool.Target) plan {
	p := plan{
		Sequence: tool.Sequence(cell.Mix), TimeoutMillis: timeoutMillis,
		PerRequest: cell.Connection == record.PerRequest, Open: openOf(cell), TLS: target.TLS, HTTP2: speaksHTTP2(cell),
	}
	for _, r := range cell.Requests() {
		a := asked{Method: r.Verb(), Path: r.Path, Headers: map[string]string{}, Status: r.Expect.Status, Body: r.Expect.Body}
		for _, h := range r.Headers {
			a.Headers[h.Name] = h.Value
		}
		if r.Body != "" {
			a.Sent = &r.Body
		}
		p.Requests = append(p.Requests, a)
	}
	return p
}

// speaksHTTP2 reports whether all answers must be in HTTP/2. k6 tags each request that was answered with the version of its answer.
func speaksHTTP2(cell record.Cell) bool { return cell.Protocol() == record.HTTP2 }

// statuses are those of right answers, one a request.
func statuses(cell record.Cell) []int32 {
	var all []int32
	for _, r := range cell.Requests() {
		all = append(all, r.Expect.Status)
	}
	return all
}

// literal writes a value as JavaScript reads it. The values hold strings, numbers and lists only, which JSON has all.
func literal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("writing %T as JSON: %v", v, err))
	}
	return string(text)
}

func optionsOf(cell record.Cell, status []int32, target tool.Target) options {
	thresholds, tags := map[string][]string{}, []string{"scenario", "status", "error_code", "expected_response"}
	for _, name := range submetrics(status, speaksHTTP2(cell)) {
		thresholds[name] = []string{}
	}
	if speaksHTTP2(cell) {
		tags = append(tags, "proto")
	}
	return options{
		Scenarios: map[string]scenario{}, Thresholds: thresholds, SummaryTrendStats: trendStats(),
		SystemTags:        tags,
		NoConnectionReuse: cell.Connection == record.PerRequest,
		InsecureSkipTLS:   target.TLS,
	}
}

func scenarioOf(cell record.Cell, durationSeconds int32) scenario {
	duration := seconds(durationSeconds)
	s := scenario{GracefulStop: grace, Env: environment(cell)}
	switch {
	case cell.RequestsPerSecond == 0:
		s.Executor, s.VUs, s.Duration, s.GracefulStop = "constant-vus", cell.Connections, duration, "0s"
		return s
	case cell.RampToRequestsPerSecond == 0:
		s.Executor, s.Rate, s.Duration = "constant-arrival-rate", cell.RequestsPerSecond, duration
	default:
		s.Executor, s.StartRate = "ramping-arrival-rate", cell.RequestsPerSecond
		s.Stages = []stage{{Duration: duration, Target: cell.RampToRequestsPerSecond}}
	}
	s.TimeUnit, s.PreAllocatedVUs, s.MaxVUs = "1s", cell.Connections, cell.Connections
	return s
}

func openOf(cell record.Cell) *open {
	if cell.RequestsPerSecond == 0 {
		return nil
	}
	end := cmp.Or(cell.RampToRequestsPerSecond, cell.RequestsPerSecond)
	return &open{Rate: cell.RequestsPerSecond, RateEnd: end, Ramp: cell.RampToRequestsPerSecond > 0, Seconds: cell.DurationSeconds}
}

func environment(cell record.Cell) map[string]string {
	return map[string]string{"LOADSTONE_THREADS": strconv.Itoa(int(cell.Threads))}
}

func seconds(n int32) string { return strconv.Itoa(int(n)) + "s" }

const (
	// quantiles is the number of percentiles that k6 is asked for, and tail what the last of them leaves above it.
	quantiles = 1000
	tail      = 1e-6
)

// trendStats are the statistics that k6 computes of each trend: the least, the largest, the count, and percentiles of which each leaves
// the same share of what the one before it leaves, so that they lie densest towards 100.
func trendStats() []string {
	stats := []string{"count", "min", "max"}
	for i := 1; i <= quantiles; i++ {
		left := math.Pow(tail, float64(i)/quantiles)
		stats = append(stats, "p("+strconv.FormatFloat(100*(1-left), 'f', 6, 64)+")")
	}
	return stats
}
