package massif

import (
	"cmp"
	"fmt"
	"slices"
)

// Branch is a line of a tree of allocations.
type Branch struct {
	// Node is a place, without those below it. Of a line that stands for places that are left out it holds their bytes alone.
	Node
	// Depth is 0 for what called the allocator, and one more with each caller.
	Depth int
	// Share is the share of the whole tree.
	Share float64
	// Cut is the number of places that are left out; 0 for a place that is shown. Full is true where they may be of any size, since the tree has
	// lines enough.
	Cut  int
	Full bool
}

// Branches are the lines of a tree, each place above those that led there, the largest first. Places below a share of the whole are left out, and
// those that come after so many lines; a line stands for each group of them.
func (n Node) Branches(least float64, most int) []Branch {
	b := &branches{whole: float64(max(n.Bytes, 1)), least: least, most: most}
	b.below(n, 0)
	return b.lines
}

// branches collects the lines of a tree.
type branches struct {
	whole, least float64
	most         int
	lines        []Branch
}

func (b *branches) below(n Node, depth int) {
	var cut Branch
	callers := slices.Clone(n.Callers)
	slices.SortStableFunc(callers, func(x, y Node) int { return cmp.Compare(y.Bytes, x.Bytes) })
	for _, c := range callers {
		places, small := c.places()
		full := len(b.lines) >= b.most
		if small || full || float64(c.Bytes) < b.least*b.whole {
			cut.Cut, cut.Bytes, cut.Full = cut.Cut+places, cut.Bytes+c.Bytes, cut.Full || full && !small
			continue
		}
		line := Branch{Node: c, Depth: depth, Share: float64(c.Bytes) / b.whole}
		line.Callers = nil
		b.lines = append(b.lines, line)
		b.below(c, depth+1)
	}
	if cut.Bytes > 0 {
		cut.Depth, cut.Share = depth, float64(cut.Bytes)/b.whole
		b.lines = append(b.lines, cut)
	}
}

// places is how many places a node stands for: massif puts those together that are too small for it.
func (n Node) places() (count int, small bool) {
	if n.File == "" {
		if _, err := fmt.Sscanf(n.Function, "in %d place", &count); err == nil && count > 0 {
			return count, true
		}
	}
	return 1, false
}
