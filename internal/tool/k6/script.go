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
	// timeoutMillis is the timeout of the wrapper's requests, as in wrk.
	timeoutMillis = 2000
	// warmupMargin is added to a warm-up's duration, in seconds: the agent kills it at its end.
	warmupMargin = 5
	// grace lets requests in flight finish at the end of an arrival rate.
	grace      = "500ms"
	probeLimit = "5s"
	// scenarioName names the only scenario. k6 tags with it everything except setup and teardown.
	scenarioName = "load"
)

//go:embed wrapper.js
var wrapper string

// scenario is a scenario of k6's options; its executor decides which fields it needs.
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

type options struct {
	Scenarios         map[string]scenario `json:"scenarios"`
	Thresholds        map[string][]string `json:"thresholds"`
	SummaryTrendStats []string            `json:"summaryTrendStats"`
	SystemTags        []string            `json:"systemTags"`
	NoConnectionReuse bool                `json:"noConnectionReuse"`
	InsecureSkipTLS   bool                `json:"insecureSkipTLSVerify,omitempty"`
}

type plan struct {
	Requests      []asked `json:"requests"`
	Sequence      string  `json:"sequence"`
	TimeoutMillis int     `json:"timeoutMillis"`
	PerRequest    bool    `json:"perRequest"`
	Open          *open   `json:"open"`
	TLS           bool    `json:"tls,omitempty"`
	HTTP2         bool    `json:"http2,omitempty"`
}

type asked struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Sent    *string           `json:"sent"`
	Status  int32             `json:"status"`
	Body    *string           `json:"body"`
}

type open struct {
	Rate    int32 `json:"rate"`
	RateEnd int32 `json:"rateEnd"`
	Ramp    bool  `json:"ramp"`
	Seconds int32 `json:"seconds"`
}

// Files implements tool.Tool: one script per cell, which imports the user's if there is one.
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

// planOf makes the wrapper's plan. For a method that implies a body, k6 itself announces that there is none.
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

// speaksHTTP2 reports whether all answers must be HTTP/2. k6 tags each answered request with its version.
func speaksHTTP2(cell record.Cell) bool { return cell.Protocol() == record.HTTP2 }

func statuses(cell record.Cell) []int32 {
	var all []int32
	for _, r := range cell.Requests() {
		all = append(all, r.Expect.Status)
	}
	return all
}

// literal writes a value as JavaScript. Values hold only strings, numbers and lists, which JSON shares.
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
	// quantiles is the number of percentiles requested of k6; tail is the share above the last one.
	quantiles = 1000
	tail      = 1e-6
)

// trendStats returns the statistics of each trend: least, largest, count, and percentiles. Each percentile leaves the same fraction of its
// predecessor's remainder, so they are densest towards 100.
func trendStats() []string {
	stats := []string{"count", "min", "max"}
	for i := 1; i <= quantiles; i++ {
		left := math.Pow(tail, float64(i)/quantiles)
		stats = append(stats, "p("+strconv.FormatFloat(100*(1-left), 'f', 6, 64)+")")
	}
	return stats
}
