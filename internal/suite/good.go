package suite

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// maxGood is how many good rounds the status keeps: the most that an objective may request.
const maxGood = 20

// goodBytes limits the JSON of the good rounds.
const goodBytes = 128 << 10

// goodRounds returns the suite's own passed rounds, newest first: from the status, whose runs may be gone, and from
// the cluster.
func goodRounds(known []v1alpha1.GoodRound, rounds []*round) []v1alpha1.GoodRound {
	// Those of older versions have no digest: nothing can be compared with them.
	good := slices.DeleteFunc(slices.Clone(known), func(g v1alpha1.GoodRound) bool {
		return slices.ContainsFunc(g.Runs, func(r v1alpha1.GoodRun) bool { return r.Run.ManifestSHA256 == "" })
	})
	for _, r := range rounds {
		if runs := r.places(); len(runs) > 0 {
			good = slices.DeleteFunc(good, func(g v1alpha1.GoodRound) bool { return g.Round == r.number })
			good = append(good, v1alpha1.GoodRound{Round: r.number, Runs: runs})
		}
	}
	slices.SortFunc(good, func(a, b v1alpha1.GoodRound) int { return cmp.Compare(b.Round, a.Round) })
	return util.Within(good[:min(len(good), maxGood)], goodBytes)
}

func (r *round) passed() bool {
	return r.whole() && !r.measuring() && r.ending().outcome == v1alpha1.RoundPassed
}

func (r *round) places() []v1alpha1.GoodRun {
	if !r.passed() || r.PullRequest != "" {
		return nil
	}
	var places []v1alpha1.GoodRun
	for _, run := range r.runs {
		if prefix, past := prefixOf(run.object), pastOf(run.object); prefix != "" && past.ManifestSHA256 != "" {
			places = append(places, v1alpha1.GoodRun{Name: run.record.Run, Prefix: prefix, Run: past, Report: pageOf(run.object)})
		}
	}
	return places
}

func pageOf(run *v1alpha1.BenchmarkRun) string { return notify.KeyOf(run.Status.Report.URI) }

func prefixOf(run *v1alpha1.BenchmarkRun) string {
	key := pageOf(run)
	return key[:max(0, strings.LastIndex(key, "/reports/"))]
}

func pastOf(run *v1alpha1.BenchmarkRun) v1alpha1.PastRun {
	return v1alpha1.PastRun{Name: run.Name, UID: string(run.UID), Prefix: run.Spec.Artifacts.Prefix, ManifestSHA256: run.Status.Report.ManifestSHA256}
}

// lastGood returns no rounds if they are too few for a Regression.
func lastGood(good []v1alpha1.GoodRound, template string, n int32) (numbers []int32, runs []v1alpha1.PastRun) {
	for _, g := range good {
		i := slices.IndexFunc(g.Runs, func(r v1alpha1.GoodRun) bool { return r.Name == template })
		if i < 0 || len(numbers) == int(n) {
			continue
		}
		numbers, runs = append(numbers, g.Round), append(runs, g.Runs[i].Run)
	}
	if len(numbers) < objectives.LeastRegressionRuns {
		return nil, nil
	}
	return numbers, runs
}

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
// without enough stays as written; the plan leaves it out.
func (in inputs) compared(run int, good []v1alpha1.GoodRound) v1alpha1.BenchmarkRunSpec {
	spec := in.specs[run].DeepCopy()
	for i := range spec.Objectives {
		against := &spec.Objectives[i].Against
		if _, runs := lastGood(good, in.names[run], against.LastGood); len(runs) > 0 {
			against.Runs, against.LastGood = runs, 0
		}
	}
	return *spec
}

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
