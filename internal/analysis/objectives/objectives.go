package objectives

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Outcome is whether a bound is met.
type Outcome string

const (
	// Met: the whole interval is on the right side of the bound.
	Met Outcome = "Met"
	// Missed: the whole interval is on the wrong side.
	Missed Outcome = "Missed"
	// Undecided means neither.
	Undecided Outcome = "Undecided"
)

// Reason is why an objective is Undecided, or what else than valid cells decided it.
type Reason string

const (
	// IntervalStraddles: the interval contains the bound.
	IntervalStraddles Reason = "IntervalStraddles"
	// TooFewBlocks means fewer than three blocks with the value.
	TooFewBlocks Reason = "TooFewBlocks"
	// VoidCells: void cells leave fewer than three blocks.
	VoidCells Reason = "VoidCells"
	// NotMeasured: no cell has the value.
	NotMeasured Reason = "NotMeasured"
	// Diluted: turns or a shared busy generator hide part of the difference.
	Diluted Reason = "Diluted"
	// GeneratorLimited: a throughput is a lower bound, a latency an upper one.
	GeneratorLimited Reason = "GeneratorLimited"
	// LowerBound: searches found only lower bounds of a capacity.
	LowerBound Reason = "LowerBound"
	// NoRateSustained: no search found a rate that met its bound.
	NoRateSustained Reason = "NoRateSustained"
	// TooFewSamples means too few samples for the percentile.
	TooFewSamples Reason = "TooFewSamples"
	// TimedOut: the percentile lies among timed-out or unsent requests.
	TimedOut Reason = "TimedOut"
	// ZeroHasNoRatio: one side of a ratio is 0.
	ZeroHasNoRatio Reason = "ZeroHasNoRatio"
	// ImplementationFailures: the value meets the bound, but the implementation failed elsewhere and cannot
	// pass by the cells that it survived.
	ImplementationFailures Reason = "ImplementationFailures"
	// Indicated: disturbed cells count, which the objective permits. No other reason comes with a decision.
	Indicated Reason = "Indicated"
	// SuspectCells: the value meets the bound by suspect cells alone, of a side.
	SuspectCells Reason = "SuspectCells"
	// ClosedLoop: a percentile meets the bound, but was measured without an imposed rate.
	ClosedLoop Reason = "ClosedLoop"
	// NoEarlierRun: an earlier run could not be read; Detail says why.
	NoEarlierRun Reason = "NoEarlierRun"
	// TooFewEarlierRuns means fewer than LeastRegressionRuns earlier runs.
	TooFewEarlierRuns Reason = "TooFewEarlierRuns"
	// NoAnchor: a run did not measure the anchor; Detail says which.
	NoAnchor Reason = "NoAnchor"
	// AnchorDiffers: the anchor differed between runs; Detail says how.
	AnchorDiffers Reason = "AnchorDiffers"
	// LoadDiffers: the earlier run lacks the level or loaded it differently.
	LoadDiffers Reason = "LoadDiffers"
)

// Result is one objective of one implementation at one place.
type Result struct {
	Index      int                      `json:"index"`
	Name       string                   `json:"name,omitempty"`
	Metric     v1alpha1.ObjectiveMetric `json:"metric"`
	Percentile string                   `json:"percentile,omitempty"`
	Of         v1alpha1.ComparedMetric  `json:"of,omitempty"`
	record.Point
	// Case has no Point.
	Case           string   `json:"case,omitempty"`
	Implementation string   `json:"implementation"`
	Unit           string   `json:"unit"`
	Min            *float64 `json:"min,omitempty"`
	Max            *float64 `json:"max,omitempty"`
	// Low and High are the interval at inference.Confidence; an open end is nil.
	Value *float64 `json:"value,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// N counts blocks, EarlierN those of all earlier runs. Requests counts an ErrorRate's requests or a percentile's
	// samples.
	N        int `json:"n"`
	EarlierN int `json:"earlierN,omitempty"`
	// WithinRuns: too few earlier runs, so the interval covers only the spread within runs, and decides nothing.
	EarlierRuns int   `json:"earlierRuns,omitempty"`
	WithinRuns  bool  `json:"withinRunsOnly,omitempty"`
	Requests    int64 `json:"requests,omitempty"`
	// Kind is that of the latencies.
	Kind record.LatencyKind `json:"latencyKind,omitempty"`
	// ClosedLoop marks a percentile without an imposed rate, which can miss a bound but not meet it.
	ClosedLoop bool    `json:"closedLoop,omitempty"`
	Outcome    Outcome `json:"outcome"`
	Reason     Reason  `json:"reason,omitempty"`
	// Detail explains further (untrusted).
	Detail string `json:"detail,omitempty"`
}

var units = map[v1alpha1.ObjectiveMetric]string{
	v1alpha1.ObjectiveThroughput: "requests/s", v1alpha1.ObjectiveLatencyPercentile: "µs", v1alpha1.ObjectiveMeanLatency: "µs",
	v1alpha1.ObjectiveErrorRate: "share", v1alpha1.ObjectiveServerCPUPerRequest: "µs", v1alpha1.ObjectiveServerCPUs: "CPUs",
	v1alpha1.ObjectivePeakMemory: "bytes", v1alpha1.ObjectiveRatioToBaseline: "ratio", v1alpha1.ObjectiveRegression: "ratio",
	v1alpha1.ObjectiveCapacity: "requests/s", v1alpha1.ObjectiveCaseTime: "ns", v1alpha1.ObjectiveCaseBytes: "bytes", v1alpha1.ObjectiveCaseAllocations: "allocations",
}

type estimate struct {
	value, low, high float64
	n, earlierN      int
	earlierRuns      int
	withinRuns       bool
	requests         int64
	kind             record.LatencyKind
	why              Reason
	detail           string
	// faulty: the implementation failed without effect on the value. suspect: so is every cell of a side. closedLoop: it
	// is a percentile without an imposed rate.
	faulty, suspect, closedLoop bool
}

func (f estimate) doubt() Reason {
	switch {
	case f.faulty:
		return ImplementationFailures
	case f.suspect:
		return SuspectCells
	case f.closedLoop:
		return ClosedLoop
	}
	return ""
}

func unknown(why Reason, detail string) estimate {
	return estimate{value: math.NaN(), low: math.Inf(-1), high: math.Inf(1), why: why, detail: detail}
}

// Judge evaluates every objective.
func Judge(run Run, analyse func(record.RunData) (Run, error)) ([]Result, error) {
	j := judge{run: run, analyse: analyse, earlier: map[string]*Run{}}
	out := []Result{}
	for index, o := range run.Data.Manifest.Plan.Objectives {
		r := Result{Index: index, Name: o.Name, Metric: o.Metric, Percentile: o.Percentile, Of: o.Of, Unit: units[o.Metric]}
		var err error
		if r.Min, r.Max, err = boundsOf(o); err != nil {
			return nil, fmt.Errorf("reading objective %d of run %s: %w", index, run.Data.Manifest.Run.Name, err)
		}
		of := j.ofCases(o, r)
		out = append(out, of...)
		found := len(of) > 0
		for _, c := range run.Capacities {
			i := util.First(run.Implementations, func(i *planned.Implementation) bool { return i.Name == c.Implementation })
			if o.Metric == v1alpha1.ObjectiveCapacity && o.Load == c.Load && judged(o, *i) {
				one := r
				one.Point, one.Implementation = c.Point(), c.Implementation
				out = append(out, one.with(ofCapacity(c)))
				found = true
			}
		}
		for _, l := range run.Levels {
			if !concerns(o, l) {
				continue
			}
			for _, i := range run.Implementations {
				if !judged(o, i) {
					continue
				}
				one := r
				one.Point, one.Implementation = l.Point, i.Name
				out = append(out, j.judge(o, l, i, one))
				found = true
			}
		}
		if !found {
			out = append(out, r.with(unknown(NotMeasured, "")))
		}
	}
	return out, nil
}

func (j judge) judge(o record.Objective, l planned.Level, i planned.Implementation, empty Result) Result {
	r := empty.with(j.estimate(o, l, i))
	if o.Grade != v1alpha1.GradeIndicated || r.Outcome != Undecided {
		return r
	}
	again := empty.with(ratio(j.run.Admitting(), o, l, i))
	if again.Outcome == Undecided {
		return r
	}
	again.Reason = Indicated
	return again
}

func boundsOf(o record.Objective) (low, high *float64, err error) {
	for _, b := range []struct {
		text string
		into **float64
	}{{o.Min, &low}, {o.Max, &high}} {
		if b.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(b.text, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%q is no decimal number", b.text)
		}
		*b.into = &v
	}
	return low, high, nil
}

func concerns(o record.Objective, l planned.Level) bool {
	return o.Metric != v1alpha1.ObjectiveCapacity && o.CaseMetric() == "" && (o.Load == "" || o.Load == l.Load) && (o.Connections == 0 || o.Connections == l.Connections) &&
		(o.RequestsPerSecond == 0 || o.RequestsPerSecond == l.RequestsPerSecond)
}

func judged(o record.Objective, i planned.Implementation) bool {
	if len(o.Implementations) > 0 {
		return slices.Contains(o.Implementations, i.Name)
	}
	if i.Role != record.RoleContender {
		return false
	}
	return (o.Metric != v1alpha1.ObjectiveRatioToBaseline || !i.Baseline) && (o.Against == nil || o.Against.Anchor != i.Name)
}

// At names where the objective was judged: the case of a micro-benchmark, or the level of a load.
func (r Result) At() string {
	if r.Case != "" {
		return r.Case
	}
	return r.Point.Name()
}

// with: equality meets the bound.
func (r Result) with(f estimate) Result {
	r.N, r.EarlierN, r.Requests, r.Kind, r.Detail = f.n, f.earlierN, f.requests, f.kind, f.detail
	r.ClosedLoop = f.closedLoop
	r.EarlierRuns, r.WithinRuns = f.earlierRuns, f.withinRuns
	r.Value, r.Low, r.High = finite(f.value), finite(f.low), finite(f.high)
	r.Outcome = Undecided
	switch {
	case f.withinRuns:
		f.why = cmp.Or(f.why, TooFewEarlierRuns)
	case r.Min != nil && f.low >= *r.Min, r.Max != nil && f.high <= *r.Max:
		r.Outcome = Met
	case r.Min != nil && f.high < *r.Min, r.Max != nil && f.low > *r.Max:
		r.Outcome = Missed
	}
	if why := f.doubt(); r.Outcome == Met && why != "" {
		r.Outcome, r.Reason = Undecided, why
		return r
	}
	if r.Outcome != Undecided {
		return r
	}
	r.Reason = f.why
	if r.Reason == "" {
		r.Reason = IntervalStraddles
	}
	return r
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Beyond returns how far a value (or its interval's end) is beyond its bound, as a ratio; 0 if unknown.
func (r Result) Beyond() float64 {
	value := r.Value
	switch {
	case value == nil && r.Min != nil:
		value = r.High
	case value == nil:
		value = r.Low
	}
	switch {
	case value == nil:
		return 0
	case r.Min != nil:
		return *r.Min / *value
	}
	return *value / *r.Max
}
