package massif

import (
	"cmp"
	"fmt"
	"slices"
)

// Branch is a line of a tree of allocations.
type Branch struct {
	// Node is a place without its callers. For a line that stands for omitted places, only Bytes is set.
	Node
	// Depth is 0 for the allocator's caller, and increases with each caller.
	Depth int
	Share float64
	// Cut counts the omitted places of this line; 0 for a shown place. Full: they may be of any size, since the limit of lines was reached.
	Cut  int
	Full bool
}

// Branches returns a tree's lines, each place above its callers, largest first. Places below a share of the total, and those after a number of
// lines, are omitted; one line stands for each group.
func (n Node) Branches(least float64, most int) []Branch {
	b := &branches{whole: float64(max(n.Bytes, 1)), least: least, most: most}
	b.below(n, 0)
	return b.lines
}

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

func (n Node) places() (count int, small bool) {
	if n.File == "" {
		if _, err := fmt.Sscanf(n.Function, "in %d place", &count); err == nil && count > 0 {
			return count, true
		}
	}
	return 1, false
}
