package validity

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/histogram"
	"loadstone.dev/loadstone/internal/latency"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
)

// Cell is one level of one load in one trial. A nil value could not be measured.
type Cell struct {
	Trial   string `json:"trial"`
	Block   int32  `json:"block"`
	Attempt int32  `json:"attempt"`
	// Raw is the key of the first generator's raw output; empty if there is none.
	Raw      string   `json:"raw,omitempty"`
	Validity Validity `json:"validity"`
	Reasons  []Reason `json:"reasons,omitempty"`

	LoadSeconds float64 `json:"loadSeconds"`
	Requests    int64   `json:"requests"`
	// Asked and Dropped count the arrivals that the rate wanted, and those of them for which no virtual user was free.
	Asked             int64    `json:"asked,omitempty"`
	Dropped           int64    `json:"dropped,omitempty"`
	Throughput        *float64 `json:"throughputRequestsPerSecond,omitempty"`
	MeanLatency       *float64 `json:"meanLatencyMicros,omitempty"`
	CPUPerRequest     *float64 `json:"serverCPUMicrosPerRequest,omitempty"`
	ServerCPUs        *float64 `json:"serverCPUs,omitempty"`
	GeneratorCPUs     *float64 `json:"generatorCPUs,omitempty"`
	ServerRSS         *float64 `json:"serverRSSBytes,omitempty"`
	ServerPeakMemory  *float64 `json:"serverPeakMemoryBytes,omitempty"`
	ThroughputIsBound bool     `json:"throughputIsLowerBound"`
	// ThroughputIsDiluted is true if a busy or throttled generator, or taking turns, draws the throughput to that of the other side.
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

	// series is the cell over time; nil if it was not sampled.
	series *series
	// bytes are the sizes of its answers; nil if they are unknown.
	bytes *answerBytes
	// percentiles are the tables' quantiles of the cell's own latencies, by kind.
	percentiles map[record.LatencyKind][]latency.Quantile
}

// Pinning is where the processes of a cell were allowed to run, read back from them while they ran.
type Pinning struct {
	// Pinned is true if server and generators owned their CPUs, ServerPinned if the server did.
	Pinned        bool     `json:"pinned"`
	ServerPinned  bool     `json:"serverPinned"`
	ServerCPUs    string   `json:"serverCPUs"`
	GeneratorCPUs []string `json:"generatorCPUs"`
}

// facts are all that is known of one cell.
type facts struct {
	level          planned.Level
	implementation planned.Implementation
	rules          rules
	trial          *record.TrialData
	// reference is the baseline's answer to the level's request; nil if none is known.
	reference *reference
	// sizes are those of the implementation's answers in all its trials, by path; nil if only the trial's own are at hand.
	sizes map[string]sizes
	// runs are the records of the level's generators, by their index, nil where a generator has none.
	runs []*record.CellRun
	// seen is the observer's record of the cell; nil if it has none.
	seen *record.CellObservation
	// peer is the observer's record of the other server of a duet; nil outside one.
	peer *record.CellObservation
	// cell holds the values computed so far.
	cell Cell
	// latencies hold the cell's distribution of each kind that all its generators have.
	latencies latency.Distributions
	// stills is the number of standstills that StillShare sums up.
	stills int
	// inFlight is the mean number of requests in flight by Little's law, at least; 0 if unknown.
	inFlight float64
}

// gather finds the records of a cell and computes its values.
func (r *Reader) gather(l planned.Level, i planned.Implementation, t *record.TrialData, sizes map[string]sizes) (*facts, error) {
	f := &facts{level: l, implementation: i, rules: r.rules, trial: t, reference: r.references[l.Path], sizes: sizes}
	for g := range int(max(l.Generators, 1)) {
		var run *record.CellRun
		if g < len(t.Generators) {
			run = pick.First(t.Generators[g].Cells, func(c *record.CellRun) bool { return c.Point == l.Point })
		}
		f.runs = append(f.runs, run)
	}
	f.seen = pick.First(t.Servers[0].Cells, func(c *record.CellObservation) bool { return c.Point == l.Point })
	if len(t.Servers) > 1 {
		f.peer = pick.First(t.Servers[1].Cells, func(c *record.CellObservation) bool { return c.Point == l.Point })
	}
	f.cell = Cell{Trial: t.Manifest.Name, Block: t.Manifest.Block, Attempt: t.Manifest.Attempt}
	f.cell.Raw = f.rawKey()
	f.load()
	f.server()
	if err := f.latency(&r.decoder); err != nil {
		return nil, fmt.Errorf("reading the latencies of %s at %s: %w", t.Manifest.Name, l.Name(), err)
	}
	f.cell.Pinning, f.cell.bytes = f.pinning(), f.readBytes()
	f.observe()
	return f, nil
}

// rawKey is where the raw output of the first generator that has any lies.
func (f *facts) rawKey() string {
	for i, r := range f.runs {
		if r == nil || r.Raw == "" {
			continue
		}
		if a := pick.First(f.trial.Manifest.Artifacts, func(a *record.Artifact) bool { return a.Member == generator(i) && a.Name == r.Raw }); a != nil {
			return a.Key
		}
	}
	return ""
}

// complete says whether every generator has a measurement.
func (f *facts) complete() bool {
	for _, r := range f.runs {
		if r == nil || r.Measurement == nil || r.Error != "" {
			return false
		}
	}
	return true
}

// measurements are what the generators measured; those without a measurement are left out.
func (f *facts) measurements() []*record.Measurement {
	var out []*record.Measurement
	for _, r := range f.runs {
		if r != nil && r.Measurement != nil {
			out = append(out, r.Measurement)
		}
	}
	return out
}

// load computes what the generators measured. A generator's throughput is its requests over its tool's own duration, and the
// throughputs of several generators add up.
func (f *facts) load() {
	var throughput, cpus float64
	for _, r := range f.runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		m := r.Measurement
		seconds := float64(m.DurationMicros) / 1e6
		f.cell.Requests += m.Requests
		f.cell.Asked += m.Asked
		f.cell.Dropped += m.Dropped
		f.cell.Errors = add(f.cell.Errors, m.Errors)
		f.cell.LoadSeconds = max(f.cell.LoadSeconds, seconds)
		if seconds > 0 {
			throughput += float64(m.Requests) / seconds
			cpus += float64(r.CPUNanos) / 1e9 / seconds
			f.cell.GeneratorUtilisation = append(f.cell.GeneratorUtilisation, float64(r.CPUNanos)/1e9/seconds/float64(f.level.GeneratorCPUs()))
		}
	}
	if !f.complete() || f.cell.LoadSeconds <= 0 {
		return
	}
	f.cell.Throughput = positive(throughput)
	f.cell.GeneratorCPUs = positive(cpus)
}

// server computes what the server spent. CPU time is related to the time under load, not to the observer's window, which goes on
// while the tool stops and writes its histogram: in short cells that would hide a busy server.
func (f *facts) server() {
	if f.seen == nil || f.seen.Error != "" {
		return
	}
	f.cell.ServerRSS = positive(float64(f.seen.RSSBytes))
	f.cell.ServerPeakMemory = positive(float64(f.seen.PeakMemoryBytes))
	if f.cell.LoadSeconds > 0 {
		f.cell.ServerCPUs = positive(float64(f.seen.CPUNanos) / 1e9 / f.cell.LoadSeconds)
	}
	if f.complete() && f.cell.Requests > 0 {
		// The agent's own requests cost the server as much as the tool's, and weigh more with the slower of two servers.
		f.cell.CPUPerRequest = positive(float64(f.seen.CPUNanos) / 1e3 / float64(f.cell.Requests+f.audited().Requests))
	}
}

// latency reads the distributions of all generators and adds those of one kind. A kind that only some generators have is left out:
// it would speak for a part of the load.
func (f *facts) latency(dec *histogram.Decoder) error {
	f.latencies = latency.Distributions{}
	for _, m := range f.measurements() {
		for _, l := range m.Latency {
			if err := f.latencies.Read(dec, l); err != nil {
				return err
			}
		}
	}
	f.latencies.Require(len(f.runs))
	f.latencies.Censor(f.cell.Errors.Timeout, f.cell.Dropped)
	if kind, s := f.latencies.First(latency.Kinds...); s != nil {
		f.cell.MeanLatencyKind, f.cell.MeanLatency = kind, positive(s.Mean())
		if !s.Exact() {
			f.cell.MeanLatencyLow = positive(s.LowMean())
		}
	}
	f.little()
	return nil
}

// little computes how many requests were in flight, from the latencies of requests that were sent: throughput times mean, at its
// lower end.
func (f *facts) little() {
	if _, s := f.latencies.First(record.Observed, record.WithConnection); s != nil && f.cell.Throughput != nil {
		f.inFlight = *f.cell.Throughput * s.LowMean() / 1e6
	}
}

// positive is a pointer to a value, or nil for a value that can only mean "not measured".
func positive(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}

// add sums errors by kind.
func add(a, b record.Errors) record.Errors {
	return record.Errors{
		Connect: a.Connect + b.Connect, Read: a.Read + b.Read, Write: a.Write + b.Write,
		Timeout: a.Timeout + b.Timeout, Status: a.Status + b.Status, Body: a.Body + b.Body,
	}
}

// Quantile is a percentile of the cell's own latencies of a kind; nil if it has none, or if that is no percentile of the tables.
func (c Cell) Quantile(kind record.LatencyKind, percentile string) *latency.Quantile {
	column, own := slices.Index(record.Percentiles, percentile), c.percentiles[kind]
	if column < 0 || own == nil {
		return nil
	}
	return &own[column]
}
