package validity

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// warmupTrend and warmupTrials: the first and last third of good cells differ by 5 % in 19 % of them. So it takes
	// 10 %, in the same direction, in four of five trials.
	warmupTrend, warmupTrials = 0.1, 0.8
	// warmupMin is the least number of trials for "most of them".
	warmupMin = 3
	// asymmetry: other processes disturb both sides alike unless their shares differ by more than 3 %.
	asymmetry = 0.03
)

// crossCheck runs the checks that need several cells. They mark and never void, so merged distributions stay as they
// are.
func crossCheck(p planned.Run, groups []Group) {
	for _, l := range p.Levels {
		var peers []*Group
		for k := range groups {
			g := &groups[k]
			if g.Point != l.Point {
				continue
			}
			if l.RampToRequestsPerSecond == 0 {
				checkWarmup(g)
			}
			if g.Role != record.RoleReference {
				peers = append(peers, g)
			}
		}
		checkAsymmetry(peers)
		base := slices.IndexFunc(peers, func(g *Group) bool { return g.Implementation == p.Baseline })
		for k, g := range peers {
			if base >= 0 && k != base {
				checkSides(g, peers[base])
			}
		}
	}
}

// checkWarmup marks a group's cells if most of them keep getting faster, or slower, while measured.
func checkWarmup(g *Group) {
	var known int
	hit := map[bool][]*Cell{}
	for k := range g.Cells {
		trend, ok := g.Cells[k].Observed(measured.Trend)
		if !ok || g.Cells[k].Validity == Void {
			continue
		}
		known++
		if math.Abs(trend) > warmupTrend {
			hit[trend > 0] = append(hit[trend > 0], &g.Cells[k])
		}
	}
	for _, cells := range hit {
		if known < warmupMin || float64(len(cells)) < warmupTrials*float64(known) {
			continue
		}
		for _, c := range cells {
			c.mark(Reason{Code: WarmupNotOver, Weight: Suspect, Scope: ScopeLoad, Value: 1 + c.Observations[measured.Trend], Limit: warmupTrend})
		}
	}
}

// checkAsymmetry compares the noisy neighbours of each block's cells and marks both cells of a pair that differs. It
// skips void cells.
func checkAsymmetry(peers []*Group) {
	for _, g := range peers {
		for k := range g.Cells {
			c := &g.Cells[k]
			own, ok := c.Observed(measured.NeighbourShare)
			if !ok || c.Validity == Void {
				continue
			}
			var largest float64
			for _, other := range peers {
				o := util.First(other.Cells, func(o *Cell) bool { return o.Block == c.Block && o.Validity != Void })
				if o == nil {
					continue
				}
				if share, ok := o.Observed(measured.NeighbourShare); ok {
					largest = max(largest, math.Abs(share-own))
				}
			}
			if largest > asymmetry {
				c.mark(Reason{Code: NeighbourAsymmetry, Weight: Suspect, Scope: ScopeCell, Value: largest, Limit: asymmetry})
			}
		}
	}
}
