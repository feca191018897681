package stats

import (
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Table is the whole outcome of a run: all formats of the report are printed from it and from nothing else.
type Table struct {
	Run             Run              `json:"run"`
	Rules           Rules            `json:"rules"`
	Implementations []Implementation `json:"implementations"`
	Levels          []Level          `json:"levels"`
	// Groups hold one implementation at one level each, ordered by level and then by implementation.
	Groups []Group `json:"groups"`
	// Comparisons hold one contender against the baseline under one load each, those over all loads first; empty if there is nothing to
	// compare.
	Comparisons []Comparison `json:"comparisons"`
	// Scaling holds one implementation under one load of several levels each.
	Scaling []Scaling `json:"scaling"`
	// Capacities hold what the searches of one load have found of one implementation each.
	Capacities []Capacity `json:"capacities"`
	// Objectives hold one objective of one implementation at one level each, in the order of the spec.
	Objectives []ObjectiveResult `json:"objectives"`
	// Fingerprint is the digest of the machine's facts; empty if they are unknown.
	Fingerprint string `json:"fingerprint,omitempty"`
	// NoiseFloor is the noise floor of this machine: of this run if it is an A/A run, else of the newest that was given; nil if there
	// is none.
	NoiseFloor  *record.Calibration `json:"noiseFloor,omitempty"`
	Coverage    Coverage            `json:"coverage"`
	Environment []Fact              `json:"environment"`
	// Unknowns are what tools and observers could not tell.
	Unknowns  []Unknown  `json:"unknowns"`
	Artifacts []Artifact `json:"artifacts"`
}

// Run identifies the run and says how it was planned.
type Run struct {
	record.Run
	Baseline string              `json:"baseline"`
	Blocks   int32               `json:"blocks"`
	Seed     uint64              `json:"seed"`
	Started  time.Time           `json:"started"`
	Ended    time.Time           `json:"ended"`
	Operator string              `json:"operator"`
	Pinning  v1alpha1.Strictness `json:"pinning"`
	// Notes are the plan's: every default and decision, in sentences.
	Notes []string `json:"notes"`
}

// Rules are the constants by which verdicts were found.
type Rules struct {
	Alpha             float64 `json:"alpha"`
	Confidence        float64 `json:"confidence"`
	Power             float64 `json:"power"`
	MinBlocks         int     `json:"minBlocks"`
	EquivalenceMargin float64 `json:"equivalenceMargin"`
	// LoadsShare is the part of the allowed error that loads and searches have, and DecidingShare the part of that which the metrics that
	// decide have; the rest is for the levels, and for the other metrics.
	LoadsShare    float64 `json:"loadsShare"`
	DecidingShare float64 `json:"decidingShare"`
}

// Implementation is one contender or limit, as planned.
type Implementation struct {
	Name     string        `json:"name"`
	Role     v1alpha1.Role `json:"role"`
	Baseline bool          `json:"baseline"`
	Image    string        `json:"image"`
	CPUs     int32         `json:"cpus"`
}

// Level is one point of a load's sweep, as planned.
type Level struct {
	record.Point
	Tool v1alpha1.Tool `json:"tool"`
	// RampToRequestsPerSecond is the arrival rate at the end of the level; 0 if it is constant.
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
	// Generators is the number of generator pods that share the level, Threads the number of threads of each.
	Generators int32                  `json:"generators"`
	Threads    int32                  `json:"threads"`
	Connection v1alpha1.ConnectionUse `json:"connection"`
	// Scripted is true if a script of the user's makes the requests.
	Scripted        bool   `json:"scripted,omitempty"`
	Path            string `json:"path"`
	WarmupSeconds   int32  `json:"warmupSeconds"`
	DurationSeconds int32  `json:"durationSeconds"`
}

// Group is one implementation at one level, over all blocks. A nil Summary means that no cell had the value.
type Group struct {
	record.Point
	Implementation string        `json:"implementation"`
	Role           v1alpha1.Role `json:"role"`
	// Valid, Suspect and Void count the measured cells; the summaries are over those that are not Void.
	Valid   int `json:"valid"`
	Suspect int `json:"suspect"`
	Void    int `json:"void"`
	// Missing counts the planned cells without a record.
	Missing int `json:"missing"`
	// Pinned counts the cells whose server and generators owned their CPUs.
	Pinned int `json:"pinned"`

	Throughput       *Summary `json:"throughputRequestsPerSecond,omitempty"`
	MeanLatency      *Summary `json:"meanLatencyMicros,omitempty"`
	CPUPerRequest    *Summary `json:"serverCPUMicrosPerRequest,omitempty"`
	ServerCPUs       *Summary `json:"serverCPUs,omitempty"`
	GeneratorCPUs    *Summary `json:"generatorCPUs,omitempty"`
	ServerRSS        *Summary `json:"serverRSSBytes,omitempty"`
	ServerPeakMemory *Summary `json:"serverPeakMemoryBytes,omitempty"`
	LatencyKind      string   `json:"meanLatencyKind,omitempty"`
	// MeanLatencyLow is the lower end of MeanLatency, which is then the upper one; nil where latencies are known exactly.
	MeanLatencyLow    *Summary `json:"meanLatencyLowMicros,omitempty"`
	ThroughputIsBound bool     `json:"throughputIsLowerBound"`

	Requests int64 `json:"requests"`
	// Errors are summed over all cells, the void ones included.
	Errors record.Errors `json:"errors"`
	// Latency holds the merged distribution of each kind.
	Latency []Latency `json:"latency"`
	// Observations are what else was seen, in a fixed order; those that no cell has are left out.
	Observations []Observation `json:"observations"`
	// OverTime is the group's throughput over time; nil if nothing was sampled.
	OverTime *OverTime `json:"overTime,omitempty"`
	// Findings say what is wrong with cells of the group, gathered by kind.
	Findings []Finding `json:"findings"`
	// Cells are the group's measured cells in the order of their blocks.
	Cells []Cell `json:"cells"`
}

// Summary describes values over blocks. Low and High are the interval of the mean (Student's t on the log of the mean,
// Rules.Confidence), which shows the noise of one implementation; comparisons are made by blocks and not by these. It is nil below
// three values and where a value is not positive. High alone is nil where values are lower bounds.
type Summary struct {
	N      int      `json:"n"`
	Mean   float64  `json:"mean"`
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	StdDev *float64 `json:"stdDev,omitempty"`
	// RelativeStdDev is StdDev / Mean.
	RelativeStdDev *float64 `json:"relativeStdDev,omitempty"`
	Low            *float64 `json:"low,omitempty"`
	High           *float64 `json:"high,omitempty"`
}

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
	percentiles map[record.LatencyKind][]Quantile
}

// Pinning is where the processes of a cell were allowed to run, read back from them while they ran.
type Pinning struct {
	// Pinned is true if server and generators owned their CPUs, ServerPinned if the server did.
	Pinned        bool     `json:"pinned"`
	ServerPinned  bool     `json:"serverPinned"`
	ServerCPUs    string   `json:"serverCPUs"`
	GeneratorCPUs []string `json:"generatorCPUs"`
}

// Latency is a merged distribution: the histograms of one kind of all blocks and generators, added bucket by bucket.
type Latency struct {
	Kind record.LatencyKind `json:"kind"`
	// Cells is the number of cells in it.
	Cells   int   `json:"cells"`
	Samples int64 `json:"samples"`
	// Timeouts are requests that took longer than the tool waits: they rank above all samples, at an unknown value. So do the
	// Dropped, which an arrival rate wanted and which were never sent.
	Timeouts int64 `json:"timeouts"`
	Dropped  int64 `json:"dropped,omitempty"`
	// MeanLowMicros is the lower end of the mean, of which MeanMicros is then the upper end; nil where samples are known exactly.
	MeanLowMicros *float64   `json:"meanLowMicros,omitempty"`
	MeanMicros    float64    `json:"meanMicros"`
	MaxMicros     int64      `json:"maxMicros"`
	Quantiles     []Quantile `json:"quantiles"`
	// Curve samples the whole distribution for a picture: it holds only quantiles that are known.
	Curve []Quantile `json:"curve"`
}

// Quantile is one quantile of a distribution. Micros is nil when it is unknown, and Unknown says why. Where LowMicros is set the
// quantile is known to lie between the two; otherwise it is Micros, to the resolution of the histogram.
type Quantile struct {
	Q         float64       `json:"q"`
	LowMicros *int64        `json:"lowMicros,omitempty"`
	Micros    *int64        `json:"micros,omitempty"`
	Unknown   UnknownReason `json:"unknown,omitempty"`
}

// UnknownReason says why a quantile is unknown.
type UnknownReason string

const (
	// TooFewSamples means that fewer than 10 / (1 - q) samples exist.
	TooFewSamples UnknownReason = "TooFewSamples"
	// TimedOut means that the quantile lies among requests that timed out.
	TimedOut UnknownReason = "TimedOut"
	// NotSent means that the quantile lies among requests that an arrival rate wanted and that were not sent.
	NotSent UnknownReason = "NotSent"
)

// Unknown is a sentence of a tool or an observer about what it could not tell.
type Unknown struct {
	Implementation string `json:"implementation"`
	Sentence       string `json:"sentence"`
	Cells          int    `json:"cells"`
}

// Artifact is one object of the run in the store.
type Artifact struct {
	Trial string `json:"trial"`
	record.Artifact
}
