package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/hack/bench/figures"
)

// comparison is a figure to be: a quantity of the cells over, by that of the cells under, if there are any.
type comparison struct {
	name        string
	over, under []cell
	of          quantity
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

// ratio compares two cells by the mean of all blocks.
func ratio(name string, over, under cell, of quantity, aim figures.Aim) comparison {
	return comparison{name: name, over: []cell{over}, under: []cell{under}, of: of, unit: "ratio", aim: aim}
}

// spread compares how much a quantity grows from one cell to another with how much it does of a peer.
func spread(name string, from, to, peerFrom, peerTo cell, of quantity, aim figures.Aim) comparison {
	return comparison{name: name, over: []cell{to, peerFrom}, under: []cell{from, peerTo}, of: of, unit: "ratio", aim: aim}
}

// value is a quantity as it is.
func value(name string, of cell, q quantity, unit string, take take, aim figures.Aim) comparison {
	return comparison{name: name, over: []cell{of}, of: q, unit: unit, take: take, aim: aim}
}

// group is what is measured in one go; it is the first word of the name.
func (c comparison) group() string {
	group, _, _ := strings.Cut(c.name, "-")
	return group
}

func (c comparison) cells() []cell { return slices.Concat(c.over, c.under) }

// place is where a cell was measured: a cell of two groups is measured twice.
type place struct {
	Group string `json:"group"`
	cell
}

// figure derives a comparison's figure from all that was measured.
func (c comparison) figure(r recording) figures.Figure {
	f := figures.Figure{Name: c.name, Unit: c.unit, Aim: c.aim}
	for _, cell := range c.cells() {
		if why, failed := r.failures[place{c.group(), cell}]; failed {
			f.Missing = why
			return f
		}
	}
	values, busy := c.values(r)
	planned := r.Blocks
	if slices.ContainsFunc(c.cells(), cell.once) {
		planned = 1
	}
	notes := []string{fmt.Sprintf("n=%d", len(values))}
	if len(values) < planned {
		notes[0] += fmt.Sprintf(" of %d", planned)
	}
	switch {
	case len(values) == 0:
		f.Missing = "no block has all of its cells"
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
	if len(busy) > 0 {
		notes = append(notes, fmt.Sprintf("NOT QUIET: others used up to %.2f CPUs in %d of them", slices.Max(busy), len(busy)))
	}
	f.Note = strings.Join(notes, ", ")
	return f
}

// values are those of each block that has all cells, and how many CPUs others used in those that were not quiet.
func (c comparison) values(r recording) (values, busy []float64) {
	for block := 1; block <= r.Blocks; block++ {
		v, others, complete := 1.0, 0.0, true
		for i, cell := range c.cells() {
			e, ok := r.entries[spot{place{c.group(), cell}, block}]
			if !ok {
				complete = false
				break
			}
			others = max(others, e.StrangersCPUs, e.StealCPUs)
			if q := c.of(e.Measured); i < len(c.over) {
				v *= q
			} else {
				v /= q
			}
		}
		// What is judged by its mean has a log.
		if !complete || math.IsNaN(v) || math.IsInf(v, 0) || c.take == theMean && v <= 0 {
			continue
		}
		values = append(values, v)
		if others > quietLimit {
			busy = append(busy, others)
		}
	}
	return values, busy
}
