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
// bounds its memory, which is 0 then. What repeat blocks add is left to the room that the figures leave.
func Reportable(p Plan, memory int64) *Violation {
	cells := 0
	for _, line := range p.Trials {
		cells += len(p.Slots(line))
	}
	needed := int64(cells)*(cellBytes+generatorCellBytes*int64(p.Generators.Pods)) + idleBytes
	if needed <= memory || memory == 0 {
		return nil
	}
	return &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
		"the report of %d trials of %d cells altogether takes about %s of the operator's memory, which has %s: "+
			"lower spec.blocks, or spread levels and implementations over several runs, or raise the operator's memory (chart values operator.goMemoryLimit and operator.resources)",
		len(p.Trials), cells, mebibytes(needed), mebibytes(memory),
	)}
}
