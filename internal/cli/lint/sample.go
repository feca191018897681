package lint

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// The tools whose output is known.
const (
	Wrk  = "wrk"
	Wrk2 = "wrk2"
	AB   = "ab"
	K6   = "k6"

	Vegeta     = "vegeta"
	Hey        = "hey"
	Oha        = "oha"
	Bombardier = "bombardier"
	Autocannon = "autocannon"
	H2load     = "h2load"
	Fortio     = "fortio"
	JMeter     = "JMeter"
	Locust     = "Locust"
)

// Failures counts failed requests by kind; 0 if the tool does not distinguish it.
type Failures struct {
	record.Errors
	// Unsorted are k6's failures without a stated cause: an error status or no answer.
	Unsorted int64 `json:"unsorted"`
}

// Sum is the number of all failures, of whatever kind.
func (f Failures) Sum() int64 { return f.Errors.Sum() + f.Unsorted }

// Arrivals is the request of an open load: requests start at a rate, whatever was answered.
type Arrivals struct {
	// PerSecond is the requested iterations per second; 0 if not printed.
	PerSecond float64 `json:"perSecond,omitempty"`
	// Asked and Started count iterations. Asked follows from the rate, or is those started plus dropped.
	Asked   float64 `json:"asked"`
	Started int64   `json:"started"`
	// Dropped had no free virtual user.
	Dropped int64 `json:"dropped"`
}

// Loop is what virtual users did again and again.
type Loop struct {
	// PerSecond is the rate of complete iterations; MeanMicros is their mean duration with pauses.
	PerSecond  float64          `json:"perSecond"`
	MeanMicros printed.Quantity `json:"meanMicros"`
}

// Claim is a number in people's text about a run.
type Claim struct {
	// What: connections, threads or seconds.
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Where string  `json:"where"`
}

// Sample is one run of a tool, from its output. Texts are untrusted.
type Sample struct {
	// File is the name given to Parse; Line is the run's first line, from 1.
	File string `json:"file"`
	Line int    `json:"line"`
	// Stream is the pod, container or process, as the log names it.
	Stream string `json:"stream,omitempty"`
	// Command is read from the command line above the output.
	Command Command `json:"command,omitzero"`
	Title   string  `json:"title,omitempty"`
	Name    string  `json:"name,omitempty"`
	Claims  []Claim `json:"claims,omitempty"`
	Tool    string  `json:"tool"`
	URL     string  `json:"url,omitempty"`
	// Failed is the tool's message instead of a result; most other fields are then empty.
	Failed string `json:"failed,omitempty"`
	// Threads and Connections are the tool's own label (for k6, virtual users); 0 if unknown.
	Threads     int64 `json:"threads,omitempty"`
	Connections int64 `json:"connections,omitempty"`
	// AskedSeconds is the requested duration; 0 if not printed.
	AskedSeconds float64 `json:"askedSeconds,omitempty"`
	// Seconds is the duration; DerivedSeconds means that it is Requests / Throughput.
	Seconds        printed.Quantity `json:"seconds"`
	DerivedSeconds bool             `json:"derivedSeconds,omitempty"`
	Requests       int64            `json:"requests"`
	// Throughput is in requests/s as printed; Recomputed is Requests / Seconds.
	Throughput printed.Quantity `json:"throughput"`
	Recomputed float64          `json:"recomputed"`
	// ThreadRate is wrk's mean rate of one thread in requests/s; nil if not printed.
	ThreadRate *printed.Quantity `json:"threadRate,omitempty"`
	// Bytes read, with headers; nil if not printed. BodyBytes are without headers.
	Bytes     *printed.Quantity `json:"bytes,omitempty"`
	BodyBytes *printed.Quantity `json:"bodyBytes,omitempty"`
	Errors    Failures          `json:"errors"`
	// Reused counts requests on kept connections; nil if not requested or not printed.
	Reused *int64 `json:"reused,omitempty"`
	// Latency has the most reliable distribution first.
	Latency  []tool.PrintedLatency `json:"latency,omitempty"`
	Arrivals *Arrivals             `json:"arrivals,omitempty"`
	Loop     *Loop                 `json:"loop,omitempty"`
	// ChecksFailed and ChecksPassed are k6's checks; Crossed are missed thresholds.
	ChecksFailed int64    `json:"checksFailed,omitempty"`
	ChecksPassed int64    `json:"checksPassed,omitempty"`
	Crossed      []string `json:"crossed,omitempty"`
	// ChecksNone: the script has checks, but none ran.
	ChecksNone bool `json:"checksNone,omitempty"`
	// Part is this run's share of a distributed test, between 0 and 1; 0 for a whole test.
	Part float64 `json:"part,omitempty"`
	// Aborted is why the tool ended early.
	Aborted string `json:"aborted,omitempty"`
	// Threw is a logged exception of k6's script.
	Threw string `json:"threw,omitempty"`
	// Warmup: the lines above call it a warm-up.
	Warmup bool `json:"warmup,omitempty"`
	// Pipeline is requests in flight per connection, as printed; else 0.
	Pipeline int64 `json:"pipeline,omitempty"`
	// Secure counts failed reads and handshakes of TLS.
	Secure int64 `json:"secure,omitempty"`
	// EmptyFirst: ab compared all lengths with an empty first response.
	EmptyFirst bool `json:"emptyFirst,omitempty"`
	// Said quotes messages about failed requests.
	Said []string `json:"said,omitempty"`
	// Unread quotes lines with unreadable values.
	Unread []string `json:"unread,omitempty"`
	// Unknown lists, in sentences, what this output lacks.
	Unknown []string `json:"unknown,omitempty"`
}

// Counted says that a sample has numbers to be checked.
func (s Sample) Counted() bool { return s.Failed == "" && s.Requests > 0 }

// Place is where the run begins, as people write it.
func (s Sample) Place() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Source is the file's name without digits, so that c10-run1 and c100-run2 have one source, plus Name if set.
func (s Sample) Source() string {
	if s.Name == "" {
		return withoutDigits(s.File)
	}
	return withoutDigits(s.File) + " " + s.Name
}

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// nameSources names samples of one file and load by titles that differ in more than digits: "old build" and "new build" are no repeats.
func nameSources(samples []Sample) {
	type key struct {
		tool, url, stream    string
		threads, connections int64
	}
	of := map[key]map[string]bool{}
	keyOf := func(s *Sample) key { return key{s.Tool, s.URL, s.Stream, s.Threads, s.Connections} }
	for i := range samples {
		s := &samples[i]
		if of[keyOf(s)] == nil {
			of[keyOf(s)] = map[string]bool{}
		}
		of[keyOf(s)][withoutDigits(s.Title)] = true
	}
	for i := range samples {
		s := &samples[i]
		if titles := of[keyOf(s)]; len(titles) > 1 && !titles[""] && s.Part == 0 {
			s.Name = printed.Clip(strings.TrimSpace(withoutDigits(s.Title)), 40)
		}
	}
}

// Rate is the requested arrival rate; 0 if closed or unknown.
func (s Sample) Rate() float64 {
	if s.Arrivals == nil {
		return s.Command.PerSecond
	}
	return s.Arrivals.PerSecond
}

// paced reports whether requests start by a rate, or by pauses of JMeter's and Locust's users.
func (s Sample) paced() bool {
	return s.Arrivals != nil || s.Command.PerSecond > 0 || s.Tool == Wrk2 || s.Tool == JMeter || s.Tool == Locust
}

func (s Sample) depth() int64 {
	if n := max(s.Pipeline, s.Command.Pipeline); n > 0 {
		return n
	}
	switch s.Tool {
	case AB, Hey, Fortio, Autocannon:
		return 1
	case Wrk:
		if s.Command.Text != "" && s.Command.Script == "" {
			return 1
		}
	}
	return 0
}

// PerSecond is the throughput in requests/s: as printed, which is more exact, or else recomputed.
func (s Sample) PerSecond() float64 {
	if s.Throughput.Value > 0 {
		return s.Throughput.Value
	}
	return s.Recomputed
}

// Mean is the first distribution's mean latency in microseconds; nil without one.
func (s Sample) Mean() *printed.Quantity {
	if len(s.Latency) == 0 {
		return nil
	}
	return s.Latency[0].Mean
}

// P99 is the first distribution's 99th percentile in microseconds; nil without one.
func (s Sample) P99() *printed.Quantity {
	if len(s.Latency) == 0 {
		return nil
	}
	for _, got := range s.Latency[0].Quantiles {
		if math.Abs(got.Q-0.99) < 1e-9 {
			return &got.Micros
		}
	}
	return nil
}

// Most is the first distribution's largest latency in microseconds; nil without one.
func (s Sample) Most() *printed.Quantity {
	if len(s.Latency) == 0 {
		return nil
	}
	return s.Latency[0].Max
}

// finish computes the fields that follow from printed ones.
func (s *Sample) finish() {
	if part := segment(s.Command.Segment); s.Part == 0 && part < 1 {
		s.Part = part
	}
	if s.Seconds.Value == 0 && s.Throughput.Value > 0 && s.Requests > 0 {
		s.Seconds = printed.Quantity{Value: float64(s.Requests) / s.Throughput.Value}
		s.DerivedSeconds = true
	}
	if s.Seconds.Value > 0 {
		s.Recomputed = float64(s.Requests) / s.Seconds.Value
	}
}
