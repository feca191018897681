package plan

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// What a report takes of the operator's memory at most, its garbage included, as runs of 1,000 to 4,000 cells have shown that 1 and 4 generators loaded.
const (
	cellBytes          = 18_500
	generatorCellBytes = 7_500
	// idleBytes is what the operator takes without a report.
	idleBytes = 60 << 20
)

// Reportable says whether an operator that has so much memory can make the report of a run, which it does from the whole of it; nil if it can, or if nothing
// bounds its memory, which is 0 then. A machine that is never quiet has all blocks repeated that may be.
func Reportable(p Plan, memory int64) *Violation {
	planned := 0
	for _, line := range p.Trials {
		planned += len(p.Slots(line))
	}
	blocks := p.Blocks + RepeatBlocks(p.Blocks)
	trials, cells := len(p.Trials)*int(blocks)/int(p.Blocks), planned*int(blocks)/int(p.Blocks)
	earlier := earlierRuns(p)
	// Those that it is compared with are read as a whole, too. How many of their blocks were repeated nobody knows here: none, as on a quiet machine.
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

// earlierRuns counts the runs that objectives of a plan compare it with.
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
