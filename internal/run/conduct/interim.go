package conduct

import (
	"slices"

	"loadstone.dev/loadstone/internal/run/plan"
)

// Interim is what a run knows of its interim analyses, which ask whether the intervals are narrow enough for it to end early.
type Interim struct {
	// MaxWidth is how wide an interval may be; empty for a run that measures all of its blocks.
	MaxWidth string
	// After is the last block after which an interim analysis was made; 0 before the first.
	After int32
	// Stopped is the block after which the run ended early; 0 if it did not.
	Stopped int32
}

// Made is the knowledge after an interim analysis.
func (i Interim) Made(block int32, narrow bool) Interim {
	i.After = block
	if narrow {
		i.Stopped = block
	}
	return i
}

// awaited reports whether a block of so many planned ones may not begin before an interim analysis is made.
func (i Interim) awaited(block, planned int32) bool {
	if i.MaxWidth == "" {
		return false
	}
	return slices.ContainsFunc(plan.InterimBlocks(planned), func(after int32) bool { return block > after && i.After < after })
}

// interimDue is the block after which the interim analysis has to be made now; 0 if there is none. After the last block is the report.
func (r Run) interimDue() int32 {
	if r.Interim.MaxWidth == "" || r.Interim.Stopped > 0 {
		return 0
	}
	for _, look := range plan.InterimBlocks(r.Plan.Blocks) {
		if look <= r.Interim.After {
			continue
		}
		for i := range r.Trials {
			if t := &r.Trials[i]; t.Block <= look && !t.ended() {
				return 0
			}
		}
		return look
	}
	return 0
}
