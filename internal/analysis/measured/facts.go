package measured

import (
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// Values are the numbers of a cell. Nil means not measured.
type Values struct {
	LoadSeconds float64 `json:"loadSeconds"`
	// AgeSeconds is the time from the first measured cell of the server's process to this one.
	AgeSeconds float64 `json:"ageSeconds,omitempty"`
	Requests   int64   `json:"requests"`
	// ByRequest counts a mix's requests by kind, answered or not.
	ByRequest []int64 `json:"byRequest,omitempty"`
	HTTP2     int64   `json:"http2,omitempty"`
	// Asked counts planned arrivals, Dropped those without a free virtual user.
	Asked            int64    `json:"asked,omitempty"`
	Dropped          int64    `json:"dropped,omitempty"`
	Throughput       *float64 `json:"throughputRequestsPerSecond,omitempty"`
	MeanLatency      *float64 `json:"meanLatencyMicros,omitempty"`
	CPUPerRequest    *float64 `json:"serverCPUMicrosPerRequest,omitempty"`
	ServerCPUs       *float64 `json:"serverCPUs,omitempty"`
	GeneratorCPUs    *float64 `json:"generatorCPUs,omitempty"`
	ServerRSS        *float64 `json:"serverRSSBytes,omitempty"`
	ServerPeakMemory *float64 `json:"serverPeakMemoryBytes,omitempty"`
	// Package validity sets these. A busy or throttled generator, or taking turns, dilutes a throughput: it draws it
	// toward the other side's.
	ThroughputIsBound   bool `json:"throughputIsLowerBound"`
	ThroughputIsDiluted bool `json:"throughputIsDiluted,omitempty"`
	// MeanLatencyLow is set if latencies are bracketed.
	MeanLatencyKind      record.LatencyKind          `json:"meanLatencyKind,omitempty"`
	MeanLatencyLow       *float64                    `json:"meanLatencyLowMicros,omitempty"`
	GeneratorUtilisation []float64                   `json:"generatorUtilisation,omitempty"`
	Observations         map[ObservationName]float64 `json:"observations,omitempty"`

	Errors  record.Errors `json:"errors"`
	Pinning Pinning       `json:"pinning"`

	Bytes       *AnswerBytes `json:"-"`
	series      *series
	percentiles map[record.LatencyKind][]Quantile
}

// Subjects of findings, in addition to the members of a trial.
const (
	// SubjectServer is the cell's own server.
	SubjectServer = "server"
	// SubjectGenerator is any generator, or several.
	SubjectGenerator = "generator"
)

// Facts hold all that is known of one cell.
type Facts struct {
	Values
	Level          planned.Level
	Implementation planned.Implementation
	Trial          *record.TrialData
	// Runs are by generator; nil for a missing record.
	Runs []*record.CellRun
	// Seen is nil without an observation.
	Seen *record.CellObservation
	// Peer is a duet's other server.
	Peer *record.CellObservation
	// Latencies hold the kinds that all generators have.
	Latencies Distributions
	// Stills counts the standstills in StillShare. LongestStill is the longest in milliseconds; infinite if only the
	// series shows them.
	Stills       int
	LongestStill float64
	// InFlight is at least the mean number in flight, by Little's law; 0 if unknown.
	InFlight float64
	// sizes cover all trials, by request key; nil if only this trial's are known.
	sizes map[string]Sizes
}

// Read computes the values of a cell. Pass nil sizes if each trial stands alone.
func Read(dec *histogram.Decoder, l planned.Level, i planned.Implementation, t *record.TrialData, sizes map[string]Sizes) (*Facts, error) {
	f := &Facts{Level: l, Implementation: i, Trial: t, sizes: sizes}
	for g := range int(l.Generators) {
		var run *record.CellRun
		if g < len(t.Generators) {
			run = util.First(t.Generators[g].Cells, func(c *record.CellRun) bool { return c.Point == l.Point })
		}
		f.Runs = append(f.Runs, run)
	}
	own, _ := t.Server(0)
	peer, _ := t.Server(1)
	f.Seen = util.First(own.Cells, func(c *record.CellObservation) bool { return c.Point == l.Point })
	f.Peer = util.First(peer.Cells, func(c *record.CellObservation) bool { return c.Point == l.Point })
	f.load()
	f.server()
	if err := f.latency(dec); err != nil {
		return nil, fmt.Errorf("reading the latencies of %s at %s: %w", t.Manifest.Name, l.Name(), err)
	}
	f.Pinning, f.Bytes = f.pinning(), f.answerBytes()
	f.observe()
	return f, nil
}

// RawKey returns the key of the first raw output.
func (f *Facts) RawKey() string {
	for i, r := range f.Runs {
		if r == nil || r.Raw == "" {
			continue
		}
		if a := util.First(f.Trial.Manifest.Artifacts, func(a *record.Artifact) bool { return a.Member == record.MemberGenerator(i) && a.Name == r.Raw }); a != nil {
			return a.Key
		}
	}
	return ""
}

// Spend drops the histograms and samples of the cell's records, most of their memory.
func (f *Facts) Spend() {
	for _, m := range f.Measurements() {
		m.Latency = nil
	}
	if f.Seen != nil {
		f.Seen.Series = nil
	}
}

// Complete reports whether every generator has a measurement.
func (f *Facts) Complete() bool {
	for _, r := range f.Runs {
		if r == nil || r.Measurement == nil || r.Error != "" {
			return false
		}
	}
	return true
}

// Measurements returns those that exist.
func (f *Facts) Measurements() []*record.Measurement {
	var out []*record.Measurement
	for _, r := range f.Runs {
		if r != nil && r.Measurement != nil {
			out = append(out, r.Measurement)
		}
	}
	return out
}

// load divides each generator's requests by its tool's own duration, and adds the throughputs.
func (f *Facts) load() {
	var throughput, cpus float64
	for _, r := range f.Runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		m := r.Measurement
		seconds := float64(r.LoadNanos()) / 1e9
		f.Requests += m.Requests
		f.ByRequest = addCounts(f.ByRequest, m.ByRequest)
		f.HTTP2 += m.HTTP2
		f.Asked += m.Asked
		f.Dropped += m.Dropped
		f.Errors = AddErrors(f.Errors, m.Errors)
		f.LoadSeconds = max(f.LoadSeconds, seconds)
		if seconds > 0 {
			throughput += float64(m.Requests) / seconds
			cpus += float64(r.CPUNanos) / 1e9 / seconds
			f.GeneratorUtilisation = append(f.GeneratorUtilisation, float64(r.CPUNanos)/1e9/seconds/float64(f.Level.GeneratorCPUs()))
		}
	}
	if !f.Complete() || f.LoadSeconds <= 0 {
		return
	}
	f.Throughput = positive(throughput)
	f.GeneratorCPUs = positive(cpus)
}

func addCounts(a, b []int64) []int64 {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	for i := range min(len(a), len(b)) {
		a[i] += b[i]
	}
	return a
}

// server computes what the server spent. CPU time that may be incomplete is unknown. It is related to the time under load, not to the observer's window.
// That window also covers the tool's end, which would hide a busy server in short cells.
func (f *Facts) server() {
	if f.Seen == nil || f.Seen.Error != "" {
		return
	}
	own, _ := f.Trial.Server(0)
	f.AgeSeconds = f.Seen.Started.Sub(firstStart(own.Cells)).Seconds()
	f.ServerRSS = positive(float64(f.Seen.RSSBytes))
	f.ServerPeakMemory = positive(float64(f.Seen.PeakMemoryBytes))
	if len(f.Seen.CPUUncounted) > 0 {
		return
	}
	if f.LoadSeconds > 0 {
		f.ServerCPUs = positive(float64(f.Seen.CPUNanos) / 1e9 / f.LoadSeconds)
	}
	if f.Complete() && f.Requests > 0 {
		// The agent's own requests cost the server as much as the tool's, and weigh more with a slow server.
		f.CPUPerRequest = positive(float64(f.Seen.CPUNanos+f.dependencyNanos()) / 1e3 / float64(f.Requests+f.MeasuredAudit().Requests))
	}
}

// dependencyNanos is the CPU time of all dependencies, which do a part of the server's work.
func (f *Facts) dependencyNanos() int64 {
	var nanos int64
	for _, d := range f.Seen.Dependencies {
		nanos += d.CPUNanos
	}
	return nanos
}

// firstStart returns the earliest start of some cells, at least one.
func firstStart(cells []record.CellObservation) time.Time {
	first := cells[0].Started
	for _, c := range cells {
		if c.Started.Before(first) {
			first = c.Started
		}
	}
	return first
}

// latency adds the distributions of all generators by kind. It drops a kind that some generator lacks, since that
// would cover only part of the load.
func (f *Facts) latency(dec *histogram.Decoder) error {
	f.Latencies = Distributions{}
	for _, m := range f.Measurements() {
		for _, l := range m.Latency {
			if err := f.Latencies.Read(dec, l); err != nil {
				return err
			}
		}
	}
	f.Latencies.Require(len(f.Runs))
	f.Latencies.Censor(f.Errors.Timeout, f.Dropped)
	f.percentiles = f.Latencies.Quantiles()
	if kind, s := f.Latencies.First(Kinds...); s != nil {
		f.MeanLatencyKind, f.MeanLatency = kind, positive(s.Mean())
		if !s.Exact() {
			f.MeanLatencyLow = positive(s.LowMean())
		}
	}
	f.little()
	return nil
}

// little computes the requests in flight from latencies of sent requests: throughput times the mean's lower end.
func (f *Facts) little() {
	if _, s := f.Latencies.First(record.Observed, record.WithConnection); s != nil && f.Throughput != nil {
		f.InFlight = *f.Throughput * s.LowMean() / 1e6
	}
}

// positive returns nil for a value that can only mean "not measured".
func positive(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}

// AddErrors sums errors by kind.
func AddErrors(a, b record.Errors) record.Errors {
	return record.Errors{
		Connect: a.Connect + b.Connect, Read: a.Read + b.Read, Write: a.Write + b.Write,
		Timeout: a.Timeout + b.Timeout, Status: a.Status + b.Status, Body: a.Body + b.Body,
	}
}

// Quantile returns nil for an unknown kind or percentile.
func (f Values) Quantile(kind record.LatencyKind, percentile string) *Quantile {
	column, own := slices.Index(record.Percentiles, percentile), f.percentiles[kind]
	if column < 0 || own == nil {
		return nil
	}
	return &own[column]
}
