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
)

// Failures counts failed requests by kind; a kind that a tool does not tell apart is 0.
type Failures struct {
	record.Errors
	// Unsorted are those that k6 counts as failed without saying why: an error status, or no answer at all.
	Unsorted int64 `json:"unsorted"`
}

// Sum is the number of all failures, of whatever kind.
func (f Failures) Sum() int64 { return f.Errors.Sum() + f.Unsorted }

// Arrivals is what an open load asked for: requests that start at a rate, whether or not earlier ones have been answered.
type Arrivals struct {
	// PerSecond is the asked rate of iterations; 0 if it was not printed.
	PerSecond float64 `json:"perSecond,omitempty"`
	// Asked and Started count iterations. Asked is what the rate makes, or else those started and those dropped.
	Asked   float64 `json:"asked"`
	Started int64   `json:"started"`
	// Dropped were not started, because no virtual user was free.
	Dropped int64 `json:"dropped"`
}

// Loop is what virtual users did again and again.
type Loop struct {
	// PerSecond is the rate of complete iterations; MeanMicros is their mean duration, pauses included.
	PerSecond  float64          `json:"perSecond"`
	MeanMicros printed.Quantity `json:"meanMicros"`
}

// Claim is a number that somebody typed about a run.
type Claim struct {
	// What is connections, threads or seconds.
	What  string  `json:"what"`
	Value float64 `json:"value"`
	// Where is the file name or the line that says so: untrusted.
	Where string `json:"where"`
}

// Sample is one run of a tool, as its output tells it.
type Sample struct {
	// File is the name that Parse was given; Line is where the run begins in it, from 1.
	File string `json:"file"`
	Line int    `json:"line"`
	// Title is the line above the output, if there is one: untrusted.
	Title  string  `json:"title,omitempty"`
	Claims []Claim `json:"claims,omitempty"`
	Tool   string  `json:"tool"`
	URL    string  `json:"url,omitempty"`
	// Failed is what the tool said instead of a result: untrusted. The rest is then mostly absent.
	Failed string `json:"failed,omitempty"`
	// Threads and Connections are the tool's own label; of k6, Connections are virtual users. 0 is unknown.
	Threads     int64 `json:"threads,omitempty"`
	Connections int64 `json:"connections,omitempty"`
	// AskedSeconds is the duration that was asked for; 0 if it was not printed.
	AskedSeconds float64 `json:"askedSeconds,omitempty"`
	// Seconds is how long the run took; DerivedSeconds says that it was not printed and is Requests / Throughput.
	Seconds        printed.Quantity `json:"seconds"`
	DerivedSeconds bool             `json:"derivedSeconds,omitempty"`
	Requests       int64            `json:"requests"`
	// Throughput is in requests per second as printed, Recomputed is Requests / Seconds.
	Throughput printed.Quantity `json:"throughput"`
	Recomputed float64          `json:"recomputed"`
	// ThreadRate is wrk's mean of the samples of one thread's rate, in requests per second; nil if not printed.
	ThreadRate *printed.Quantity `json:"threadRate,omitempty"`
	// Bytes were read in all, headers included; nil if not printed. BodyBytes are without headers.
	Bytes     *printed.Quantity `json:"bytes,omitempty"`
	BodyBytes *printed.Quantity `json:"bodyBytes,omitempty"`
	Errors    Failures          `json:"errors"`
	// Reused is how many requests went over a connection that was kept; nil where nobody asked for that or the tool does not tell.
	Reused *int64 `json:"reused,omitempty"`
	// Latency has the distribution to be believed most first.
	Latency  []tool.PrintedLatency `json:"latency,omitempty"`
	Arrivals *Arrivals             `json:"arrivals,omitempty"`
	Loop     *Loop                 `json:"loop,omitempty"`
	// ChecksFailed and ChecksPassed are k6's checks; Crossed are the expressions of k6's thresholds that were not met.
	ChecksFailed int64    `json:"checksFailed,omitempty"`
	ChecksPassed int64    `json:"checksPassed,omitempty"`
	Crossed      []string `json:"crossed,omitempty"`
	// Unknown lists, in sentences, what this output does not tell.
	Unknown []string `json:"unknown,omitempty"`
}

// Counted says that a sample has numbers to be checked.
func (s Sample) Counted() bool { return s.Failed == "" && s.Requests > 0 }

// Place is where the run begins, as people write it.
func (s Sample) Place() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Source is the file's name without digits, so that c10-run1 and c100-run2 are of one source.
func (s Sample) Source() string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s.File)
}

// Rate is the asked arrival rate; 0 in the closed model or if unknown.
func (s Sample) Rate() float64 {
	if s.Arrivals == nil {
		return 0
	}
	return s.Arrivals.PerSecond
}

// PerSecond is the throughput in requests per second: as printed, which is finer than what rounded durations give, or else recomputed.
func (s Sample) PerSecond() float64 {
	if s.Throughput.Value > 0 {
		return s.Throughput.Value
	}
	return s.Recomputed
}

// Mean is the mean latency of the first distribution in microseconds; nil if there is none.
func (s Sample) Mean() *printed.Quantity {
	if len(s.Latency) == 0 {
		return nil
	}
	return s.Latency[0].Mean
}

// P99 is the 99th percentile of the first distribution in microseconds; nil if there is none.
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

// Most is the largest latency of the first distribution in microseconds; nil if there is none.
func (s Sample) Most() *printed.Quantity {
	if len(s.Latency) == 0 {
		return nil
	}
	return s.Latency[0].Max
}

// finish fills what follows from what was printed.
func (s *Sample) finish() {
	if s.Seconds.Value == 0 && s.Throughput.Value > 0 && s.Requests > 0 {
		s.Seconds = printed.Quantity{Value: float64(s.Requests) / s.Throughput.Value}
		s.DerivedSeconds = true
	}
	if s.Seconds.Value > 0 {
		s.Recomputed = float64(s.Requests) / s.Seconds.Value
	}
}
