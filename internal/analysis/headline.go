package analysis

import (
	"cmp"
	"maps"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Headline is the outcome of a run, before it is put into words.
type Headline struct {
	Gate *Gate `json:"gate,omitempty"`
	// Calibration is nil unless the run is an A/A run.
	Calibration *record.Calibration `json:"calibration,omitempty"`
	Entries     []HeadlineEntry     `json:"entries"`
	Cases       []CaseOutcome       `json:"cases,omitempty"`
	// CaseGaps and Unread are the table's.
	CaseGaps  []CaseGap      `json:"caseGaps,omitempty"`
	Unread    []UnreadOutput `json:"unreadOutput,omitempty"`
	Unprinted []CaseName     `json:"unprinted,omitempty"`
	// Profiles lists those with missing results.
	Profiles []ProfileGap `json:"profiles,omitempty"`
	// Peaks are in spec order.
	Peaks []Peak `json:"peaks"`
	// AloneCases counts cases with a value if nothing is compared.
	AloneCases     int   `json:"aloneCases,omitempty"`
	MeasuredTrials int   `json:"measuredTrials"`
	PlannedTrials  int   `json:"plannedTrials"`
	Rules          Rules `json:"rules"`
}

// Gate counts objectives times implementations times levels.
type Gate struct {
	Met       int `json:"met"`
	Missed    int `json:"missed"`
	Undecided int `json:"undecided"`
	// Worst is the missed objective farthest beyond its bound.
	Worst *objectives.Result `json:"worst,omitempty"`
}

// CaseOutcome counts a contender's cases by the deciding metric.
type CaseOutcome struct {
	Implementation string `json:"implementation"`
	Baseline       string `json:"baseline"`
	Cases          int    `json:"cases"`
	Better         int    `json:"better"`
	Worse          int    `json:"worse"`
	// Differ counts differences in a metric whose better direction is unknown.
	Differ int `json:"differ,omitempty"`
	// Mixed counts cases with a winner that another metric contradicts.
	Mixed     int `json:"mixed,omitempty"`
	Same      int `json:"same"`
	Undecided int `json:"undecided"`
	// VoidProcesses do not count, SuspectProcesses do.
	Processes        int             `json:"processes"`
	VoidProcesses    int             `json:"voidProcesses"`
	SuspectProcesses int             `json:"suspectProcesses,omitempty"`
	SuspectReasons   []validity.Code `json:"suspectReasons,omitempty"`
	// Largest has the largest difference with a winner.
	Largest *verdict.RowComparison `json:"largest,omitempty"`
}

// HeadlineEntry is a contender against the baseline in one load or search.
type HeadlineEntry struct {
	Load           string          `json:"load,omitempty"`
	Implementation string          `json:"implementation"`
	Baseline       string          `json:"baseline"`
	Verdict        verdict.Verdict `json:"verdict"`
	Reason         verdict.Reason  `json:"reason,omitempty"`
	Metric         verdict.Metric  `json:"metric"`
	// Main is the verdict of the deciding metric if Verdict is Mixed. Seconds are the largest winners of either side that it
	// would hide, or a latency at an imposed rate next to the CPU time. More counts other hidden winners at levels or loads.
	Main    verdict.Verdict  `json:"main,omitempty"`
	Seconds []verdict.Winner `json:"seconds,omitempty"`
	More    int              `json:"more,omitempty"`
	// Ratio, Low and High are contender / baseline.
	Ratio      *float64 `json:"ratio,omitempty"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	AtLeast    bool     `json:"atLeast,omitempty"`
	Detectable *float64 `json:"detectable,omitempty"`
	Blocks     int      `json:"blocks"`
	// FewestPairs belongs to the level with the fewest blocks, which Fewest names if others have more.
	FewestPairs int           `json:"fewestPairs"`
	Fewest      *record.Point `json:"fewest,omitempty"`
	// BlocksNeeded would decide with probability Rules.Power; 0 if unknown or decided. Bracketed: no number would,
	// since values are bracketed.
	BlocksNeeded int  `json:"blocksNeeded,omitempty"`
	Bracketed    bool `json:"bracketed,omitempty"`
	// These cover both sides. VoidReasons are the most frequent first.
	Cells       int             `json:"cells"`
	VoidCells   int             `json:"voidCells"`
	VoidReasons []validity.Code `json:"voidReasons,omitempty"`
	// SuspectCells are suspect in Metric, of UsedCells behind its ratio.
	UsedCells      int             `json:"usedCells,omitempty"`
	SuspectCells   int             `json:"suspectCells,omitempty"`
	SuspectReasons []validity.Code `json:"suspectReasons,omitempty"`
	Levels         int             `json:"levels"`
	// SameInTheMean: DependsOnLoad with an equal mean, but all decided levels agree.
	SameInTheMean bool             `json:"sameInTheMean,omitempty"`
	OtherMetrics  []verdict.Winner `json:"otherMetrics,omitempty"`
	// Decided is empty if the load has one level.
	Decided []verdict.Winner `json:"decided,omitempty"`
	// Unsustained levels are left out of the mean.
	Unsustained []record.Point        `json:"unsustained,omitempty"`
	Loads       []verdict.LoadVerdict `json:"loads,omitempty"`
	Grade       verdict.Grade         `json:"grade,omitempty"`
	// Indicated is only for the grade of that name.
	Indicated *verdict.Indication `json:"indicated,omitempty"`
}

// Said is the verdict of the deciding metric.
func (e HeadlineEntry) Said() verdict.Verdict { return cmp.Or(e.Main, e.Verdict) }

// Peak is the best mean throughput of an implementation.
type Peak struct {
	Implementation string      `json:"implementation"`
	Role           record.Role `json:"role"`
	record.Point
	Throughput inference.Summary `json:"throughputRequestsPerSecond"`
	IsBound    bool              `json:"isLowerBound"`
	// Sustained: Throughput is from searches with the bound below.
	Sustained       bool  `json:"sustained,omitempty"`
	Percentile      int32 `json:"percentile,omitempty"`
	MaxMilliseconds int32 `json:"maxMilliseconds,omitempty"`
}

// Headline summarizes the run.
func (t Table) Headline() Headline {
	h := Headline{
		MeasuredTrials: t.Coverage.MeasuredTrials, PlannedTrials: t.Coverage.PlannedTrials, Rules: t.Rules,
		Gate: t.gate(), Entries: []HeadlineEntry{}, Peaks: []Peak{},
	}
	others := slices.ContainsFunc(t.Implementations, func(i planned.Implementation) bool {
		return i.Role != record.RoleReference && t.NoiseFloor != nil && !slices.Contains(t.NoiseFloor.Implementations[:], i.Name)
	})
	if t.Calibrates() && !others {
		h.Calibration = t.NoiseFloor
	}
	for _, c := range t.Comparisons {
		e := entry(c)
		t.countVoid(&e)
		h.Entries = append(h.Entries, e)
	}
	t.addCapacities(&h)
	h.Cases, h.AloneCases = t.caseOutcomes(), t.aloneCases()
	h.CaseGaps, h.Unread = t.CaseGaps, t.Unread
	h.Profiles = t.profileGaps()
	h.Unprinted = slices.DeleteFunc(slices.Clone(t.CaseNames), func(n CaseName) bool { return n.Cases > 0 })
	slices.SortStableFunc(h.Entries, func(a, b HeadlineEntry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.size(), a.size()))
	})
	for _, i := range t.Implementations {
		if p, ok := t.peak(i); ok {
			h.Peaks = append(h.Peaks, p)
		}
	}
	return h
}

func (t Table) gate() *Gate {
	if len(t.Objectives) == 0 {
		return nil
	}
	var g Gate
	for k := range t.Objectives {
		o := &t.Objectives[k]
		switch o.Outcome {
		case objectives.Met:
			g.Met++
		case objectives.Undecided:
			g.Undecided++
		case objectives.Missed:
			g.Missed++
			if g.Worst == nil || o.Beyond() > g.Worst.Beyond() {
				g.Worst = o
			}
		}
	}
	return &g
}

func (t Table) addCapacities(h *Headline) {
	for _, c := range t.Capacities {
		if c.Rate != nil {
			h.Peaks = append(h.Peaks, Peak{
				Implementation: c.Implementation, Role: c.Role, Point: c.Point(), Throughput: *c.Rate, IsBound: c.IsBound, Sustained: true,
				Percentile: c.Percentile, MaxMilliseconds: c.MaxMilliseconds,
			})
		}
		if r := c.ToBaseline; r != nil {
			e := HeadlineEntry{Load: c.Load, Implementation: c.Implementation, Baseline: t.Run.Baseline, Verdict: r.Verdict, Reason: r.Reason}
			e.AtLeast = r.AtLeast(r.Verdict)
			e.Grade = verdict.Comparison{Verdict: r.Verdict, Reason: r.Reason}.Grade()
			e.measure(*r)
			h.Entries = append(h.Entries, e)
		}
	}
}

func (t Table) inconclusive(h Headline) []verdict.Reason {
	var out []verdict.Reason
	for _, e := range h.Entries {
		if e.Verdict == verdict.Inconclusive {
			out = append(out, e.Reason)
		}
	}
	for k := range t.Rows {
		if r := &t.Rows[k]; r.Decides && (r.Verdict == verdict.Inconclusive || len(t.OptimisedAway(*r)) > 0) {
			out = append(out, r.Reason)
		}
	}
	return out
}

// Conclusive reports whether every comparison has a verdict, with a reason for the API's condition.
func (t Table) Conclusive() (conclusive bool, reason string) {
	h := t.Headline()
	if !t.counts(h) {
		return false, v1alpha1.ReasonNoValidResults
	}
	if len(h.Entries)+len(t.Rows) == 0 {
		return false, v1alpha1.ReasonNothingToCompare
	}
	if open := openOf(h.Entries); len(open) > 0 && len(t.inconclusive(h)) == len(open) && !slices.ContainsFunc(open, notIndicated) {
		return false, v1alpha1.ReasonIndicated
	}
	reason = v1alpha1.ReasonDone
	undecided := ""
	for _, why := range t.inconclusive(h) {
		switch why {
		case verdict.TooFewBlocks:
			return false, v1alpha1.ReasonTooFewBlocks
		case verdict.SuspectCells:
			undecided = v1alpha1.ReasonSuspectCells
			reason = undecided
		case verdict.NoiseTooHigh, verdict.ManyComparisons:
			reason = cmp.Or(undecided, v1alpha1.ReasonNoiseTooHigh)
		default:
			undecided = cmp.Or(undecided, v1alpha1.ReasonUndecided)
			reason = undecided
		}
	}
	return reason == v1alpha1.ReasonDone, reason
}

func openOf(entries []HeadlineEntry) []HeadlineEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e HeadlineEntry) bool { return e.Verdict != verdict.Inconclusive })
}

func notIndicated(e HeadlineEntry) bool { return e.Grade != verdict.Indicated }

// Counts reports whether any measurement counts.
func (t Table) Counts() bool { return t.counts(t.Headline()) }

func (t Table) counts(h Headline) bool {
	return len(h.Peaks)+h.AloneCases > 0 || slices.ContainsFunc(h.Entries, func(e HeadlineEntry) bool { return e.Indicated != nil }) || slices.ContainsFunc(t.Cases, func(c Case) bool { return c.Summary != nil }) ||
		slices.ContainsFunc(t.Rows, func(r verdict.RowComparison) bool { return r.Blocks > 0 })
}

func entry(c verdict.Comparison) HeadlineEntry {
	e := HeadlineEntry{Load: c.Load, Implementation: c.Implementation, Baseline: c.Baseline, Verdict: c.Verdict, Reason: c.Reason, Loads: c.Loads}
	d := c.Deciding()
	e.Main, e.Grade, e.Indicated = c.Main, c.Grade(), c.Indicated
	e.measure(d)
	e.AtLeast = d.AtLeast(e.Said())
	e.SameInTheMean = c.Verdict == verdict.DependsOnLoad && d.Verdict == verdict.NoDifference && oneWay(c)
	for _, w := range c.Against {
		switch {
		case !slices.ContainsFunc(e.Seconds, func(o verdict.Winner) bool { return o.Verdict == w.Verdict }):
			e.Seconds = append(e.Seconds, w)
		case w.Point != record.Point{}: // The mean's are in OtherMetrics.
			e.More++
		}
	}
	for _, r := range c.Overall {
		switch {
		case r.Decides || !r.Decided():
		default:
			e.OtherMetrics = append(e.OtherMetrics, verdict.WinnerAt(record.Point{}, r))
		}
	}
	e.addLatency(c)
	e.Unsustained = c.Unsustained
	if len(c.Levels) < 2 && c.Reason != verdict.RateNotSustained {
		return e
	}
	for _, l := range c.Levels {
		one := l.Deciding()
		if e.Fewest == nil && !l.NeitherSustained() && one.FewestPairs == d.FewestPairs && (one.FewestPairs < d.Blocks || d.Blocks == 0 && anyPair(c)) {
			e.Fewest = &l.Point
		}
		if w, ok := l.Winner(); ok {
			e.Decided = append(e.Decided, w)
		}
	}
	return e
}

// addLatency puts the largest latency next to the CPU time at an imposed rate, whose throughput is no answer.
func (e *HeadlineEntry) addLatency(c verdict.Comparison) {
	if e.Verdict != verdict.Better && e.Verdict != verdict.Worse || verdict.InMetric(c.Overall, verdict.Throughput) != nil {
		return
	}
	var largest *verdict.Winner
	for k := range e.OtherMetrics {
		w := &e.OtherMetrics[k]
		if w.Metric.Percentile() != "" && (largest == nil || w.Size() > largest.Size()) {
			largest = w
		}
	}
	if largest != nil {
		e.Seconds = append(e.Seconds, *largest)
	}
}

func oneWay(c verdict.Comparison) bool {
	better, worse := false, false
	see := func(v verdict.Verdict) { better, worse = better || v == verdict.Better, worse || v == verdict.Worse }
	for _, l := range c.Levels {
		see(l.Verdict)
	}
	for _, l := range c.Loads {
		see(l.Verdict)
	}
	return better != worse
}

func anyPair(c verdict.Comparison) bool {
	return slices.ContainsFunc(c.Levels, func(l verdict.LevelComparison) bool { return l.Deciding().Blocks > 0 })
}

func (e *HeadlineEntry) measure(r verdict.Result) {
	e.Metric, e.Ratio, e.Low, e.High, e.Detectable = r.Metric, r.Ratio, r.Low, r.High, r.Detectable
	e.SuspectCells, e.UsedCells, e.SuspectReasons = r.Suspects()
	e.Blocks, e.BlocksNeeded, e.Bracketed, e.Levels, e.FewestPairs = r.Blocks, r.BlocksNeeded, r.Bracketed, r.Levels, r.FewestPairs
}

func (t Table) countVoid(e *HeadlineEntry) {
	counts := map[validity.Code]int{}
	for _, g := range t.Groups {
		if g.Implementation != e.Implementation && g.Implementation != e.Baseline || e.Load != "" && g.Load != e.Load {
			continue
		}
		e.Cells += len(g.Cells)
		e.VoidCells += g.Void
		for _, f := range g.Findings {
			if f.Weight == validity.Void {
				counts[f.Code] += len(f.Blocks)
			}
		}
	}
	e.VoidReasons = slices.SortedFunc(maps.Keys(counts), func(a, b validity.Code) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

func rank(e HeadlineEntry) int {
	if len(e.Loads) > 0 {
		return -1
	}
	switch e.Verdict {
	case verdict.Better, verdict.Worse:
		return 0
	case verdict.DependsOnLoad, verdict.Mixed, verdict.Differs:
		return 1
	case verdict.NoDifference:
		return 2
	case verdict.Inconclusive:
	}
	return 3
}

func (e HeadlineEntry) size() float64 {
	if e.Ratio == nil {
		return 0
	}
	return max(*e.Ratio, 1 / *e.Ratio)
}

func (t Table) peak(i planned.Implementation) (Peak, bool) {
	var best Peak
	found := false
	for _, g := range t.Groups {
		if g.Implementation != i.Name || g.Throughput == nil || (found && g.Throughput.Mean <= best.Throughput.Mean) {
			continue
		}
		best = Peak{Implementation: i.Name, Role: i.Role, Point: g.Point, Throughput: *g.Throughput, IsBound: g.ThroughputIsBound}
		found = true
	}
	return best, found
}

// ObjectivesMet reports whether every objective is met, with a reason for the API's condition Succeeded.
func (t Table) ObjectivesMet() (met bool, reason string) {
	g := t.gate()
	switch {
	case g == nil:
		return true, v1alpha1.ReasonDone
	case g.Missed > 0:
		return false, v1alpha1.ReasonObjectivesMissed
	case g.Undecided > 0:
		return false, v1alpha1.ReasonObjectivesUndecided
	}
	return true, v1alpha1.ReasonDone
}
