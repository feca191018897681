package protocol

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// Bounds of what agents store, in bytes.
const (
	// MaxFile bounds each file, as the volume of an agent does. Tools that log each request write the largest ones.
	MaxFile = 1 << 30
	// MaxResult bounds each result.json, which the operator reads into memory. The largest ones have the cases of a program, whose output has
	// at most 8 MiB.
	MaxResult = 32 << 20
	// maxTrial bounds all files of an attempt at a trial, and maxRun those of a run whose trials need one attempt each.
	maxTrial = 4 << 30
	maxRun   = 256 << 30
	// leastResult is what every result.json may have, and cellResult more for each cell. A cell takes about 4 KiB, and each of the up to 32
	// steps of a search as much again. secondResult per second is twice of what the samples of an observer take.
	leastResult  = 1 << 20
	cellResult   = 256 << 10
	secondResult = 2 << 10
)

// Budget bounds what the members of one attempt at a trial may store, in bytes: each file, each result.json, and all files.
type Budget struct{ File, Result, Total int64 }

// BudgetOf returns the budget of a trial with some cells that take a time. program is true for a trial without cells, which measures a
// program or profiles. trials is how many the run has.
func BudgetOf(cells int, takes time.Duration, program bool, trials int) Budget {
	b := Budget{File: MaxFile, Result: MaxResult, Total: min(maxTrial, maxRun/int64(max(1, trials)))}
	if !program {
		b.Result = min(MaxResult, leastResult+int64(cells)*cellResult+int64(takes/time.Second)*secondResult)
	}
	return b
}

// Refuse says why files of the members of a trial are not stored; nil if they are within the budget.
func (b Budget) Refuse(states ...State) error {
	var total int64
	for _, s := range states {
		for _, f := range s.Files {
			most, fix := b.File, "let the tool, script or program log less, or measure for a shorter time"
			if f.Name == record.ResultFile {
				most, fix = b.Result, "measure fewer levels or cases per run"
			}
			if f.Bytes > most {
				return fmt.Errorf("file %s of %s has %d bytes, the limit is %d: %s", f.Name, s.Member, f.Bytes, most, fix)
			}
			if total += f.Bytes; total > b.Total {
				return fmt.Errorf("the files of the trial, up to %s of %s, have %d bytes, the limit for each trial of this run is %d: split the run", f.Name, s.Member, total, b.Total)
			}
		}
	}
	return nil
}
