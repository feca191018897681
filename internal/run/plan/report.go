package plan

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// The most operator memory that a report takes, garbage included, in runs of 1,000 to 4,000 cells with 1 and 4
// generators.
const (
	cellBytes          = 18_500
	generatorCellBytes = 7_500
	// idleBytes is the operator's memory without a report.
	idleBytes = 60 << 20
)

// Reportable reports why an operator with this memory cannot make a run's report, which needs the whole run; nil if
// it can, or if memory is 0 (no limit). It assumes that all allowed blocks are repeated.
func Reportable(p Plan, memory int64) *Violation {
	planned := 0
	for _, line := range p.Trials {
		planned += len(p.Slots(line))
	}
	blocks := p.Blocks + RepeatBlocks(p.Blocks)
	trials, cells := len(p.Trials)*int(blocks)/int(p.Blocks), planned*int(blocks)/int(p.Blocks)
	earlier := earlierRuns(p)
	// Earlier runs are read as a whole, too. Their repeats are unknown here and not counted.
	needed := int64(cells+earlier*planned)*(cellBytes+generatorCellBytes*int64(p.Generators.Pods)) + idleBytes
	if needed <= memory || memory == 0 {
		return nil
	}
	beside, fewer := "", ""
	if earlier > 0 {
		beside, fewer = fmt.Sprintf(", beside %d earlier runs of %d cells each", earlier, planned), "compare with fewer earlier runs, "
	}
	return &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
		"the report of %d trials of %d cells altogether, repeat blocks among them%s, takes about %s of the operator's memory, which has %s: "+
			"%slower spec.blocks, or spread levels and implementations over several runs, or raise the operator's memory (chart values operator.goMemoryLimit and operator.resources)",
		trials, cells, beside, mebibytes(needed), mebibytes(memory), fewer,
	)}
}

func earlierRuns(p Plan) int {
	named := map[string]bool{}
	for _, o := range p.Objectives {
		if o.Against == nil {
			continue
		}
		for _, run := range o.Against.Runs {
			named[run] = true
		}
	}
	return len(named)
}
