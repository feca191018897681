package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

// Cell is one level of one load in one trial, and how far it can be believed.
type Cell struct {
	Trial   string `json:"trial"`
	Block   int32  `json:"block"`
	Attempt int32  `json:"attempt"`
	// Raw is the key of the first generator's raw output; empty if there is none.
	Raw      string   `json:"raw,omitempty"`
	Validity Validity `json:"validity"`
	Reasons  []Reason `json:"reasons,omitempty"`
	// PauseMicros is up to where the tool's own pauses may put a percentile of the latencies from the intended starts; 0 of a tool that keeps no rate.
	PauseMicros int64 `json:"-"`
	measured.Values
}

// facts are what the checks look at: all that is known of a cell, and what its run asks of it.
type facts struct {
	*measured.Facts
	rules rules
	// references are the baseline's answers, by the key of the request.
	references map[string]*measured.Reference
}

// gather reads a cell. Sizes are nil if its trial stands alone.
func (r *Reader) gather(l planned.Level, i planned.Implementation, t *record.TrialData, sizes map[string]measured.Sizes) (*facts, error) {
	f, err := measured.Read(&r.decoder, l, i, t, sizes)
	if err != nil {
		return nil, err
	}
	return &facts{Facts: f, rules: r.rules, references: r.references}, nil
}

// judge runs all checks, and gives the cell with what they said.
func (f *facts) judge() Cell {
	m := f.Trial.Manifest
	c := Cell{Trial: m.Name, Block: m.Block, Attempt: m.Attempt, Raw: f.RawKey(), Validity: Valid, Values: f.Values}
	c.ThroughputIsDiluted, c.PauseMicros = f.Duet(), f.Caveats().Pause.Microseconds()
	for _, check := range checks {
		for _, r := range check(f) {
			c.mark(r)
			if r.Code == GeneratorLimited || r.Code == GeneratorThrottled && r.Value > throttledVoid {
				c.ThroughputIsBound = true
			}
			if r.Code == GeneratorThrottled || r.Code == GeneratorBusy && f.ServerUtilisation() < generatorLimited {
				c.ThroughputIsDiluted = true
			}
		}
	}
	return c
}

// mark adds a reason to a cell and lowers its validity.
func (c *Cell) mark(r Reason) {
	c.Reasons = append(c.Reasons, r)
	if r.Weight == Void || c.Validity == Valid {
		c.Validity = r.Weight
	}
}

// has reports whether a cell has a reason of a kind.
func (c *Cell) has(code Code) bool {
	return slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Code == code })
}

// Step is one rate that was tried. Its Validity differs from that of a level, since a step is meant to miss in the end: one
// that missed is void by causes outside the implementation only, and never suspect.
type Step struct {
	Step int32 `json:"step"`
	// Rate is the arrival rate in requests/s; Met says whether the bound was met, and Why why not: untrusted.
	Rate     int32    `json:"requestsPerSecond"`
	Met      bool     `json:"met"`
	Why      string   `json:"why,omitempty"`
	Validity Validity `json:"validity"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Pinned   bool     `json:"pinned"`
	// GeneratorLimited is true if a generator was busy and the server was not: a miss is then the generator's.
	GeneratorLimited bool `json:"generatorLimited,omitempty"`
}

// hindrances make a load harder to bear and never easier: a bound that was met in spite of them was met.
var hindrances = []Code{NoisyNeighbours, Steal, Throttled}

// step returns what a step is worth. Of one that missed, what the implementation itself did is the outcome and no reason to doubt it.
func (f *facts) step(c Cell, s search.Step) Step {
	out := Step{
		Step: f.Level.Step, Rate: s.Rate, Met: s.Met, Why: s.Why, Validity: Valid, Pinned: c.Pinning.Pinned,
		GeneratorLimited: f.Busiest() >= generatorBusy && f.ServerUtilisation() < generatorLimited,
	}
	var judged Cell
	for _, r := range c.Reasons {
		own := slices.Contains(implementationCodes, r.Code) || r.Code == RateMissed
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

// Step reads and judges one step of a search, for which each trial stands alone. Wrong is true if the server met the bound by wrong
// answers.
func (r *Reader) Step(l planned.Level, i planned.Implementation, t *record.TrialData, s search.Step) (step Step, wrong bool, err error) {
	f, err := r.gather(l, i, t, nil)
	if err != nil {
		return Step{}, false, err
	}
	c := f.judge()
	return f.step(c, s), s.Met && c.ImplementationFailure(), nil
}
