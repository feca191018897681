package search

import (
	"loadstone.dev/loadstone/internal/record"
)

// Steps are the steps of a search as a generator recorded them. One that was not measured has missed its bound, with the reason.
func Steps(s record.Search, runs []record.CellRun) []Step {
	steps := make([]Step, 0, len(runs))
	for _, r := range runs {
		step := Step{Rate: r.Rate, Why: r.Error}
		if r.Error == "" && r.Measurement != nil {
			step.Met, step.Why = Met(*r.Measurement, s)
		}
		steps = append(steps, step)
	}
	return steps
}

// Rates finds the rates of steps while a trial runs.
type Rates struct{}

// Rate is the rate of a cell that is a step of a search, from what its earlier steps measured; false when the search is over.
func (Rates) Rate(cell record.Cell, past []record.CellRun) (rate int32, more bool) {
	if cell.Search == nil {
		return 0, false
	}
	rate, done := Next(*cell.Search, Steps(*cell.Search, past))
	return rate, !done
}
