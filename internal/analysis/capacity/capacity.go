package capacity

import (
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/search"
)

// Capacity is the highest rate at which an implementation met a search's bound, over all blocks.
type Capacity struct {
	Load           string      `json:"load"`
	Implementation string      `json:"implementation"`
	Role           record.Role `json:"role"`
	Connections    int32       `json:"connections"`
	// Percentile of the latency from the intended start had to be at most MaxMilliseconds.
	Percentile      int32 `json:"percentile"`
	MaxMilliseconds int32 `json:"maxMilliseconds"`
	// Rate is in requests/s: a geometric mean, with Student's t on the logs from three trials on; nil without numbers.
	// The interval includes the gap between rates met and missed.
	Rate *inference.Summary `json:"requestsPerSecond,omitempty"`
	// IsBound: some number is only a lower bound.
	IsBound bool `json:"isLowerBound"`
	// These count how searches ended. Unusable ones have no number because of void steps, Missing ones no record.
	Found      int `json:"found"`
	BelowStart int `json:"belowStart"`
	NotReached int `json:"notReached"`
	NotTried   int `json:"notTried"`
	Unusable   int `json:"unusable"`
	Missing    int `json:"missing"`
	// ImplementationFailures counts trials without a number by the implementation's fault: failed, no rate sustained,
	// or wrong answers.
	ImplementationFailures int                `json:"implementationFailures"`
	Findings               []validity.Finding `json:"findings"`
	Trials                 []Trial            `json:"trials"`
	// ToBaseline is nil for the baseline and for references.
	ToBaseline *verdict.Result `json:"toBaseline,omitempty"`
}

// Bound is why a number is only a lower bound.
type Bound string

const (
	// NotReached: no rate was missed, or none beyond doubt.
	NotReached Bound = "NotReached"
	// GeneratorLimited: at the lowest missed rate only a generator was busy.
	GeneratorLimited Bound = "GeneratorLimited"
	// Disturbed: outside causes void the lowest missed step.
	Disturbed Bound = "Disturbed"
)

// Trial is the result of one search in one trial. Rates are in requests per second.
type Trial struct {
	Trial   string        `json:"trial"`
	Block   int32         `json:"block"`
	Result  search.Result `json:"result"`
	Highest search.Tried  `json:"highest"`
	Lowest  search.Tried  `json:"lowest"`
	// Rate is the capacity by all steps, between Highest and Lowest; Highest if it is a lower bound; nil without a
	// number.
	Rate  *float64 `json:"requestsPerSecond,omitempty"`
	Bound Bound    `json:"bound,omitempty"`
	// Unusable: the sustained rates rest on void steps. ImplementationFailure: the implementation's fault left no
	// number.
	Unusable              bool            `json:"unusable,omitempty"`
	ImplementationFailure bool            `json:"implementationFailure,omitempty"`
	Steps                 []validity.Step `json:"steps"`
}

// Point names the search: a load at a number of connections, without a rate.
func (c Capacity) Point() record.Point { return record.Point{Load: c.Load, Connections: c.Connections} }

// Missed returns the highest rate, in requests/s, that a search without any sustained rate missed last; 0 if none did.
func (c Capacity) Missed() float64 {
	most := 0.0
	for _, t := range c.Trials {
		if t.Result == search.BelowStart && !t.Unusable {
			most = max(most, float64(t.Lowest.Rate))
		}
	}
	return most
}

// Read evaluates all searches. Failures counts the trials that each implementation failed.
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
