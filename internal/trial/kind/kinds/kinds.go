// Package kinds lists the kinds of work that a trial can do.
package kinds

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/kind/profile"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// All are the known kinds. A new one is a line here.
var All = kind.NewKinds(sweep.Kind{}, microbenchmark.Kind{}, profile.Kind{})

// Asked is the kind of work that the blocks of a run do, as its spec asks for it.
func Asked(spec v1alpha1.BenchmarkRunSpec) (kind.Kind, *kind.Violation) {
	var known, asked []kind.Kind
	for _, k := range inOrder() {
		if _, follows := k.(kind.Follower); follows {
			continue
		}
		known = append(known, k)
		if k.Asked(spec) {
			asked = append(asked, k)
		}
	}
	switch len(asked) {
	case 0:
		fields, ways := asks(known)
		return nil, kind.Invalid("%s are empty: %s", strings.Join(fields, " and "), strings.Join(ways, ", or "))
	case 1:
		return asked[0], nil
	}
	fields, _ := asks(asked)
	return nil, kind.Invalid("%s are given together, but the blocks of a run do one kind of work: make a run of each", strings.Join(fields, " and "))
}

// asks are the fields by which people ask for kinds of work, and how they fill them in, in the order of the fields.
func asks(all []kind.Kind) (fields, ways []string) {
	for _, k := range slices.SortedFunc(slices.Values(all), func(a, b kind.Kind) int { return cmp.Compare(a.Asks().Field, b.Asks().Field) }) {
		fields, ways = append(fields, k.Asks().Field), append(ways, k.Asks().Way)
	}
	return fields, ways
}

// With are a kind of work and those that follow it in a run.
func With(work kind.Kind, spec v1alpha1.BenchmarkRunSpec) []kind.Kind {
	all := []kind.Kind{work}
	for _, k := range Following(spec) {
		all = append(all, k)
	}
	return all
}

// Needs are the programs that the trials of a plan start on one machine beside the implementations.
func Needs(p record.Plan) []kind.Need {
	var needs []kind.Need
	for _, k := range inOrder() {
		if slices.ContainsFunc(slices.Concat(p.Trials, p.Following), func(line record.PlannedTrial) bool { return line.Type == k.Type() }) {
			needs = append(needs, k.Needs(p)...)
		}
	}
	return needs
}

// Following are the kinds of work that the spec of a run asks for when its blocks have been measured.
func Following(spec v1alpha1.BenchmarkRunSpec) []kind.Follower {
	var asked []kind.Follower
	for _, k := range inOrder() {
		if f, follows := k.(kind.Follower); follows && k.Asked(spec) {
			asked = append(asked, f)
		}
	}
	return asked
}

// inOrder are all kinds, in the order of their names.
func inOrder() []kind.Kind {
	var all []kind.Kind
	for _, t := range slices.Sorted(maps.Keys(All)) {
		all = append(all, All[t])
	}
	return all
}

// Field is what people know the item by for which a trial was laid out, such as "profiles[memory]"; empty of a trial of a block.
func Field(line record.PlannedTrial) string {
	if f, ok := All[line.Type].(kind.Follower); ok {
		return f.Field(line.Item)
	}
	return ""
}

// Planned is the work of a line of a plan; kind.Unknown if no kind is known here by its type.
func Planned(p record.Plan, line record.PlannedTrial) kind.Work {
	k, known := All[line.Type]
	if !known {
		return kind.Unknown{}
	}
	return k.Work(p, line)
}

// Groups are the trials of a block of a kind of work, whose implementations come in the order that was drawn for the block.
func Groups(p record.Plan, work record.WorkType, drawn []string) []kind.Group {
	if grouper, ok := All[work].(kind.Grouper); ok {
		return grouper.Groups(p, drawn)
	}
	return kind.Alone(drawn)
}

// HasCells reports whether work is measured cell by cell, as its kind describes it in a trial's manifest.
func HasCells(work kind.Work) bool {
	var m record.TrialManifest
	work.Describe(&m)
	return m.HasCells()
}
