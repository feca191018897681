package suite

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// maxGood is how many good rounds the status keeps: the most that an objective may request.
const maxGood = 20

// goodRounds returns the suite's own passed rounds, newest first: from the status, whose runs may be gone, and from
// the cluster.
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

func (r *round) passed() bool {
	return r.whole() && !r.measuring() && r.ending().outcome == v1alpha1.RoundPassed
}

// places returns where the round's runs are stored; none if it has not passed or is a pull request's.
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

// pageOf returns the key of a run's report page; empty if there is none.
func pageOf(run *v1alpha1.BenchmarkRun) string { return notify.KeyOf(run.Status.Report.URI) }

// prefixOf returns where a run is stored; empty if it has no report.
func prefixOf(run *v1alpha1.BenchmarkRun) string {
	key := pageOf(run)
	return key[:max(0, strings.LastIndex(key, "/reports/"))]
}

// lastGood returns the newest n good rounds with a run of the template, and where these runs are stored.
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

// against returns the good rounds that a round is compared with, newest first.
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

// compared returns a run's spec that names the good rounds' runs where the template asks for them. A comparison
// without any stays as written; the plan leaves it out.
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

// uncompared returns the runs that ask for good rounds and found none.
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
