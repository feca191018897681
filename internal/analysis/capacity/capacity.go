package capacity

import (
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/search"
)

// Capacity is the highest arrival rate at which one implementation met the bound of one load's search, over all blocks.
type Capacity struct {
	Load           string      `json:"load"`
	Implementation string      `json:"implementation"`
	Role           record.Role `json:"role"`
	// Connections is the number of virtual users that the search could use.
	Connections int32 `json:"connections"`
	// Percentile of the latency from the intended start had to be at most MaxMilliseconds.
	Percentile      int32 `json:"percentile"`
	MaxMilliseconds int32 `json:"maxMilliseconds"`
	// Rate describes the trials that gave a number, in requests/s: the mean is the geometric one, and Low and High are of Student's t
	// on the logs, known from three trials on. Nil if no trial gave a number.
	Rate *inference.Summary `json:"requestsPerSecond,omitempty"`
	// IsBound is true if the number of some trial is only a lower bound.
	IsBound bool `json:"isLowerBound"`
	// Found, BelowStart, NotReached and NotTried count how the searches ended, Unusable those that steps without worth leave without a
	// number, Missing the trials without a record.
	Found      int `json:"found"`
	BelowStart int `json:"belowStart"`
	NotReached int `json:"notReached"`
	NotTried   int `json:"notTried"`
	Unusable   int `json:"unusable"`
	Missing    int `json:"missing"`
	// ImplementationFailures counts the trials without a number because of an implementation failure: those that it failed, those in which
	// it sustained no rate, and those in which it answered wrongly.
	ImplementationFailures int `json:"implementationFailures"`
	// Findings say why steps do not count, and what they are marked for.
	Findings []validity.Finding `json:"findings"`
	Trials   []Trial            `json:"trials"`
	// ToBaseline compares with the baseline, block by block; nil for the baseline itself and for references.
	ToBaseline *verdict.Result `json:"toBaseline,omitempty"`
}

// Bound is why the number of a search is only a lower bound.
type Bound string

const (
	// NotReached means that no rate was missed.
	NotReached Bound = "NotReached"
	// GeneratorLimited means that a generator was busy at the lowest rate missed, and the server was not: the search found the limit of
	// the generator.
	GeneratorLimited Bound = "GeneratorLimited"
	// Disturbed means that the lowest rate missed was missed by a step that is void by causes outside the implementation.
	Disturbed Bound = "Disturbed"
)

// Trial is one search.
type Trial struct {
	Trial  string        `json:"trial"`
	Block  int32         `json:"block"`
	Result search.Result `json:"result"`
	// Highest and Lowest are the highest rate sustained and the lowest missed.
	Highest search.Tried `json:"highest"`
	Lowest  search.Tried `json:"lowest"`
	// Rate is Highest in requests/s where it counts; nil where the search gave no number.
	Rate *float64 `json:"requestsPerSecond,omitempty"`
	// Bound is why Rate is only a lower bound; empty if it is not.
	Bound Bound `json:"bound,omitempty"`
	// Unusable is true if the sustained rates rest on void steps; ImplementationFailure if there is no number because of an implementation
	// failure.
	Unusable              bool            `json:"unusable,omitempty"`
	ImplementationFailure bool            `json:"implementationFailure,omitempty"`
	Steps                 []validity.Step `json:"steps"`
}

// Point is where the capacity was looked for: its load, without a rate.
func (c Capacity) Point() record.Point { return record.Point{Load: c.Load, Connections: c.Connections} }

// Read looks at every search of every implementation. Failures are the trials that each implementation itself failed.
func Read(r *validity.Reader, p planned.Run, failures map[string]int) ([]Capacity, error) {
	out := []Capacity{}
	for _, l := range p.Searches {
		for _, i := range p.Implementations {
			c := Capacity{
				Load: l.Load, Implementation: i.Name, Role: i.Role, Connections: l.Connections,
				Percentile: l.Percentile, MaxMilliseconds: l.MaxMilliseconds, ImplementationFailures: failures[i.Name], Trials: []Trial{},
			}
			var cells []validity.Cell
			for _, t := range r.Trials(i.Name) {
				trial, steps, err := searchIn(r, l, i, t)
				if err != nil {
					return nil, err
				}
				c.Trials, cells = append(c.Trials, trial), append(cells, steps...)
			}
			c.Missing = max(int(p.Blocks)-len(c.Trials), 0)
			c.summarise(cells)
			out = append(out, c)
		}
	}
	return out, nil
}
