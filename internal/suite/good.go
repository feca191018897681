package suite

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// maxGood is how many good rounds the status remembers: as many as an objective may ask for.
const maxGood = 20

// goodRounds are the newest rounds of the suite's own that have passed, the newest first: those that the status remembers, whose runs may be gone, and
// those of the cluster.
func goodRounds(known []v1alpha1.GoodRound, rounds []*round) []v1alpha1.GoodRound {
	good := slices.Clone(known)
	for _, r := range rounds {
		if runs := r.places(); len(runs) > 0 {
			good = slices.DeleteFunc(good, func(g v1alpha1.GoodRound) bool { return g.Round == r.number })
			good = append(good, v1alpha1.GoodRound{Round: r.number, Runs: runs})
		}
	}
	slices.SortFunc(good, func(a, b v1alpha1.GoodRound) int { return cmp.Compare(b.Round, a.Round) })
	return good[:min(len(good), maxGood)]
}

// passed reports whether all runs of the round have ended well.
func (r *round) passed() bool {
	return r.whole() && !r.measuring() && r.ending().outcome == v1alpha1.RoundPassed
}

// places are where the runs of the round lie in the object store; none unless it has passed, or if it is that of a pull request.
func (r *round) places() []v1alpha1.GoodRun {
	if !r.passed() || r.PullRequest != "" {
		return nil
	}
	var places []v1alpha1.GoodRun
	for _, run := range r.runs {
		if prefix := prefixOf(run.object); prefix != "" {
			places = append(places, v1alpha1.GoodRun{Name: run.record.Run, Prefix: prefix, Report: pageOf(run.object)})
		}
	}
	return places
}

// pageOf is the key of the page of a run's report in the object store; empty if there is none.
func pageOf(run *v1alpha1.BenchmarkRun) string { return notify.KeyOf(run.Status.Report.URI) }

// prefixOf is where a run lies in the object store: beside its report. It is empty if there is none.
func prefixOf(run *v1alpha1.BenchmarkRun) string {
	key := pageOf(run)
	return key[:max(0, strings.LastIndex(key, "/reports/"))]
}

// lastGood are the newest n good rounds that have made a run of a template, and where those runs lie.
func lastGood(good []v1alpha1.GoodRound, template string, n int32) (numbers []int32, prefixes []string) {
	for _, g := range good {
		i := slices.IndexFunc(g.Runs, func(r v1alpha1.GoodRun) bool { return r.Name == template })
		if i < 0 || len(numbers) == int(n) {
			continue
		}
		numbers, prefixes = append(numbers, g.Round), append(prefixes, g.Runs[i].Prefix)
	}
	return numbers, prefixes
}

// against are the numbers of the good rounds that a round of the inputs is compared with, the newest first.
func (in inputs) against(good []v1alpha1.GoodRound) []int32 {
	var all []int32
	for i, spec := range in.specs {
		for _, o := range spec.Objectives {
			numbers, _ := lastGood(good, in.names[i], o.Against.LastGood)
			all = append(all, numbers...)
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Compare(b, a) })
	return slices.Compact(all)
}

// compared is the spec of a run of a round that is compared with some good rounds: it names their runs where the template asks for them. What
// cannot be compared with any stays as it is written, and the plan leaves it out.
func (in inputs) compared(run int, good []v1alpha1.GoodRound) v1alpha1.BenchmarkRunSpec {
	spec := in.specs[run].DeepCopy()
	for i := range spec.Objectives {
		against := &spec.Objectives[i].Against
		if _, prefixes := lastGood(good, in.names[run], against.LastGood); len(prefixes) > 0 {
			against.Runs, against.LastGood = prefixes, 0
		}
	}
	return *spec
}

// uncompared are the names of the runs of a round that ask for good rounds and have found none.
func (r *round) uncompared() []string {
	var names []string
	for _, run := range r.runs {
		asks := func(o v1alpha1.Objective) bool { return o.Against.LastGood > 0 }
		if slices.ContainsFunc(run.object.Spec.Objectives, asks) {
			names = append(names, run.record.Run)
		}
	}
	return names
}
