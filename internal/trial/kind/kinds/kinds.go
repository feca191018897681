// Package kinds lists the kinds of work that a trial can do.
package kinds

import (
	"cmp"
	"fmt"
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

// Item is the name of the item of a run's spec for which a trial was laid out that follows the blocks; empty of any other trial.
func Item(spec v1alpha1.TrialSpec) string {
	if f, ok := All[record.WorkType(spec.Type)].(kind.Follower); ok {
		return f.Item(spec)
	}
	return ""
}

// Field is what people know the item by for which a trial was laid out, such as "profiles[memory]"; empty of a trial of a block.
func Field(line record.PlannedTrial) string {
	if f, ok := All[line.Type].(kind.Follower); ok {
		return f.Field(line.Item)
	}
	return ""
}

// Planned is the work of a line of a plan.
func Planned(p record.Plan, line record.PlannedTrial) kind.Work {
	return All[line.Type].Read(Write("", p, line))
}

// Groups are the trials of a block of a kind of work, whose implementations come in the order that was drawn for the block.
func Groups(p record.Plan, work record.WorkType, drawn []string) []kind.Group {
	if grouper, ok := All[work].(kind.Grouper); ok {
		return grouper.Groups(p, drawn)
	}
	return kind.Alone(drawn)
}

// Write is a line of a plan as the spec of an object, held until its step of the workflow comes.
func Write(run string, p record.Plan, line record.PlannedTrial) v1alpha1.TrialSpec {
	spec := All[line.Type].Write(p, line)
	spec.RunName, spec.Index, spec.Block, spec.Type, spec.Start = run, &line.Index, line.Block, v1alpha1.TrialType(line.Type), v1alpha1.StartHeld
	for _, name := range line.Servers {
		spec.Servers = append(spec.Servers, kind.WriteImplementation(p.Implementation(name)))
	}
	spec.Placement = v1alpha1.Placement{
		Pinning: v1alpha1.Strictness(p.Placement.Pinning), GeneratorPinning: v1alpha1.Strictness(p.Placement.GeneratorPinning),
		SeparateNodes: v1alpha1.Strictness(p.Placement.SeparateNodes),
	}
	return spec
}

// Of is the work that the spec of a Trial asks for. The API admits no type that is not known here, so that one which is not was written by
// another version: it is an error, beside which the work is kind.Unknown.
func Of(spec v1alpha1.TrialSpec) (kind.Work, error) {
	k, ok := All[record.WorkType(spec.Type)]
	if !ok {
		return kind.Unknown{}, fmt.Errorf("reading the spec of a trial: no kind of work is called %q: another version of the operator made it: delete the run, or install that version", spec.Type)
	}
	return k.Read(spec), nil
}

// HasCells reports whether the trial that a spec asks for is measured cell by cell, as its kind describes it in the trial's manifest; false of a kind
// that is not known here.
func HasCells(spec v1alpha1.TrialSpec) bool {
	work, _ := Of(spec) // Unknown work describes nothing.
	var m record.TrialManifest
	work.Describe(&m)
	return m.HasCells()
}
