package verdict

import (
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Verdict is the outcome of a comparison, from the contender's view.
type Verdict string

const (
	// Better and Worse say what the contender is, in the verdict's metric.
	Better Verdict = "Better"
	Worse  Verdict = "Worse"
	// NoDifference means that the two differ by less than EquivalenceMargin, wherever in its interval the ratio lies.
	NoDifference Verdict = "NoDifference"
	// DependsOnLoad means that levels, or loads, have different winners, or that one has a winner and the mean shows
	// no difference.
	DependsOnLoad Verdict = "DependsOnLoad"
	Inconclusive  Verdict = "Inconclusive"
)

// Reason is why a comparison is Inconclusive, or what else than a ratio decided it.
type Reason string

const (
	// RateNotSustained means that the loser did not sustain an imposed rate and the winner did. It is the only reason
	// of a Better or Worse.
	RateNotSustained Reason = "RateNotSustained"
	// NeitherSustained means that neither side sustained an imposed rate.
	NeitherSustained Reason = "NeitherSustained"
	// TooFewBlocks means that some level has fewer than MinBlocks blocks with a usable pair.
	TooFewBlocks Reason = "TooFewBlocks"
	// NoiseTooHigh means that the interval holds both a difference and none.
	NoiseTooHigh Reason = "NoiseTooHigh"
	// ManyComparisons means that the interval excludes 1, which would count in a run with one comparison and one
	// analysis.
	ManyComparisons Reason = "ManyComparisons"
	// BoundsOnly means that the generator was the bottleneck or too busy: throughputs are lower bounds, latencies
	// upper ones.
	BoundsOnly Reason = "BoundsOnly"
	// Diluted means that the sides shared a busy generator or took turns, so their servers may differ by more.
	Diluted Reason = "Diluted"
	// HiddenByTool means that the tool's own pauses exceed the latencies, so the servers may differ by more.
	HiddenByTool Reason = "HiddenByTool"
	// Censored means that in some block a side's value lies among requests that timed out or were never sent.
	Censored Reason = "Censored"
	// LevelsMayDiffer means that the mean shows no difference, but undecided levels contradict it.
	LevelsMayDiffer Reason = "LevelsMayDiffer"
	// BothZero means that both sides are 0 in every block, which is no difference.
	BothZero Reason = "BothZero"
	// ZeroHasNoRatio means that one side's value is 0 in some block and the other's is not.
	ZeroHasNoRatio Reason = "ZeroHasNoRatio"
	// ImplementationFailures means that the winning side failed in some cell or trial, or either side if nobody wins.
	ImplementationFailures Reason = "ImplementationFailures"
)

// Comparison is one contender against the baseline under one load, or over all loads.
type Comparison struct {
	Implementation string `json:"implementation"`
	Baseline       string `json:"baseline"`
	// Load is empty for the weighted mean over all loads.
	Load string `json:"load,omitempty"`
	// Verdict, Reason and Metric are the deciding result's, unless levels disagree.
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`
	Metric  Metric  `json:"metric"`
	// ContenderFailures and BaselineFailures count cells and trials in which a side failed, without missed rates. A
	// failed trial counts at each level.
	ContenderFailures int `json:"contenderFailures"`
	BaselineFailures  int `json:"baselineFailures"`
	// Overall holds the mean over the levels for each metric that every level has.
	Overall []Result `json:"overall"`
	// Levels is empty for the mean over all loads.
	Levels []LevelComparison `json:"levels"`
	// Unsustained are the levels left out of the mean, since neither side sustained their rate.
	Unsustained []record.Point `json:"unsustained,omitempty"`
	// Loads are the loads' verdicts, in the mean over all loads only.
	Loads []LoadVerdict `json:"loads,omitempty"`

	// contenderMissed and baselineMissed count cells in Overall whose rate a side missed.
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
	Verdict           Verdict `json:"verdict"`
	Reason            Reason  `json:"reason,omitempty"`
	Metric            Metric  `json:"metric"`
	ContenderFailures int     `json:"contenderFailures"`
	BaselineFailures  int     `json:"baselineFailures"`
	// Rate counts who sustained the level's imposed rate; nil if there is none.
	Rate *RateCounts `json:"rate,omitempty"`
	// Results hold the metrics that answer at this level.
	Results []Result `json:"results"`
}

// RateCounts counts the blocks in which each side sustained an imposed rate, missed less than a tenth of it, or
// missed more by its own failure.
type RateCounts struct {
	ContenderSustained int `json:"contenderSustained"`
	ContenderNearly    int `json:"contenderNearly"`
	ContenderMissed    int `json:"contenderMissed"`
	BaselineSustained  int `json:"baselineSustained"`
	BaselineNearly     int `json:"baselineNearly"`
	BaselineMissed     int `json:"baselineMissed"`
	// OnlyContenderMissed and OnlyBaselineMissed count blocks in which one side missed the rate and the other
	// (nearly) sustained it.
	OnlyContenderMissed int `json:"onlyContenderMissed"`
	OnlyBaselineMissed  int `json:"onlyBaselineMissed"`
}

// Result compares one metric, at one level or in a mean. Ratios are contender / baseline, whatever the metric's
// direction.
type Result struct {
	Metric Metric `json:"metric"`
	// Decides marks the metric whose verdict counts.
	Decides bool `json:"decides"`
	// Blocks counts the blocks with a pair at any level, FewestPairs the pairs at the level with the fewest.
	Levels      int    `json:"levels"`
	Blocks      int    `json:"blocks"`
	FewestPairs int    `json:"fewestPairs"`
	Pairs       []Pair `json:"pairs"`
	// Ratio needs one pair per level; Low, High (inference.Confidence), P and LogStdDev need three.
	Ratio     *float64 `json:"ratio,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	LogStdDev *float64 `json:"logStdDev,omitempty"`
	// P is of the t on the logs. AdjustedP is corrected for the run's comparisons and compared with AnalysisAlpha.
	// SignFlipP is added from SignFlipFrom blocks on if no block lacks a pair.
	P         *float64 `json:"p,omitempty"`
	AdjustedP *float64 `json:"adjustedP,omitempty"`
	SignFlipP *float64 `json:"signFlipP,omitempty"`
	// Detectable is the smallest relative difference with a winner in a share inference.Power of runs with this noise
	// and number of blocks.
	Detectable *float64 `json:"detectable,omitempty"`
	// BlocksNeeded is the number of blocks that would decide in a share inference.Power of runs if the observed ratio
	// were true; 0 if none are needed or no sensible number would.
	BlocksNeeded int `json:"blocksNeeded,omitempty"`
	// Bracketed is true if no number would, since the values' brackets are wider than the observed ratio.
	Bracketed bool `json:"bracketed,omitempty"`
	// ContenderIsBound and BaselineIsBound mark values that the generator limited.
	ContenderIsBound bool `json:"contenderIsBound"`
	BaselineIsBound  bool `json:"baselineIsBound"`
	// Diluted is true if the sides differ less than their servers do, Hidden if the tool's pauses may hide a
	// difference.
	Diluted bool    `json:"diluted,omitempty"`
	Hidden  bool    `json:"hidden,omitempty"`
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`

	samples  []inference.Sample
	estimate inference.Estimate
	// contenderCensored and baselineCensored count paired cells in which a side's value is beyond all known ones.
	contenderCensored, baselineCensored int
	// better is the direction of a metric whose name does not tell it.
	better record.Direction
}

// InLogs returns the estimate of the log ratio.
func (r Result) InLogs() inference.Estimate { return r.estimate }

// Pair is the ratio in one block; in a mean over levels, the block's contribution.
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

// Searches are the ratios of searches, with the failures of both sides.
type Searches struct {
	results  []*Result
	failures [][2]int
}

// Add adds a ratio, to be judged with the others.
func (f *Searches) Add(r *Result, contenderFailures, baselineFailures int) {
	f.results, f.failures = append(f.results, r), append(f.failures, [2]int{contenderFailures, baselineFailures})
}

// judge decides the ratios, already adjusted in the loads' family.
func (f Searches) judge(alpha float64) {
	for k, r := range f.results {
		r.judge(f.failures[k][0], f.failures[k][1], alpha)
	}
}
