package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// set are cells of a group that are measured one right after the other.
type set struct {
	group, name string
	cells       []cell
}

// sets are those of a group that some comparisons need, in their order.
func sets(list []comparison, group string) []set {
	var all []set
	for _, c := range list {
		if c.group() != group {
			continue
		}
		for _, cell := range c.cells() {
			i := slices.IndexFunc(all, func(s set) bool { return s.name == cell.set() })
			if i < 0 {
				i = len(all)
				all = append(all, set{group: group, name: cell.set()})
			}
			if !slices.Contains(all[i].cells, cell) {
				all[i].cells = append(all[i].cells, cell)
			}
		}
	}
	return all
}

// job is a set to be measured in a block, for the first time or once more.
type job struct {
	set
	block, attempt int
}

// jobs are those of a group: block by block, the sets of each and their cells in random order. What is measured only once is in the
// first block.
func jobs(list []comparison, group string, blocks int, random *rand.Rand) []job {
	var all []job
	for block := 1; block <= blocks; block++ {
		due := sets(list, group)
		random.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
		for _, s := range due {
			if block > 1 && s.cells[0].once() {
				continue
			}
			random.Shuffle(len(s.cells), func(i, j int) { s.cells[i], s.cells[j] = s.cells[j], s.cells[i] })
			all = append(all, job{s, block, 1})
		}
	}
	return all
}

// needed are the cells of a job that some comparison still needs.
func (j job) needed(list []comparison) []cell {
	return slices.DeleteFunc(slices.Clone(j.cells), func(c cell) bool {
		return !slices.ContainsFunc(list, func(of comparison) bool { return of.group() == j.group && slices.Contains(of.cells(), c) })
	})
}

// reckon is about how long jobs take.
func reckon(all []job) (d time.Duration) {
	for _, j := range all {
		for _, c := range j.cells {
			d += c.takes()
		}
	}
	return d
}

// without drops the comparisons that need a cell of a group.
func without(list []comparison, p place) []comparison {
	return slices.DeleteFunc(slices.Clone(list), func(c comparison) bool {
		return c.group() == p.Group && slices.Contains(c.cells(), p.cell)
	})
}
