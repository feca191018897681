package main

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/hack/figures"
)

// comparison is a figure to be: the product of the values over, by that of the values under, block by block. All are of one run.
type comparison struct {
	name        string
	over, under []source
	unit        string
	take        take
	aim         figures.Aim
}

// take says how one number is made of those of all blocks.
type take int

const (
	theMean take = iota
	theLowest
	theHighest
)

func (c comparison) run() string { return c.over[0].run }

// generatorsLimit is why a throughput says nothing of servers. It is what was found out, and no failure to measure.
const generatorsLimit = "the load generator was at its limit in each cell of one side at least, so that throughput says nothing of the servers"

// figure derives a comparison's figure from the results of its run.
func (c comparison) figure(r *results) figures.Figure {
	f := figures.Figure{Name: c.name, Unit: c.unit, Aim: c.aim, Missing: r.missing}
	if f.Missing != "" {
		return f
	}
	values := c.values(r)
	notes := []string{fmt.Sprintf("n=%d", len(values))}
	if planned := int(r.head.Blocks); len(values) < planned {
		notes[0] += fmt.Sprintf(" of %d", planned)
	}
	switch {
	case len(values) == 0 && strings.Contains(c.name, "throughput") && slices.ContainsFunc(slices.Concat(c.over, c.under), func(s source) bool { return s.bound(r) }):
		f.Missing = generatorsLimit
		return f
	case len(values) == 0:
		f.Missing = "no block has all of its values"
		return f
	case c.take == theMean:
		i, err := figures.Geometric(values)
		if err != nil {
			f.Missing = err.Error()
			return f
		}
		f.Value, f.Interval = i.Mean, i
		notes = append(notes, i.String())
	case c.take == theLowest:
		f.Value = slices.Min(values)
	case c.take == theHighest:
		f.Value = slices.Max(values)
	}
	if c.take != theMean && len(values) > 1 {
		notes = append(notes, fmt.Sprintf("%.4g to %.4g", slices.Min(values), slices.Max(values)))
	}
	f.Note = strings.Join(notes, ", ")
	return f
}

// values are those of each block that has all parts, in the order of the blocks.
func (c comparison) values(r *results) []float64 {
	var parts []map[int32]float64
	for _, s := range slices.Concat(c.over, c.under) {
		parts = append(parts, s.values(r))
	}
	var out []float64
	last := r.head.Blocks + r.head.RepeatBlocks
	for block := int32(1); block <= last; block++ {
		product, complete := 1.0, true
		for i, part := range parts {
			v, ok := part[block]
			complete = complete && ok && (v > 0 || c.take != theMean)
			if i < len(c.over) {
				product *= v
			} else {
				product /= v
			}
		}
		if complete {
			out = append(out, product)
		}
	}
	return out
}
