package callgrind

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Graph is a tree of stacks.
type Graph struct {
	// Unit is the counted event, such as "Ir" or "samples".
	Unit string `json:"unit"`
	// Root is the program. Its callees are functions without callers in the profile.
	Root Frame `json:"root"`
	// Note limits the stacks' reliability; empty if they were observed.
	Note string `json:"note,omitempty"`
}

// Frame is a function on a stack.
type Frame struct {
	Name   string `json:"name"`
	Object string `json:"object,omitempty"`
	// Cost includes callees on this stack.
	Cost    int64   `json:"cost"`
	Callees []Frame `json:"callees,omitempty"`
}

// Self is the cost of the function's own code on this stack, and of callees too small to draw.
func (f Frame) Self() int64 {
	self := f.Cost
	for _, c := range f.Callees {
		self -= c.Cost
	}
	return max(self, 0)
}

const (
	maxDepth = 96
	// leastShare is the share of the total below which a function is not drawn.
	leastShare = 1.0 / 2000
	maxFrames  = 5000
)

// noteCalls says what a call graph cannot tell about stacks.
const noteCalls = "The stacks are computed from a call graph: what a function costs is divided among its callers in proportion to the cost of their " +
	"calls, and calls that lead back to a function on the stack are left out. Callgrind does not record whole stacks."

// OfCalls computes approximate stacks from a call graph; see the graph's note.
func OfCalls(p Profile, event int) Graph {
	total := p.Total.At(event)
	g := Graph{Root: Frame{Name: "all", Cost: total}, Note: noteCalls}
	if event < len(p.Events) {
		g.Unit = p.Events[event]
	}
	b := newBuilder(p, event, total)
	roots := b.roots()
	var sum float64
	for _, r := range roots {
		sum += float64(p.Functions[r].Inclusive.At(event))
	}
	scale := min(1, float64(total)/max(sum, 1))
	for _, r := range roots {
		cost := scale * float64(p.Functions[r].Inclusive.At(event))
		if cost >= b.least {
			g.Root.Callees = append(g.Root.Callees, b.frame(r, cost, 1))
		}
	}
	return g
}

type builder struct {
	profile Profile
	event   int
	least   float64
	calls   [][]Call
	on      []bool
	drawn   int
}

func newBuilder(p Profile, event int, total int64) *builder {
	b := &builder{profile: p, event: event, least: max(leastShare*float64(total), 1), calls: make([][]Call, len(p.Functions)), on: make([]bool, len(p.Functions))}
	for _, c := range p.Calls {
		if c.From != c.To {
			b.calls[c.From] = append(b.calls[c.From], c)
		}
	}
	for _, calls := range b.calls {
		slices.SortStableFunc(calls, func(x, y Call) int {
			return cmp.Or(cmp.Compare(y.Inclusive.At(event), x.Inclusive.At(event)), strings.Compare(p.Functions[x.To].Name, p.Functions[y.To].Name))
		})
	}
	return b
}

// roots are functions without callers, most costly first.
func (b *builder) roots() []int {
	called := make([]bool, len(b.profile.Functions))
	for _, calls := range b.calls {
		for _, c := range calls {
			called[c.To] = true
		}
	}
	var roots []int
	for i := range b.profile.Functions {
		if !called[i] {
			roots = append(roots, i)
		}
	}
	slices.SortStableFunc(roots, func(x, y int) int {
		return cmp.Compare(b.profile.Functions[y].Inclusive.At(b.event), b.profile.Functions[x].Inclusive.At(b.event))
	})
	return roots
}

func (b *builder) frame(function int, cost float64, depth int) Frame {
	f := b.profile.Functions[function]
	out := Frame{Name: f.Name, Object: f.Object, Cost: int64(math.Round(cost))}
	b.drawn++
	b.on[function] = true
	defer func() { b.on[function] = false }()
	whole := float64(f.Self.At(b.event))
	for _, c := range b.calls[function] {
		if !b.on[c.To] {
			whole += float64(c.Inclusive.At(b.event))
		}
	}
	if whole == 0 || depth == maxDepth {
		return out
	}
	for _, c := range b.calls[function] {
		share := cost * float64(c.Inclusive.At(b.event)) / whole
		if share >= b.least && !b.on[c.To] && b.drawn < maxFrames {
			out.Callees = append(out.Callees, b.frame(c.To, share, depth+1))
		}
	}
	return out
}
