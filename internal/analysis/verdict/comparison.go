package verdict

import (
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Verdict is the outcome of a comparison, as seen from the contender.
type Verdict string

const (
	// Better and Worse say that the contender is, in the metric that the verdict is of.
	Better Verdict = "Better"
	Worse  Verdict = "Worse"
	// NoDifference means that the two differ by less than EquivalenceMargin in that metric, wherever in its interval the ratio lies.
	NoDifference Verdict = "NoDifference"
	// DependsOnLoad means that levels, or loads, have different winners, or that one has a winner where the mean shows no difference.
	DependsOnLoad Verdict = "DependsOnLoad"
	Inconclusive  Verdict = "Inconclusive"
)

// Reason is why a comparison is Inconclusive, or what else than a ratio has decided it.
type Reason string

const (
	// RateNotSustained means that the loser did not sustain an imposed rate that the winner sustained. It is the one reason of a Better or
	// a Worse.
	RateNotSustained Reason = "RateNotSustained"
	// NeitherSustained means that neither side sustained an imposed rate.
	NeitherSustained Reason = "NeitherSustained"
	// TooFewBlocks means that some level has fewer than MinBlocks blocks in which both sides have a cell that is not void.
	TooFewBlocks Reason = "TooFewBlocks"
	// NoiseTooHigh means that the interval holds both a difference and none.
	NoiseTooHigh Reason = "NoiseTooHigh"
	// ManyComparisons means that the interval leaves out 1, which would count if this were the run's only comparison and its only analysis.
	ManyComparisons Reason = "ManyComparisons"
	// BoundsOnly means that the generator was the bottleneck or too busy, so that throughputs are lower bounds, and latencies upper ones.
	BoundsOnly Reason = "BoundsOnly"
	// Diluted means that the two share a load generator that was busy, or take turns, so that their servers may differ by more.
	Diluted Reason = "Diluted"
	// HiddenByTool means that the tool's own pauses are longer than the latencies, so that the servers' may differ by more.
	HiddenByTool Reason = "HiddenByTool"
	// Censored means that the value of a side lies, in some block, among requests that timed out or were never sent.
	Censored Reason = "Censored"
	// LevelsMayDiffer means that the mean shows no difference, and levels contradict it without being decided.
	LevelsMayDiffer Reason = "LevelsMayDiffer"
	// BothZero means that both sides are 0 in every block, which is no difference.
	BothZero Reason = "BothZero"
	// ZeroHasNoRatio means that a value is 0 in some block, and the other side's is not: there is no ratio of them.
	ZeroHasNoRatio Reason = "ZeroHasNoRatio"
	// ImplementationFailures means that the side which would win failed in some cell or trial, or either side where nobody would.
	ImplementationFailures Reason = "ImplementationFailures"
)

// Comparison is one contender against the baseline under one load, or over all loads.
type Comparison struct {
	Implementation string `json:"implementation"`
	Baseline       string `json:"baseline"`
	// Load is the load; empty for the mean over all loads with the weights of the spec.
	Load string `json:"load,omitempty"`
	// Verdict, Reason and Metric are those of the deciding result, unless the levels say otherwise.
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`
	Metric  Metric  `json:"metric"`
	// ContenderFailures and BaselineFailures count cells and trials in which a side itself failed, besides rates that were not sustained; a
	// failed trial counts at each level.
	ContenderFailures int `json:"contenderFailures"`
	BaselineFailures  int `json:"baselineFailures"`
	// Overall holds one result a metric: the mean over the levels. It has those metrics that every level has.
	Overall []Result `json:"overall"`
	// Levels are those of the load; none for the mean over all loads.
	Levels []LevelComparison `json:"levels"`
	// Unsustained are the levels whose rate neither side sustained, and which are left out of the mean.
	Unsustained []record.Point `json:"unsustained,omitempty"`
	// Loads are the verdicts of the loads; none for that of a load.
	Loads []LoadVerdict `json:"loads,omitempty"`

	// contenderMissed and baselineMissed count the cells of the levels in Overall in which a side did not sustain the rate.
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
	// Rate counts who sustained the level's imposed rate; nil where there is none.
	Rate *RateCounts `json:"rate,omitempty"`
	// Results hold one metric each: those that are an answer at this level.
	Results []Result `json:"results"`
}

// RateCounts counts the blocks in which the two sides sustained an imposed rate, missed less than a tenth of it, or missed more by their
// own failure.
type RateCounts struct {
	ContenderSustained int `json:"contenderSustained"`
	ContenderNearly    int `json:"contenderNearly"`
	ContenderMissed    int `json:"contenderMissed"`
	BaselineSustained  int `json:"baselineSustained"`
	BaselineNearly     int `json:"baselineNearly"`
	BaselineMissed     int `json:"baselineMissed"`
	// OnlyContenderMissed and OnlyBaselineMissed count blocks in which one side missed the rate, and the other sustained it or nearly did.
	OnlyContenderMissed int `json:"onlyContenderMissed"`
	OnlyBaselineMissed  int `json:"onlyBaselineMissed"`
}

// Result compares one metric, at one level or as the mean over several. Ratios are contender / baseline, whatever the metric's direction.
type Result struct {
	Metric Metric `json:"metric"`
	// Decides is true for the metric whose verdict counts.
	Decides bool `json:"decides"`
	// Levels is the number of levels in it, Blocks the number of blocks with a pair at any of them, and FewestPairs the number of pairs at
	// the level that has the fewest.
	Levels      int    `json:"levels"`
	Blocks      int    `json:"blocks"`
	FewestPairs int    `json:"fewestPairs"`
	Pairs       []Pair `json:"pairs"`
	// Ratio is known from one pair a level on, Low, High (inference.Confidence), P and LogStdDev from three on.
	Ratio     *float64 `json:"ratio,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	LogStdDev *float64 `json:"logStdDev,omitempty"`
	// P is of the t on the logs; AdjustedP is after the correction for the run's comparisons, and held against AnalysisAlpha; SignFlipP
	// stands beside them from SignFlipFrom blocks on where no block lacks a pair.
	P         *float64 `json:"p,omitempty"`
	AdjustedP *float64 `json:"adjustedP,omitempty"`
	SignFlipP *float64 `json:"signFlipP,omitempty"`
	// Detectable is the smallest relative difference for which inference.Power of all runs of this many blocks and this noise name a winner.
	Detectable *float64 `json:"detectable,omitempty"`
	// BlocksNeeded is how many blocks would decide in inference.Power of all runs if the true ratio were the one observed; 0 if none are needed
	// or no sensible number would.
	BlocksNeeded int `json:"blocksNeeded,omitempty"`
	// Bracketed is true if no number would, because the values are known only within brackets that are wider than the ratio observed.
	Bracketed bool `json:"bracketed,omitempty"`
	// ContenderIsBound and BaselineIsBound say whose value is only a bound, because the generator limited it.
	ContenderIsBound bool `json:"contenderIsBound"`
	BaselineIsBound  bool `json:"baselineIsBound"`
	// Diluted is true if the two differ less than their servers do, and Hidden if the tool's own pauses may hide a difference.
	Diluted bool    `json:"diluted,omitempty"`
	Hidden  bool    `json:"hidden,omitempty"`
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`

	samples  []inference.Sample
	estimate inference.Estimate
	// contenderCensored and baselineCensored count the cells of pairs in which a side's value is beyond all that is known.
	contenderCensored, baselineCensored int
	// better is which way is better, of a metric whose name does not say it.
	better record.Direction
}

// InLogs is the estimate of the log of the ratio.
func (r Result) InLogs() inference.Estimate { return r.estimate }

// Pair is the ratio in one block; in a mean over levels it is what the block adds to the mean.
type Pair struct {
	Block int32   `json:"block"`
	Ratio float64 `json:"ratio"`
}

// Deciding is the result whose verdict counts.
func (c Comparison) Deciding() Result { return *deciding(c.Overall) }

// Deciding is the result whose verdict counts.
func (l LevelComparison) Deciding() Result { return *deciding(l.Results) }

func deciding(results []Result) *Result {
	if r := util.First(results, func(r *Result) bool { return r.Decides }); r != nil {
		return r
	}
	return &results[0]
}

// InMetric is the result in a metric; nil if there is none.
func InMetric(results []Result, m Metric) *Result {
	return util.First(results, func(r *Result) bool { return r.Metric == m })
}

// Searches are the ratios of searches, with the failures of both sides.
type Searches struct {
	results  []*Result
	failures [][2]int
}

// Add takes in a ratio, to be judged with the others.
func (f *Searches) Add(r *Result, contenderFailures, baselineFailures int) {
	f.results, f.failures = append(f.results, r), append(f.failures, [2]int{contenderFailures, baselineFailures})
}

// judge decides the ratios, which have been adjusted in the family of the loads.
func (f Searches) judge(alpha float64) {
	for k, r := range f.results {
		r.judge(f.failures[k][0], f.failures[k][1], alpha)
	}
}
