package capacity

import (
	"cmp"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/search"
)

// searchIn reads the recorded steps, since a search may end early.
func searchIn(r *validity.Reader, l planned.Search, i planned.Implementation, t *record.TrialData) (Trial, []validity.Cell, error) {
	out := Trial{Trial: t.Manifest.Name, Block: t.Manifest.Block, Steps: []validity.Step{}}
	var runs []record.CellRun
	if len(t.Generators) > 0 {
		runs = slices.DeleteFunc(slices.Clone(t.Generators[0].Cells), func(c record.CellRun) bool { return c.Load != l.Load || c.Step == 0 })
	}
	slices.SortFunc(runs, func(a, b record.CellRun) int { return cmp.Compare(a.Step, b.Step) })
	var cells []validity.Cell
	wrong := false
	for k, s := range search.Steps(l.Search, runs) {
		step, lied, err := r.Step(l.Step(runs[k].Point), i, t, s)
		if err != nil {
			return out, nil, err
		}
		wrong = wrong || lied
		out.Steps = append(out.Steps, step)
		cells = append(cells, validity.Cell{Block: out.Block, Reasons: step.Reasons})
	}
	out.conclude(wrong)
	return out, cells, nil
}

func (t *Trial) outcome(without func(validity.Step) bool) search.Capacity {
	var past []search.Step
	for _, s := range t.Steps {
		if !without(s) {
			past = append(past, search.Step{Rate: s.Rate, Met: s.Met, Why: s.Why})
		}
	}
	return search.Outcome(past)
}

// conclude finds a search's number. It counts if unusable steps could be left out.
func (t *Trial) conclude(wrong bool) {
	all := t.outcome(func(validity.Step) bool { return false })
	t.Result, t.Highest, t.Lowest = all.Result, all.Highest, all.Lowest
	kept := t.outcome(func(s validity.Step) bool { return s.Met && s.Validity == validity.Void })
	served := t.outcome(func(s validity.Step) bool { return !s.Met && s.GeneratorLimited })
	missed := t.outcome(func(s validity.Step) bool { return !s.Met && (s.GeneratorLimited || s.Validity == validity.Void) })
	switch {
	case t.Result == search.NotTried:
		return
	case t.Result == search.BelowStart:
		t.ImplementationFailure = missed.Lowest.Rate == all.Lowest.Rate
		t.Unusable = !t.ImplementationFailure
		return
	case kept.Highest.Rate != all.Highest.Rate:
		t.Unusable, t.ImplementationFailure = true, wrong
		return
	case t.Result == search.NotReached:
		t.Bound = NotReached
	case served.Lowest.Rate != all.Lowest.Rate:
		t.Bound = GeneratorLimited
	case missed.Lowest.Rate != all.Lowest.Rate:
		t.Bound = Disturbed
	}
	rate := all.Rate
	if t.Bound != "" {
		rate = float64(all.Highest.Rate)
	}
	t.Rate = &rate
}

func (c *Capacity) summarise(cells []validity.Cell) {
	c.Findings = validity.Findings(cells)
	for k := range c.Findings {
		c.Findings[k].Blocks = slices.Compact(c.Findings[k].Blocks)
	}
	var samples []inference.Sample
	var rates []float64
	for _, t := range c.Trials {
		c.count(t)
		if t.Rate != nil {
			b := t.bracket()
			rates = append(rates, *t.Rate)
			logs := inference.Span{Low: math.Log(b.Low), Mid: math.Log(b.Mid), High: math.Log(b.High)}
			samples = append(samples, inference.Sample{Block: t.Block, Span: logs})
			c.IsBound = c.IsBound || t.Bound != ""
		}
	}
	if len(samples) == 0 {
		return
	}
	e := inference.NewEstimate([]inference.Stratum{{Weight: 1, Samples: samples}})
	c.Rate = &inference.Summary{N: e.Blocks, Mean: math.Exp(e.Mean), Min: slices.Min(rates), Max: slices.Max(rates)}
	if e.Known {
		low, high := e.Interval()
		low, high = math.Exp(low), math.Exp(high)
		c.Rate.Low, c.Rate.High = &low, &high
		if c.IsBound {
			c.Rate.High = nil
		}
	}
}

func (c *Capacity) count(t Trial) {
	if t.ImplementationFailure {
		c.ImplementationFailures++
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

// Compare relates capacities to the baseline's by block, without verdicts.
func Compare(p planned.Run, capacities []Capacity) ([]Capacity, verdict.Searches) {
	all := slices.Clone(capacities)
	var out verdict.Searches
	for k := range all {
		own := &all[k]
		if !slices.ContainsFunc(p.Contenders(), func(i planned.Implementation) bool { return i.Name == own.Implementation }) {
			continue
		}
		base := util.First(all, func(c *Capacity) bool { return c.Load == own.Load && c.Implementation == p.Baseline })
		own.ToBaseline = ratesByBlock(own.Trials, base.Trials)
		out.Add(own.ToBaseline, own.ImplementationFailures, base.ImplementationFailures)
	}
	return all, out
}

// bracket is from the highest rate sustained to the lowest missed. A lower bound has no width.
func (t Trial) bracket() inference.Span {
	if t.Bound != "" {
		return inference.Exactly(*t.Rate)
	}
	return inference.Span{Low: float64(t.Highest.Rate), Mid: *t.Rate, High: float64(t.Lowest.Rate)}
}

func ratesByBlock(own, base []Trial) *verdict.Result {
	var samples []inference.Sample
	contenderIsBound, baselineIsBound := false, false
	var doubts [][2][]validity.Code
	for _, a := range own {
		b := util.First(base, func(t *Trial) bool { return t.Block == a.Block })
		if b == nil || a.Rate == nil || b.Rate == nil {
			continue
		}
		samples = append(samples, inference.Sample{Block: a.Block, Span: inference.LogRatio(a.bracket(), b.bracket())})
		doubts = append(doubts, [2][]validity.Code{a.doubts(), b.doubts()})
		contenderIsBound, baselineIsBound = contenderIsBound || a.Bound != "", baselineIsBound || b.Bound != ""
	}
	r := verdict.NewResult(verdict.Capacity, samples)
	r.Decides, r.ContenderIsBound, r.BaselineIsBound = true, contenderIsBound, baselineIsBound
	for _, d := range doubts {
		r.AddPair(d[0], d[1])
	}
	return &r
}

// OnlySuspect reports whether every trial with a number is suspect.
func (c Capacity) OnlySuspect() bool {
	return !slices.ContainsFunc(c.Trials, func(t Trial) bool { return t.Rate != nil && len(t.doubts()) == 0 })
}

// doubts are the codes that make the two steps suspect between which the number lies. A bound met in spite of others
// was met.
func (t Trial) doubts() []validity.Code {
	var out []validity.Code
	for _, s := range t.Steps {
		for _, r := range s.Reasons {
			met := s.Met && slices.Contains(validity.Hindrances, r.Code)
			if r.Weight == validity.Suspect && !met && r.Scope == validity.ScopeCell && (s.Rate == t.Highest.Rate || s.Rate == t.Lowest.Rate) {
				out = append(out, r.Code)
			}
		}
	}
	return out
}
