package stats

import (
	"cmp"
	"math"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/search"
)

// search reads the search of one trial: the steps that its generator has, in their order. A search may end before its last step, so
// that a step without a record is none. The cells hold the reasons of the steps.
func (r *reader) search(p planned, l v1alpha1.Load, i Implementation, t *record.TrialData) (CapacityTrial, []Cell, error) {
	out := CapacityTrial{Trial: t.Manifest.Trial, Block: t.Manifest.Block, Steps: []CapacityStep{}}
	var runs []record.CellRun
	if len(t.Generators) > 0 {
		runs = slices.DeleteFunc(slices.Clone(t.Generators[0].Cells), func(c record.CellRun) bool { return c.Load != l.Name || c.Step == 0 })
	}
	slices.SortFunc(runs, func(a, b record.CellRun) int { return cmp.Compare(a.Step, b.Step) })
	var cells []Cell
	wrong := false
	for k, s := range search.Steps(*l.Search, runs) {
		f, err := r.gather(p.level(l, runs[k].Point, []record.TrialData{*t}), i, t)
		if err != nil {
			return out, nil, err
		}
		f.judge()
		wrong = wrong || s.Met && ownFault(f.cell)
		step := f.step(s)
		out.Steps = append(out.Steps, step)
		cells = append(cells, Cell{Block: out.Block, Reasons: step.Reasons})
	}
	out.conclude(wrong)
	return out, cells, nil
}

// hindrances make a load harder to bear and never easier: a bound that was kept in spite of them was kept.
var hindrances = []ReasonCode{Strangers, Stolen, Throttled}

// step says what a step is worth. Of one that missed, what the implementation itself did is the outcome and no reason to doubt it.
func (f *facts) step(s search.Step) CapacityStep {
	out := CapacityStep{
		Step: f.level.Step, Rate: s.Rate, Met: s.Met, Why: s.Why, Validity: Valid, Pinned: f.cell.Pinning.Pinned,
		GeneratorLimited: f.busiest() >= generatorBusy && f.serverUtilisation() < generatorLimited,
	}
	var judged Cell
	for _, r := range f.cell.Reasons {
		own := slices.Contains(ownFaults, r.Code) || r.Code == RateMissed
		if !s.Met && (own || r.Weight != Void) {
			continue
		}
		if s.Met && slices.Contains(hindrances, r.Code) {
			r.Weight = Suspect
		}
		judged.Validity = cmp.Or(judged.Validity, Valid)
		judged.mark(r)
	}
	out.Validity, out.Reasons = cmp.Or(judged.Validity, Valid), judged.Reasons
	return out
}

// outcome is what the steps say that are not left out.
func (t *CapacityTrial) outcome(without func(CapacityStep) bool) search.Capacity {
	var past []search.Step
	for _, s := range t.Steps {
		if !without(s) {
			past = append(past, search.Step{Rate: s.Rate, Met: s.Met, Why: s.Why})
		}
	}
	return search.Outcome(past)
}

// conclude reads the number of a search, and says what it is worth: it counts if the steps that do not count could be left out. Wrong
// says that the server answered wrongly where it kept the bound.
func (t *CapacityTrial) conclude(wrong bool) {
	all := t.outcome(func(CapacityStep) bool { return false })
	t.Result, t.Highest, t.Lowest = all.Result, all.Highest, all.Lowest
	kept := t.outcome(func(s CapacityStep) bool { return s.Met && s.Validity == Void })
	served := t.outcome(func(s CapacityStep) bool { return !s.Met && s.GeneratorLimited })
	missed := t.outcome(func(s CapacityStep) bool { return !s.Met && (s.GeneratorLimited || s.Validity == Void) })
	switch {
	case t.Result == search.NotTried:
		return
	case t.Result == search.BelowStart:
		t.OwnFault = missed.Lowest.Rate == all.Lowest.Rate
		t.Unusable = !t.OwnFault
		return
	case kept.Highest.Rate != all.Highest.Rate:
		t.Unusable, t.OwnFault = true, wrong
		return
	case t.Result == search.NotReached:
		t.Bound = BoundNotReached
	case served.Lowest.Rate != all.Lowest.Rate:
		t.Bound = BoundGenerator
	case missed.Lowest.Rate != all.Lowest.Rate:
		t.Bound = BoundDisturbed
	}
	rate := float64(all.Highest.Rate)
	t.Rate = &rate
}

// summarise counts the outcomes of the trials, and describes their numbers.
func (c *Capacity) summarise(cells []Cell) {
	c.Findings = findings(cells)
	for k := range c.Findings {
		c.Findings[k].Blocks = slices.Compact(c.Findings[k].Blocks)
	}
	var samples []sample
	var rates []float64
	for _, t := range c.Trials {
		c.count(t)
		if t.Rate != nil {
			b := t.bracket()
			rates = append(rates, *t.Rate)
			samples = append(samples, sample{t.Block, span{math.Log(b.low), math.Log(b.low), math.Log(b.high)}})
			c.IsBound = c.IsBound || t.Bound != ""
		}
	}
	if len(samples) == 0 {
		return
	}
	e := newEstimate([]stratum{{1, samples}})
	c.Rate = &Summary{N: e.blocks, Mean: math.Exp(e.mean), Min: slices.Min(rates), Max: slices.Max(rates)}
	if e.known {
		low, high := e.interval()
		c.Rate.Low, c.Rate.High = exp(low), exp(high)
		if c.IsBound {
			c.Rate.High = nil
		}
	}
}

func (c *Capacity) count(t CapacityTrial) {
	if t.OwnFault {
		c.OwnFaults++
	}
	if t.Unusable {
		c.Unusable++
		return
	}
	switch t.Result {
	case search.Found:
		c.Found++
	case search.BelowStart:
		c.BelowStart++
	case search.NotReached:
		c.NotReached++
	case search.NotTried:
		c.NotTried++
	}
}

// searchFamily are the ratios of searches, with the faults of both sides.
type searchFamily struct {
	results []*Result
	faults  [][2]int
}

// compareCapacities compares the contenders' capacities with the baseline's, block by block, and gives no verdict yet.
func compareCapacities(p planned, all []Capacity) searchFamily {
	var out searchFamily
	for k := range all {
		own := &all[k]
		if !slices.ContainsFunc(p.contenders(), func(i Implementation) bool { return i.Name == own.Implementation }) {
			continue
		}
		base := find(all, func(c *Capacity) bool { return c.Load == own.Load && c.Implementation == p.baseline })
		own.ToBaseline = ratesByBlock(own.Trials, base.Trials)
		out.results, out.faults = append(out.results, own.ToBaseline), append(out.faults, [2]int{own.OwnFaults, base.OwnFaults})
	}
	return out
}

// judge decides the ratios, which have been adjusted in the family of the loads.
func (f searchFamily) judge(alpha float64) {
	for k, r := range f.results {
		r.judge(f.faults[k][0], f.faults[k][1], alpha)
	}
}

// bracket is where the rate of a search lies: between the highest rate kept and the lowest missed.
func (t CapacityTrial) bracket() span {
	s := exactly(*t.Rate)
	if t.Bound == "" && t.Lowest.Rate > t.Highest.Rate {
		s.high = float64(t.Lowest.Rate)
		s.mid = math.Sqrt(s.low * s.high)
	}
	return s
}

// ratesByBlock pairs the searches of two implementations.
func ratesByBlock(own, base []CapacityTrial) *Result {
	r := Result{Metric: CapacityRate, Decides: true, Pairs: []Pair{}}
	var samples []sample
	for _, a := range own {
		b := find(base, func(t *CapacityTrial) bool { return t.Block == a.Block })
		if b == nil || a.Rate == nil || b.Rate == nil {
			continue
		}
		samples = append(samples, sample{a.Block, ratio(a.bracket(), b.bracket())})
		r.inherit(Result{ContenderIsBound: a.Bound != "", BaselineIsBound: b.Bound != ""})
	}
	r.estimateOf([]stratum{{1, samples}})
	return &r
}

// addSteps counts the steps of searches as cells: a search plans as many as it has tried.
func (c *Coverage) addSteps(all []Capacity) {
	for _, one := range all {
		n := one.steps()
		c.PlannedCells += n.PlannedCells
		c.MeasuredCells += n.MeasuredCells
		c.VoidCells += n.VoidCells
		c.SuspectCells += n.SuspectCells
		c.SuspectLatencies += n.SuspectLatencies
		c.PinnedCells += n.PinnedCells
		if one.Role == v1alpha1.RoleLimit {
			c.Limits.plus(n)
		}
	}
}

// steps counts the steps of all its searches.
func (c Capacity) steps() CellCount {
	var n CellCount
	for _, t := range c.Trials {
		n.PlannedCells += len(t.Steps)
		n.MeasuredCells += len(t.Steps)
		for _, s := range t.Steps {
			switch s.Validity {
			case Void:
				n.VoidCells++
			case Suspect:
				n.SuspectCells++
			case Valid:
			}
			if s.Pinned {
				n.PinnedCells++
			}
		}
	}
	return n
}

// figure is what an objective bounds. Where no trial kept any rate, the capacity lies below the lowest rates that were missed.
func (c Capacity) figure() figure {
	f := unknown(FewBlocks, "")
	switch {
	case c.Rate == nil && c.BelowStart >= minPairs:
		f.low, f.high, f.n, f.why = 0, 0, c.BelowStart, NoRateKept
		for _, t := range c.Trials {
			if t.Result == search.BelowStart && !t.Unusable {
				f.high = max(f.high, float64(t.Lowest.Rate))
			}
		}
		return f
	case c.Rate == nil && c.Unusable >= minPairs:
		f.why = VoidCells
	case c.Rate == nil:
		f.why = NotMeasured
	case c.Rate.Low == nil:
		f.value, f.n = c.Rate.Mean, c.Rate.N
	default:
		f = figure{value: c.Rate.Mean, low: *c.Rate.Low, high: math.Inf(1), n: c.Rate.N}
		if c.Rate.High != nil {
			f.high = *c.Rate.High
		}
	}
	if c.IsBound {
		f.high = math.Inf(1)
		if f.why == "" {
			f.why = OnlyLeast
		}
	}
	f.faulty = c.OwnFaults > 0
	return f
}
