package verdict

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Verdict is the outcome of a comparison, from the contender's view.
type Verdict string

const (
	// Better and Worse describe the contender.
	Better Verdict = "Better"
	Worse  Verdict = "Worse"
	// NoDifference means less than EquivalenceMargin, wherever in its interval the ratio lies.
	NoDifference Verdict = "NoDifference"
	// DependsOnLoad means different winners in one metric, or a winner where the mean shows no difference.
	DependsOnLoad Verdict = "DependsOnLoad"
	// Mixed: a winner in another metric, or at a level in another metric, contradicts the deciding one.
	Mixed Verdict = "Mixed"
	// Differs means a difference in a counter whose better direction is unknown.
	Differs      Verdict = "Differs"
	Inconclusive Verdict = "Inconclusive"
)

// Reason is why a comparison is Inconclusive, or what else than a ratio decided it.
type Reason string

const (
	// RateNotSustained: only the loser missed an imposed rate. No other reason comes with a winner.
	RateNotSustained Reason = "RateNotSustained"
	// NeitherSustained: neither side sustained an imposed rate.
	NeitherSustained Reason = "NeitherSustained"
	// CPUUncounted: the CPU time is unknown in cells that a verdict needs.
	CPUUncounted Reason = "CPUUncounted"
	// TooFewBlocks: some level has fewer than MinBlocks usable pairs.
	TooFewBlocks Reason = "TooFewBlocks"
	// NoiseTooHigh: the interval holds both a difference and none.
	NoiseTooHigh Reason = "NoiseTooHigh"
	// ManyComparisons: the difference would count in a run with one comparison and one analysis.
	ManyComparisons Reason = "ManyComparisons"
	// BoundsOnly: the generator left lower bounds of throughputs and upper bounds of latencies.
	BoundsOnly Reason = "BoundsOnly"
	// Diluted: turns or a shared busy generator hide part of the difference.
	Diluted Reason = "Diluted"
	// HiddenByTool: the tool's pauses exceed the latencies.
	HiddenByTool Reason = "HiddenByTool"
	// ClosedLoopLatency: a latency was measured without an imposed rate.
	ClosedLoopLatency Reason = "ClosedLoop"
	// Censored: a value lies among timed-out or unsent requests.
	Censored Reason = "Censored"
	// LevelsMayDiffer: the mean shows no difference, but undecided levels contradict it.
	LevelsMayDiffer Reason = "LevelsMayDiffer"
	// BothZero means 0 on both sides in every block.
	BothZero Reason = "BothZero"
	// UnitsDiffer: the metric has several units or directions in the run.
	UnitsDiffer Reason = "UnitsDiffer"
	// ZeroHasNoRatio means 0 on one side only in some block.
	ZeroHasNoRatio Reason = "ZeroHasNoRatio"
	// SuspectCells: every cell of a side is suspect in the result's metric.
	SuspectCells Reason = "SuspectCells"
	// ImplementationFailures: the winner failed somewhere, or either side if there is no winner.
	ImplementationFailures Reason = "ImplementationFailures"
)

// Comparison is one contender against the baseline.
type Comparison struct {
	Implementation string `json:"implementation"`
	Baseline       string `json:"baseline"`
	// Load is empty for the weighted mean over all loads.
	Load string `json:"load,omitempty"`
	// These are the deciding result's, unless levels or metrics disagree.
	Verdict Verdict `json:"verdict"`
	// Main is the verdict that Against turned into Mixed; otherwise empty.
	Main Verdict `json:"main,omitempty"`
	// Against are the winners that the verdict of the deciding metric would hide, the largest first.
	Against []Winner `json:"against,omitempty"`
	Reason  Reason   `json:"reason,omitempty"`
	Metric  Metric   `json:"metric"`
	// Failures are without missed rates. A failed trial counts at each level.
	ContenderFailures int `json:"contenderFailures"`
	BaselineFailures  int `json:"baselineFailures"`
	// Overall covers metrics that every level has.
	Overall []Result `json:"overall"`
	// Levels is empty for the mean over all loads.
	Levels []LevelComparison `json:"levels"`
	// Unsustained levels are left out of the mean.
	Unsustained []record.Point `json:"unsustained,omitempty"`
	Loads       []LoadVerdict  `json:"loads,omitempty"`
	// Indicated is the winner if disturbed cells count; only for an inconclusive comparison.
	Indicated *Indication `json:"indicated,omitempty"`

	// These cover the cells in Overall.
	contenderMissed, baselineMissed int
}

// LoadVerdict is a load's part in the mean over all loads.
type LoadVerdict struct {
	Load    string  `json:"load"`
	Weight  float64 `json:"weight"`
	Verdict Verdict `json:"verdict"`
}

// LevelComparison is a Comparison at one level.
type LevelComparison struct {
	record.Point
	Verdict           Verdict     `json:"verdict"`
	Reason            Reason      `json:"reason,omitempty"`
	Metric            Metric      `json:"metric"`
	ContenderFailures int         `json:"contenderFailures"`
	BaselineFailures  int         `json:"baselineFailures"`
	Rate              *RateCounts `json:"rate,omitempty"`
	Results           []Result    `json:"results"`
}

// RateCounts counts blocks: rate sustained, missed by less than a tenth, or missed by more through own failure.
type RateCounts struct {
	ContenderSustained int `json:"contenderSustained"`
	ContenderNearly    int `json:"contenderNearly"`
	ContenderMissed    int `json:"contenderMissed"`
	BaselineSustained  int `json:"baselineSustained"`
	BaselineNearly     int `json:"baselineNearly"`
	BaselineMissed     int `json:"baselineMissed"`
	// These count blocks in which the other side (nearly) sustained the rate.
	OnlyContenderMissed int `json:"onlyContenderMissed"`
	OnlyBaselineMissed  int `json:"onlyBaselineMissed"`
}

// Result compares one metric, at one level or in a mean. Ratios are contender / baseline, whatever the metric's
// direction.
type Result struct {
	Metric Metric `json:"metric"`
	// Decides marks the metric whose verdict counts.
	Decides bool `json:"decides"`
	// Blocks have a pair at any level. FewestPairs is the fewest of a level.
	Levels      int    `json:"levels"`
	Blocks      int    `json:"blocks"`
	FewestPairs int    `json:"fewestPairs"`
	Pairs       []Pair `json:"pairs"`
	// Ratio needs one pair per level; Low, High (inference.Confidence), P and LogStdDev need three.
	Ratio     *float64 `json:"ratio,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	LogStdDev *float64 `json:"logStdDev,omitempty"`
	// AdjustedP is corrected for the run's comparisons and compared with AnalysisAlpha. SignFlipP needs SignFlipFrom
	// blocks without missing pairs.
	P         *float64 `json:"p,omitempty"`
	AdjustedP *float64 `json:"adjustedP,omitempty"`
	SignFlipP *float64 `json:"signFlipP,omitempty"`
	// Detectable is the smallest difference with a winner in a share inference.Power of such runs.
	Detectable *float64 `json:"detectable,omitempty"`
	// BlocksNeeded would decide in a share inference.Power of runs if the observed ratio were true; 0 if none are
	// needed or no sensible number would.
	BlocksNeeded int `json:"blocksNeeded,omitempty"`
	// Bracketed: no number would, since brackets are wider than the ratio.
	Bracketed        bool `json:"bracketed,omitempty"`
	ContenderIsBound bool `json:"contenderIsBound"`
	BaselineIsBound  bool `json:"baselineIsBound"`
	// ClosedLoop marks a latency under a closed load, which gets no verdict.
	ClosedLoop bool `json:"closedLoop,omitempty"`
	// Diluted results differ less than their servers; Hidden ones may hide a difference behind the tool's pauses.
	Diluted bool    `json:"diluted,omitempty"`
	Hidden  bool    `json:"hidden,omitempty"`
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`

	samples                             []inference.Sample
	estimate                            inference.Estimate
	contenderCensored, baselineCensored int
	contender, base                     side
	doubts                              []validity.Code
	// uncounted: a pair is missing because a CPU time is unknown.
	uncounted bool
	// admitted counts the disturbed cells behind the result, noise their codes.
	admitted int
	noise    []validity.Code
	// better is for metrics whose name does not tell it.
	better record.Direction
}

// side counts the values of one side behind a result, and those with doubts in its metric.
type side struct{ cells, suspect int }

func (s *side) add(cells, suspect int) { s.cells, s.suspect = s.cells+cells, s.suspect+suspect }

// AddPair counts two values behind the result, with the codes that make each suspect in the result's metric.
func (r *Result) AddPair(contender, base []validity.Code) {
	r.contender.add(1, asInt(len(contender) > 0))
	r.base.add(1, asInt(len(base) > 0))
	r.doubts = util.Distinct(slices.Concat(r.doubts, contender, base))
}

// OnlySuspect reports whether every value of a side is suspect.
func (r Result) OnlySuspect() bool {
	return r.contender.cells > 0 && max(r.contender.suspect, r.base.suspect) == r.contender.cells
}

// Suspects returns how many of the cells behind the result are suspect in its metric, and why, in order.
func (r Result) Suspects() (suspect, cells int, why []validity.Code) {
	return r.contender.suspect + r.base.suspect, r.contender.cells + r.base.cells, slices.Sorted(slices.Values(r.doubts))
}

// InLogs returns the estimate of the log ratio.
func (r Result) InLogs() inference.Estimate { return r.estimate }

// Pair is a block's ratio, or its part in a mean.
type Pair struct {
	Block int32   `json:"block"`
	Ratio float64 `json:"ratio"`
}

// Deciding returns the result whose verdict counts.
func (c Comparison) Deciding() Result { return *deciding(c.Overall) }

// Deciding returns the result whose verdict counts.
func (l LevelComparison) Deciding() Result { return *deciding(l.Results) }

func deciding(results []Result) *Result {
	if r := util.First(results, func(r *Result) bool { return r.Decides }); r != nil {
		return r
	}
	return &results[0]
}

// InMetric returns the result of a metric; nil if there is none.
func InMetric(results []Result, m Metric) *Result {
	return util.First(results, func(r *Result) bool { return r.Metric == m })
}

// Searches are ratios of searches with both sides' failures.
type Searches struct {
	results  []*Result
	failures [][2]int
}

// Add adds a ratio, to be judged with the others.
func (f *Searches) Add(r *Result, contenderFailures, baselineFailures int) {
	f.results, f.failures = append(f.results, r), append(f.failures, [2]int{contenderFailures, baselineFailures})
}

func (f Searches) judge(alpha float64) {
	for k, r := range f.results {
		r.judge(f.failures[k][0], f.failures[k][1], alpha)
	}
}
