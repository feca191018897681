package plan

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// The operator memory for a report: measured with 1,000 and 10,000 cells and one generator. The part of each further
// generator is estimated from the size of its records.
const (
	cellBytes          = 5_500
	generatorCellBytes = 9_000
	// idleBytes is the operator's memory without a report.
	idleBytes = 60 << 20
	// leastBytes is what the report of a run with a few cells takes.
	leastBytes = 32 << 20
)

// ReportMemory is the share of the operator's memory that its reports may take, in bytes; 0 without a limit, as for Reportable.
func ReportMemory(memory int64) int64 {
	if memory == 0 || memory == math.MaxInt64 {
		return 0
	}
	return max(memory-idleBytes, leastBytes)
}

// Stored is the size of an earlier run, as its manifest has it: its measured cells, and its generators per cell.
type Stored struct{ Cells, Generators int }

// StoredOf returns the size of a stored run.
func StoredOf(m record.RunManifest) Stored {
	s := Stored{Generators: int(m.Plan.Generators.Pods)}
	for _, entries := range [][]record.TrialEntry{m.Trials, m.Following} {
		for _, e := range entries {
			if _, known := kinds.All[e.Type]; known && e.Manifest != nil {
				s.Cells += len(Plan{Plan: m.Plan}.Slots(e.PlannedTrial))
			}
		}
	}
	return s
}

func (s Stored) bytes() int64 {
	return int64(s.Cells) * (cellBytes + generatorCellBytes*int64(s.Generators))
}

// Reportable reports why an operator with this memory cannot make a run's report; nil if it can, or if memory is 0 (no
// limit). A report needs the whole run and all earlier runs of its objectives. All allowed blocks are assumed to be
// repeated.
func Reportable(p Plan, earlier []Stored, memory int64) *Violation {
	planned := 0
	for _, line := range p.Trials {
		planned += len(p.Slots(line))
	}
	blocks := p.Blocks + RepeatBlocks(p.Blocks)
	trials, cells := len(p.Trials)*int(blocks)/int(p.Blocks), planned*int(blocks)/int(p.Blocks)
	needed := Stored{cells, int(p.Generators.Pods)}.bytes() + idleBytes
	stored := 0
	for _, run := range earlier {
		needed += run.bytes()
		stored += run.Cells
	}
	if needed <= memory || memory == 0 {
		return nil
	}
	beside, fewer := "", ""
	if len(earlier) > 0 {
		beside, fewer = fmt.Sprintf(", and of %d earlier runs of %d cells altogether", len(earlier), stored), "compare with fewer or smaller earlier runs, "
	}
	return &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
		"the report of %d trials of %d cells altogether, repeat blocks among them%s, takes about %s of the operator's memory, which has %s: "+
			"%slower spec.blocks, or spread levels and implementations over several runs, or raise the operator's memory (chart values operator.goMemoryLimit and operator.resources)",
		trials, cells, beside, mebibytes(needed), mebibytes(memory), fewer,
	)}
}
