package measured

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// Values are the numbers of a cell. A nil value could not be measured.
type Values struct {
	LoadSeconds float64 `json:"loadSeconds"`
	Requests    int64   `json:"requests"`
	// ByRequest is how many requests of each kind of a mix the tools have made, those without an answer among them; empty of one request.
	ByRequest []int64 `json:"byRequest,omitempty"`
	// HTTP2 is how many of the requests were answered in HTTP/2, of a load that asks for it.
	HTTP2 int64 `json:"http2,omitempty"`
	// Asked and Dropped count the arrivals that the rate wanted, and those of them for which no virtual user was free.
	Asked            int64    `json:"asked,omitempty"`
	Dropped          int64    `json:"dropped,omitempty"`
	Throughput       *float64 `json:"throughputRequestsPerSecond,omitempty"`
	MeanLatency      *float64 `json:"meanLatencyMicros,omitempty"`
	CPUPerRequest    *float64 `json:"serverCPUMicrosPerRequest,omitempty"`
	ServerCPUs       *float64 `json:"serverCPUs,omitempty"`
	GeneratorCPUs    *float64 `json:"generatorCPUs,omitempty"`
	ServerRSS        *float64 `json:"serverRSSBytes,omitempty"`
	ServerPeakMemory *float64 `json:"serverPeakMemoryBytes,omitempty"`
	// ThroughputIsBound and ThroughputIsDiluted are set by the package that judges the cell. A throughput is diluted if a busy or throttled generator,
	// or taking turns, draws it to that of the other side.
	ThroughputIsBound   bool `json:"throughputIsLowerBound"`
	ThroughputIsDiluted bool `json:"throughputIsDiluted,omitempty"`
	// MeanLatencyKind is the kind of MeanLatency, and MeanLatencyLow its lower end where latencies are known by brackets only.
	MeanLatencyKind record.LatencyKind `json:"meanLatencyKind,omitempty"`
	MeanLatencyLow  *float64           `json:"meanLatencyLowMicros,omitempty"`
	// GeneratorUtilisation is the share of its own CPUs that each generator used.
	GeneratorUtilisation []float64 `json:"generatorUtilisation,omitempty"`
	// Observations are what else was seen, in the units that their names say.
	Observations map[ObservationName]float64 `json:"observations,omitempty"`

	Errors  record.Errors `json:"errors"`
	Pinning Pinning       `json:"pinning"`

	// Bytes are the sizes of the cell's answers; nil if they are unknown.
	Bytes *AnswerBytes `json:"-"`
	// series is the cell over time; nil if it was not sampled.
	series *series
	// percentiles are the tables' quantiles of the cell's own latencies, by kind.
	percentiles map[record.LatencyKind][]Quantile
}

// Subjects of what is found, beside the members of a trial.
const (
	// SubjectServer is the cell's own server.
	SubjectServer = "server"
	// SubjectGenerator is one generator or several, whichever.
	SubjectGenerator = "generator"
)

// Facts are all that is known of one cell.
type Facts struct {
	Values
	Level          planned.Level
	Implementation planned.Implementation
	Trial          *record.TrialData
	// Runs are the records of the level's generators, by their index, nil where a generator has none.
	Runs []*record.CellRun
	// Seen is the observer's record of the cell; nil if it has none.
	Seen *record.CellObservation
	// Peer is the observer's record of the other server of a duet; nil outside one.
	Peer *record.CellObservation
	// Latencies hold the cell's distribution of each kind that all its generators have.
	Latencies Distributions
	// Stills is the number of standstills that StillShare sums up.
	Stills int
	// InFlight is the mean number of requests in flight by Little's law, at least; 0 if unknown.
	InFlight float64
	// sizes are those of the implementation's answers in all its trials, by path; nil if only the trial's own are at hand.
	sizes map[string]Sizes
}

// Read finds the records of a cell and computes its values. Sizes are those of the implementation's answers in all its trials, by path;
// nil if each trial stands alone.
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

// RawKey is where the raw output of the first generator that has any lies.
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

// Complete reports whether every generator has a measurement.
func (f *Facts) Complete() bool {
	for _, r := range f.Runs {
		if r == nil || r.Measurement == nil || r.Error != "" {
			return false
		}
	}
	return true
}

// Measurements are what the generators measured; those without a measurement are left out.
func (f *Facts) Measurements() []*record.Measurement {
	var out []*record.Measurement
	for _, r := range f.Runs {
		if r != nil && r.Measurement != nil {
			out = append(out, r.Measurement)
		}
	}
	return out
}

// load computes what the generators measured. A generator's throughput is its requests over its tool's own duration, and the
// throughputs of several generators add up.
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

// addCounts adds up what generators have counted of each request of a mix.
func addCounts(a, b []int64) []int64 {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	for i := range min(len(a), len(b)) {
		a[i] += b[i]
	}
	return a
}

// server computes what the server spent. CPU time is related to the time under load, not to the observer's window, which goes on
// while the tool stops and writes its histogram: in short cells that would hide a busy server.
func (f *Facts) server() {
	if f.Seen == nil || f.Seen.Error != "" {
		return
	}
	f.ServerRSS = positive(float64(f.Seen.RSSBytes))
	f.ServerPeakMemory = positive(float64(f.Seen.PeakMemoryBytes))
	if f.LoadSeconds > 0 {
		f.ServerCPUs = positive(float64(f.Seen.CPUNanos) / 1e9 / f.LoadSeconds)
	}
	if f.Complete() && f.Requests > 0 {
		// The agent's own requests cost the server as much as the tool's, and weigh more with the slower of two servers.
		f.CPUPerRequest = positive(float64(f.Seen.CPUNanos) / 1e3 / float64(f.Requests+f.MeasuredAudit().Requests))
	}
}

// latency reads the distributions of all generators and adds those of one kind. A kind that only some generators have is left out:
// it would speak for a part of the load.
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

// little computes how many requests were in flight, from the latencies of requests that were sent: throughput times mean, at its
// lower end.
func (f *Facts) little() {
	if _, s := f.Latencies.First(record.Observed, record.WithConnection); s != nil && f.Throughput != nil {
		f.InFlight = *f.Throughput * s.LowMean() / 1e6
	}
}

// positive is a pointer to a value, or nil for a value that can only mean "not measured".
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

// Quantile is a percentile of the cell's own latencies of a kind; nil if it has none, or if that is no percentile of the tables.
func (f Values) Quantile(kind record.LatencyKind, percentile string) *Quantile {
	column, own := slices.Index(record.Percentiles, percentile), f.percentiles[kind]
	if column < 0 || own == nil {
		return nil
	}
	return &own[column]
}
