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
	needed := int64(cells)*(cellBytes+generatorCellBytes*int64(p.Generators.Pods)) + idleBytes
	if needed <= memory || memory == 0 {
		return nil
	}
	return &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
		"the report of %d trials of %d cells altogether, repeat blocks among them, takes about %s of the operator's memory, which has %s: "+
			"lower spec.blocks, or spread levels and implementations over several runs, or raise the operator's memory (chart values operator.goMemoryLimit and operator.resources)",
		trials, cells, mebibytes(needed), mebibytes(memory),
	)}
}
