package analysis

import "loadstone.dev/loadstone/internal/analysis/verdict"

// NarrowerThan reports whether every comparison is known well enough: each overall interval that decides is at most as wide as a share
// of its ratio, and of enough blocks for a verdict. What the ratios are does not matter.
func (t Table) NarrowerThan(width float64) bool {
	for _, c := range t.Comparisons {
		r := c.Deciding()
		if r.FewestPairs < verdict.MinBlocks || r.Low == nil || r.High == nil || *r.High / *r.Low - 1 > width {
			return false
		}
	}
	return len(t.Comparisons) > 0
}
