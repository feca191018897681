package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

// Cell is one level of one load in one trial.
type Cell struct {
	Trial    string   `json:"trial"`
	Block    int32    `json:"block"`
	Attempt  int32    `json:"attempt"`
	Raw      string   `json:"raw,omitempty"`
	Validity Validity `json:"validity"`
	Reasons  []Reason `json:"reasons,omitempty"`
	// PauseMicros is how far the tool's pauses can move a percentile of latencies from intended starts.
	PauseMicros int64 `json:"-"`
	// Noise and Slack are of an admitted cell: the codes that made it void, and the log of the largest change of its
	// values that they explain.
	Noise []Code  `json:"-"`
	Slack float64 `json:"-"`
	taken float64
	measured.Values
}

type facts struct {
	*measured.Facts
	rules      rules
	references map[string]*measured.Reference
}

func (r *Reader) gather(l planned.Level, i planned.Implementation, t *record.TrialData, sizes map[string]measured.Sizes) (*facts, error) {
	f, err := measured.Read(&r.decoder, l, i, t, sizes)
	if err != nil {
		return nil, err
	}
	return &facts{Facts: f, rules: r.rules, references: r.references}, nil
}

func (f *facts) judge() Cell {
	m := f.Trial.Manifest
	c := Cell{Trial: m.Name, Block: m.Block, Attempt: m.Attempt, Raw: f.RawKey(), Validity: Valid, Values: f.Values}
	c.ThroughputIsDiluted, c.PauseMicros = f.Duet(), f.Caveats().Pause.Microseconds()
	c.taken = f.Taken()
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

func (c *Cell) mark(r Reason) {
	c.Reasons = append(c.Reasons, r)
	if r.Weight == Void || c.Validity == Valid {
		c.Validity = r.Weight
	}
}

func (c *Cell) has(code Code) bool {
	return slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Code == code })
}

// Step is one tried rate. It is meant to miss in the end, so a missed one is void only by outside causes, and never
// suspect.
type Step struct {
	Step int32 `json:"step"`
	// Why is untrusted text.
	Rate     int32    `json:"requestsPerSecond"`
	Met      bool     `json:"met"`
	Why      string   `json:"why,omitempty"`
	Validity Validity `json:"validity"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Pinned   bool     `json:"pinned"`
	// GeneratorLimited: only a generator was busy, so a miss is the generator's.
	GeneratorLimited bool `json:"generatorLimited,omitempty"`
}

// Hindrances only make a load harder: a bound met in spite of them was met.
var Hindrances = []Code{NoisyNeighbours, Steal, Throttled}

// OnlyNoisy reports whether nothing but others' use of the CPUs voids the cell.
func (c Cell) OnlyNoisy() bool {
	return c.Validity == Void && !slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Weight == Void && !slices.Contains(Hindrances, r.Code) })
}

// Admit makes a cell count that noise alone voids, and widens the values of each cell by its noise.
func (c *Cell) Admit() {
	if c.Slack = c.taken; !c.OnlyNoisy() {
		return
	}
	c.Validity = Suspect
	for _, r := range c.Reasons {
		if r.Weight == Void {
			c.Noise = append(c.Noise, r.Code)
		}
	}
}

// step: for a miss, what the implementation did is the outcome, no reason for doubt.
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
		if s.Met && slices.Contains(Hindrances, r.Code) {
			r.Weight = Suspect
		}
		judged.Validity = cmp.Or(judged.Validity, Valid)
		judged.mark(r)
	}
	out.Validity, out.Reasons = cmp.Or(judged.Validity, Valid), judged.Reasons
	return out
}

// Step judges one step by itself. Wrong: the server met the bound with wrong answers.
func (r *Reader) Step(l planned.Level, i planned.Implementation, t *record.TrialData, s search.Step) (step Step, wrong bool, err error) {
	f, err := r.gather(l, i, t, nil)
	if err != nil {
		return Step{}, false, err
	}
	c := f.judge()
	f.Latencies.Release()
	return f.step(c, s), s.Met && c.ImplementationFailure(), nil
}
