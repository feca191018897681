package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sync"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/history"
)

// History reads a suite's history from its reports, one at a time, since a report may be large. Errors are the
// store's, and may be temporary.
func History(ctx context.Context, store artifact.Runs, of *v1alpha1.BenchmarkSuite, measured []suite.Measured) (history.History, error) {
	return HistoryBy(ctx, NewReports[history.Values](make(chan struct{}, 1), 0), store, of, measured)
}

// HistoryBy is History with the cache and limits of a Reports.
func HistoryBy(ctx context.Context, reports *Reports[history.Values], store artifact.Runs, of *v1alpha1.BenchmarkSuite, measured []suite.Measured) (history.History, error) {
	all, err := reports.Read(ctx, store, measured, func(m suite.Measured, t analysis.Table) history.Values {
		return history.Report{Round: m.Round, Run: m.Run, Table: t}.Values()
	})
	if err != nil {
		return history.History{}, err
	}
	var values []history.Values
	var gaps []history.Gap
	for i, m := range measured {
		if all[i].Missing != "" {
			gaps = append(gaps, history.Gap{Round: m.Round, Run: m.Run, Reason: all[i].Missing})
		} else {
			values = append(values, all[i].Value)
		}
	}
	return history.Of(of.Name, suite.MinimumEffect(of), values, gaps), nil
}

// Extract is a part of a report; Missing says why there is none.
type Extract[T any] struct {
	Value   T
	Missing string
}

// Reports reads reports and caches a small part of each: a stored report never changes. It is safe for concurrent
// use.
type Reports[T any] struct {
	// turns limits the reports read at the same time, across all users.
	turns chan struct{}
	most  int

	mu    sync.Mutex
	known map[string]T
	order []string
}

// NewReports returns an empty cache. The capacity of turns limits concurrent reads.
func NewReports[T any](turns chan struct{}, most int) *Reports[T] {
	return &Reports[T]{turns: turns, most: most, known: map[string]T{}}
}

// Holder is a store that knows whether a key belongs to an existing run. For other runs the cache is not used, so the
// store decides on each access.
type Holder interface{ Hold(key string) bool }

// Read returns what take extracts from the reports, in order. A round of 0 means none. Errors are the store's, and
// may be temporary.
func (r *Reports[T]) Read(ctx context.Context, store artifact.Runs, measured []suite.Measured, take func(suite.Measured, analysis.Table) T) ([]Extract[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make([]Extract[T], len(measured))
	next := make(chan int)
	var readers sync.WaitGroup
	var first sync.Once
	var failure error
	for range min(cap(r.turns), len(measured)) {
		readers.Go(func() {
			for i := range next {
				var err error
				if out[i], err = r.one(ctx, store, measured[i], take); err != nil {
					first.Do(func() { failure = fmt.Errorf("reading %s: %w", nameOf(measured[i]), err) })
					cancel()
				}
			}
		})
	}
	for i := range measured {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	readers.Wait()
	if failure == nil && ctx.Err() != nil {
		failure = fmt.Errorf("reading reports: %w", ctx.Err())
	}
	return out, failure
}

func nameOf(m suite.Measured) string {
	if m.Round == 0 {
		return m.Run
	}
	return fmt.Sprintf("%s of round %d", m.Run, m.Round)
}

func (r *Reports[T]) one(ctx context.Context, store artifact.Runs, m suite.Measured, take func(suite.Measured, analysis.Table) T) (Extract[T], error) {
	holder, some := store.(Holder)
	if !some || holder.Hold(m.Report) {
		if v, ok := r.remembered(m.Report); ok {
			return Extract[T]{Value: v}, nil
		}
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Extract[T]{}, ctx.Err()
	}
	table, why, err := tableOf(ctx, store, m)
	if err != nil || why != "" {
		return Extract[T]{Missing: why}, err
	}
	v := take(m, table)
	r.remember(m.Report, v)
	return Extract[T]{Value: v}, nil
}

func (r *Reports[T]) remembered(key string) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.known[key]
	return v, ok
}

// remember caches a part of a report. Results made from records have no key and may change.
func (r *Reports[T]) remember(key string, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.known[key]; key == "" || known || r.most == 0 {
		return
	}
	if len(r.order) == r.most {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[key], r.order = v, append(r.order, key)
}

// tableOf reads a run's table from its report or, if only its prefix is known, from its records; or says why it is
// unknown.
func tableOf(ctx context.Context, store artifact.Runs, m suite.Measured) (table analysis.Table, why string, err error) {
	if m.Prefix == "" {
		return table, "it ended without a report", nil
	}
	if m.Report == "" {
		made, err := publish.Make(ctx, store, m.Prefix, m.ManifestSHA256)
		if artifact.Unreadable(err) || errors.Is(err, publish.ErrReport) {
			return table, err.Error(), nil
		}
		return made.Table, "", err
	}
	body, err := store.Get(ctx, path.Join(path.Dir(m.Report), report.FileNames()[1]), "")
	if artifact.Unreadable(err) {
		return table, err.Error(), nil
	}
	if err != nil {
		return table, "", err
	}
	if json.Unmarshal(body, &table) != nil {
		why = "its report is not JSON of this version"
	}
	return table, why, nil
}
