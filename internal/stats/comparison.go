package stats

import "loadstone.dev/loadstone/internal/record"

// Metric names what is compared.
type Metric string

const (
	// CPUPerRequest is the server's CPU time per request: less is better.
	CPUPerRequest Metric = "ServerCPUPerRequest"
	// Throughput is requests per second: more is better.
	Throughput Metric = "Throughput"
	// CapacityRate is the highest rate that a search found to keep its bound: more is better. It is compared of searches only.
	CapacityRate Metric = "Capacity"
)

// metrics are all that is compared of levels, the first decides where the second cannot.
var metrics = []Metric{CPUPerRequest, Throughput}

// of is the metric's value in a cell.
func (m Metric) of(c Cell) *float64 {
	if m == CPUPerRequest {
		return c.CPUPerRequest
	}
	return c.Throughput
}

// sign turns the log of a ratio into one that is positive if the contender is better.
func (m Metric) sign() float64 {
	if m == CPUPerRequest {
		return -1
	}
	return 1
}

// Verdict is the outcome of a comparison, as seen from the contender.
type Verdict string

const (
	Faster       Verdict = "Faster"
	Slower       Verdict = "Slower"
	NoDifference Verdict = "NoDifference"
	Inconclusive Verdict = "Inconclusive"
)

// VerdictReason says why a comparison is Inconclusive.
type VerdictReason string

const (
	// TooFewBlocks means fewer than MinBlocks blocks in which both sides have a cell that is not void.
	TooFewBlocks VerdictReason = "TooFewBlocks"
	// NoiseTooHigh means that the interval holds both a difference and none.
	NoiseTooHigh VerdictReason = "NoiseTooHigh"
	// ManyComparisons means that p is below the alpha of verdicts, but not after Holm's correction for the number of comparisons.
	ManyComparisons VerdictReason = "ManyComparisons"
	// BoundsOnly means that the generator was the limit, so that throughputs are lower bounds that cannot decide.
	BoundsOnly VerdictReason = "BoundsOnly"
	// OwnFaults means that the side which would win failed in some cell or trial by its own fault.
	OwnFaults VerdictReason = "OwnFaults"
	// OverallUndecided means that a level alone would decide, but the mean over the levels does not.
	OverallUndecided VerdictReason = "OverallUndecided"
)

// Comparison is one contender against the baseline.
type Comparison struct {
	Implementation string `json:"implementation"`
	Baseline       string `json:"baseline"`
	// Verdict, Reason and Metric are those of the deciding overall result.
	Verdict Verdict       `json:"verdict"`
	Reason  VerdictReason `json:"reason,omitempty"`
	Metric  Metric        `json:"metric"`
	// Disagrees is true if the other metric has the opposite verdict.
	Disagrees bool `json:"disagrees"`
	// Crossing is true if levels are decided in both directions.
	Crossing bool `json:"crossing"`
	// OwnFaults and BaselineFaults count cells and trials lost by a side's own fault.
	OwnFaults      int `json:"ownFaults"`
	BaselineFaults int `json:"baselineFaults"`
	// Overall holds one result a metric: the mean over the levels of the logs of the ratios.
	Overall []Result          `json:"overall"`
	Levels  []LevelComparison `json:"levels"`
}

// LevelComparison is a Comparison at one level.
type LevelComparison struct {
	record.Point
	Verdict        Verdict       `json:"verdict"`
	Reason         VerdictReason `json:"reason,omitempty"`
	Metric         Metric        `json:"metric"`
	Disagrees      bool          `json:"disagrees"`
	OwnFaults      int           `json:"ownFaults"`
	BaselineFaults int           `json:"baselineFaults"`
	Results        []Result      `json:"results"`
}

// Result compares one metric, at one level or over several. Ratios are contender / baseline, whatever the metric's direction.
type Result struct {
	Metric Metric `json:"metric"`
	// Decides is true for the metric whose verdict counts.
	Decides bool `json:"decides"`
	// Levels is the number of levels in it, Blocks the number of blocks in which all of them have a pair.
	Levels int    `json:"levels"`
	Blocks int    `json:"blocks"`
	Pairs  []Pair `json:"pairs"`
	// Ratio is known from one block on, Low, High, P and LogStdDev from three on.
	Ratio     *float64 `json:"ratio,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	LogStdDev *float64 `json:"logStdDev,omitempty"`
	// P is of the paired t on the logs; AdjustedP is after Holm; SignFlipP stands beside them from SignFlipFrom blocks on.
	P         *float64 `json:"p,omitempty"`
	AdjustedP *float64 `json:"adjustedP,omitempty"`
	SignFlipP *float64 `json:"signFlipP,omitempty"`
	// Advantage is the ratio turned so that more than 1 means that the contender is better.
	Advantage *Advantage `json:"advantage,omitempty"`
	// Detectable is the smallest relative difference that this many blocks of this noise show in Rules.Power of all runs.
	Detectable *float64 `json:"detectable,omitempty"`
	// BlocksNeeded is an estimate of how many blocks would decide; 0 if none is needed or no sensible number would.
	BlocksNeeded int `json:"blocksNeeded,omitempty"`
	// ContenderIsBound and BaselineIsBound say whose value is only a bound, because the generator limited it.
	ContenderIsBound bool          `json:"contenderIsBound"`
	BaselineIsBound  bool          `json:"baselineIsBound"`
	Verdict          Verdict       `json:"verdict"`
	Reason           VerdictReason `json:"reason,omitempty"`
	// Factor says how many times faster or slower, where that is the verdict: the Advantage or its inverse, more than 1.
	Factor *float64 `json:"factor,omitempty"`

	logs []float64
}

// Pair is the ratio in one block.
type Pair struct {
	Block     int32   `json:"block"`
	Ratio     float64 `json:"ratio"`
	Advantage float64 `json:"advantage"`
}

// Advantage is a ratio with its interval, turned so that more than 1 is better.
type Advantage struct {
	Ratio float64  `json:"ratio"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Deciding is the result whose verdict counts.
func (c Comparison) Deciding() Result { return *deciding(c.Overall) }

// Deciding is the result whose verdict counts.
func (l LevelComparison) Deciding() Result { return *deciding(l.Results) }

func deciding(results []Result) *Result {
	if r := find(results, func(r *Result) bool { return r.Decides }); r != nil {
		return r
	}
	return &results[0]
}

// beside is the result that does not decide.
func beside(results []Result) *Result {
	return find(results, func(r *Result) bool { return !r.Decides })
}
