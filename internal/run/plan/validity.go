package plan

import (
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// The loosest limits of validity, as shares; a spec can only tighten them.
const (
	// MaxErrorRate: services commonly promise at most one failed request in a thousand.
	MaxErrorRate = 0.001
	// MaxNeighbourCPU: above 15 % of CPU time in other processes, a server is measured with its neighbours.
	MaxNeighbourCPU = 0.15
	// MaxSteal: above 5 % of stolen CPU time, a server is measured with other machines' servers.
	MaxSteal = 0.05
)

// interimBlocks are the blocks after which a run may end early, unless they are its last.
var interimBlocks = []int32{10, 20, 30}

func validityOf(v v1alpha1.Validity) record.Validity {
	return record.Validity{
		MaxErrorRate: shareOr(v.MaxErrorRate, MaxErrorRate), MaxNeighbourCPU: shareOr(v.MaxNeighbourCPU, MaxNeighbourCPU), MaxSteal: shareOr(v.MaxSteal, MaxSteal),
	}
}

func shareOr(text string, absent float64) float64 {
	if share, err := strconv.ParseFloat(text, 64); err == nil {
		return share
	}
	return absent
}

func (p *Plan) stop(spec v1alpha1.Stop) {
	if spec.IsZero() {
		return
	}
	p.MaxWidth = spec.MaxWidth
	p.Interim = InterimBlocks(p.Blocks)
}

// InterimBlocks returns the blocks with an interim analysis, if the run may end early.
func InterimBlocks(blocks int32) []int32 {
	return slices.DeleteFunc(slices.Clone(interimBlocks), func(block int32) bool { return block >= blocks })
}
