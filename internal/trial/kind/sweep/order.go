package sweep

import (
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/search"
)

// inOrder returns the cells in the order of a trial's block: random, and reversed in the next block. All trials of a
// block have the same order. A search moves as a whole, since each step needs those before it.
func inOrder(p record.Plan, line record.PlannedTrial) []record.Cell {
	if !p.Mirrored {
		return p.Cells
	}
	units := map[string][]record.Cell{}
	var names []string
	for _, c := range p.Cells {
		first := record.PointOf(c)
		first.Step = min(first.Step, 1)
		name := first.Name()
		if units[name] == nil {
			names = append(names, name)
		}
		units[name] = append(units[name], c)
	}
	var cells []record.Cell
	for _, name := range kind.Order(p, line.Block, names) {
		cells = append(cells, units[name]...)
	}
	for k, c := range cells {
		if c.Search != nil {
			own := *c.Search
			own.StartRequestsPerSecond = search.Start(own.StartRequestsPerSecond, line.Block)
			cells[k].Search = &own
		}
	}
	return cells
}

// noteOrder notes that levels have no fixed order.
func noteOrder(p *record.Plan) {
	if slices.ContainsFunc(p.Cells[1:], func(c record.Cell) bool { return c.Step <= 1 }) {
		p.Note("each block measures the levels in another order, the same for every implementation; the steps of a search stay together")
	}
}
