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

// All are the known kinds. A new one adds a line here.
var All = kind.NewKinds(sweep.Kind{}, microbenchmark.Kind{}, profile.Kind{})

// Asked returns the kind of work of a run's blocks.
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

// asks returns the fields that request kinds of work and how to fill them in, by field.
func asks(all []kind.Kind) (fields, ways []string) {
	for _, k := range slices.SortedFunc(slices.Values(all), func(a, b kind.Kind) int { return cmp.Compare(a.Asks().Field, b.Asks().Field) }) {
		fields, ways = append(fields, k.Asks().Field), append(ways, k.Asks().Way)
	}
	return fields, ways
}

// With returns a kind of work and those that follow it in a run.
func With(work kind.Kind, spec v1alpha1.BenchmarkRunSpec) []kind.Kind {
	all := []kind.Kind{work}
	for _, k := range Following(spec) {
		all = append(all, k)
	}
	return all
}

// Needs returns the programs that a plan's trials start on one machine besides the implementations.
func Needs(p record.Plan) []kind.Need {
	var needs []kind.Need
	for _, k := range inOrder() {
		if slices.ContainsFunc(slices.Concat(p.Trials, p.Following), func(line record.PlannedTrial) bool { return line.Type == k.Type() }) {
			needs = append(needs, k.Needs(p)...)
		}
	}
	return needs
}

// Following returns the kinds of work after the blocks.
func Following(spec v1alpha1.BenchmarkRunSpec) []kind.Follower {
	var asked []kind.Follower
	for _, k := range inOrder() {
		if f, follows := k.(kind.Follower); follows && k.Asked(spec) {
			asked = append(asked, f)
		}
	}
	return asked
}

func inOrder() []kind.Kind {
	var all []kind.Kind
	for _, t := range slices.Sorted(maps.Keys(All)) {
		all = append(all, All[t])
	}
	return all
}

// Field returns the user's name of a trial's item, such as "profiles[memory]"; empty for a trial of a block.
func Field(line record.PlannedTrial) string {
	if f, ok := All[line.Type].(kind.Follower); ok {
		return f.Field(line.Item)
	}
	return ""
}

// Planned returns the work of a line; kind.Unknown for an unknown type.
func Planned(p record.Plan, line record.PlannedTrial) kind.Work {
	k, known := All[line.Type]
	if !known {
		return kind.Unknown{}
	}
	return k.Work(p, line)
}

// Groups returns the trials of a block, given its drawn order of implementations.
func Groups(p record.Plan, work record.WorkType, drawn []string) []kind.Group {
	if grouper, ok := All[work].(kind.Grouper); ok {
		return grouper.Groups(p, drawn)
	}
	return kind.Alone(drawn)
}

// HasCells reports whether work is measured by cells.
func HasCells(work kind.Work) bool {
	var m record.TrialManifest
	work.Describe(&m)
	return m.HasCells()
}
