package server

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/history"
	"loadstone.dev/loadstone/internal/suite/rounds"
	"loadstone.dev/loadstone/internal/ui"
)

// mostRemembered bounds the reports with cached values, a few kilobytes each.
const mostRemembered = 4000

type reports struct {
	stored    stored
	values    *rounds.Reports[history.Values]
	seen      *rounds.Reports[compare.Seen]
	histories readings[ui.Course]
	noises    readings[[]ui.AARun]
}

func newReports(ctx context.Context, from stored, turns chan struct{}, told func()) *reports {
	return &reports{
		stored: from, values: rounds.NewReports[history.Values](turns, mostRemembered), seen: rounds.NewReports[compare.Seen](turns, mostRemembered),
		histories: readings[ui.Course]{ctx: ctx, told: told, gaps: func(c ui.Course) bool { return len(c.History.Gaps) > 0 }},
		noises: readings[[]ui.AARun]{ctx: ctx, told: told, gaps: func(runs []ui.AARun) bool {
			return slices.ContainsFunc(runs, func(r ui.AARun) bool { return r.Nothing != "" })
		}},
	}
}

func (r *reports) forget(there []v1alpha1.BenchmarkSuite) {
	r.histories.forget(func(uid types.UID) bool {
		return slices.ContainsFunc(there, func(s v1alpha1.BenchmarkSuite) bool { return s.UID == uid })
	})
}

func (r *reports) history(ctx context.Context, of *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) ui.Course {
	measured := suite.MeasuredBy(of, runs)
	c, there, err := r.histories.of(ctx, of.UID, fmt.Sprint(measured, suite.MinimumEffect(of)), func(ctx context.Context) (ui.Course, error) {
		store, done, err := r.stored.Open(ctx, runs)
		if err != nil {
			return ui.Course{}, err
		}
		defer done()
		h, err := rounds.HistoryBy(ctx, r.values, store, of, measured)
		if err != nil {
			return ui.Course{}, fmt.Errorf("the history of BenchmarkSuite %s/%s: %w", of.Namespace, of.Name, err)
		}
		return ui.Course{History: h}.Kept(), nil
	})
	c.Reading, c.Err = !there, err
	return c
}

// everybody is the key of noise, which covers all visible runs.
const everybody types.UID = "everybody"

func (r *reports) noise(ctx context.Context, runs []v1alpha1.BenchmarkRun) ui.AASeries {
	if runs = ui.AARuns(runs); len(runs) == 0 {
		return ui.AASeries{}
	}
	measured := make([]suite.Measured, len(runs))
	for i := range runs {
		measured[i].Run = runs[i].Namespace + "/" + runs[i].Name
		if file := reportOf(&runs[i]); file != "" {
			measured[i].Prefix = download.PrefixOf(&runs[i])
			measured[i].Report = measured[i].Prefix + "/" + file
		}
	}
	all, there, err := r.noises.of(ctx, everybody, fmt.Sprint(measured), func(ctx context.Context) ([]ui.AARun, error) {
		store, done, err := r.stored.Open(ctx, runs)
		if err != nil {
			return nil, err
		}
		defer done()
		seen, err := r.seen.Read(ctx, store, measured, func(_ suite.Measured, t analysis.Table) compare.Seen { return compare.Of(t) })
		if err != nil {
			return nil, err
		}
		out := make([]ui.AARun, len(runs))
		for i := range runs {
			out[i] = ui.AARun{Namespace: runs[i].Namespace, Name: runs[i].Name, Seen: seen[i].Value}
			if seen[i].Missing != "" {
				out[i].Nothing = seen[i].Missing
			}
		}
		return out, nil
	})
	return ui.AASeries{Runs: all, Reading: !there, Err: err}
}
