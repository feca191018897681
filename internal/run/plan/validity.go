package plan

import (
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Loosest limits of validity, as shares: a spec can tighten them, and never loosen them.
const (
	// MaxErrorRate: one failed request in a thousand is what services commonly promise at most.
	MaxErrorRate = 0.001
	// MaxNeighbourCPU: above 15 % of its CPU time in other processes, a server is measured together with its neighbours.
	MaxNeighbourCPU = 0.15
	// MaxSteal: beyond 5 % of its CPUs that the hypervisor takes, a server is measured with those of other machines.
	MaxSteal = 0.05
)

// interimBlocks are the blocks after which a run that may end early is looked at, unless they are its last.
var interimBlocks = []int32{10, 20, 30}

// validityOf are the limits of a spec that was checked.
func validityOf(v v1alpha1.Validity) record.Validity {
	return record.Validity{
		MaxErrorRate: shareOr(v.MaxErrorRate, MaxErrorRate), MaxNeighbourCPU: shareOr(v.MaxNeighbourCPU, MaxNeighbourCPU), MaxSteal: shareOr(v.MaxSteal, MaxSteal),
	}
}

// shareOr reads a decimal of a spec that was checked, which may be absent.
func shareOr(text string, absent float64) float64 {
	if share, err := strconv.ParseFloat(text, 64); err == nil {
		return share
	}
	return absent
}

// stop fills in when the run may end.
func (p *Plan) stop(spec v1alpha1.Stop) {
	if spec.IsZero() {
		return
	}
	p.MaxWidth = spec.MaxWidth
	p.Interim = InterimBlocks(p.Blocks)
}

// InterimBlocks are the blocks after which a run of a number of blocks is looked at, if it may end early.
func InterimBlocks(blocks int32) []int32 {
	return slices.DeleteFunc(slices.Clone(interimBlocks), func(block int32) bool { return block >= blocks })
}
