package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sync"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/history"
)

// History reads the history of a suite from the reports of its rounds, one after the other: a report may be large, and the values of all rounds are
// small. An error is one of the store, which may answer when it is asked again.
func History(ctx context.Context, store artifact.Runs, name string, measured []suite.Measured) (history.History, error) {
	return HistoryBy(ctx, NewReports[history.Values](make(chan struct{}, 1), 0), store, name, measured)
}

// HistoryBy is History, whose reports are read as a Reports does.
func HistoryBy(ctx context.Context, reports *Reports[history.Values], store artifact.Runs, name string, measured []suite.Measured) (history.History, error) {
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
	return history.Of(name, values, gaps), nil
}

// Extract is what was taken from a report; Missing is why there is no report, and empty if there is one.
type Extract[T any] struct {
	Value   T
	Missing string
}

// Reports read reports, take something small from each, and remember it: a report that is stored never changes, and one that is made again lies
// elsewhere. They can be used by several at the same time.
type Reports[T any] struct {
	// turns are those of reports that are read at the same time, by all who share them: a report may be large.
	turns chan struct{}
	// most is how many are remembered, the newest.
	most int

	mu    sync.Mutex
	known map[string]T
	order []string
}

// NewReports are Reports that remember nothing yet. turns has room for as many reports as may be read at the same time.
func NewReports[T any](turns chan struct{}, most int) *Reports[T] {
	return &Reports[T]{turns: turns, most: most, known: map[string]T{}}
}

// Holder is a store that knows whether a key belongs to a run that is there. Of other runs nothing that is remembered is used: the store says each time
// whether whoever asks may have it.
type Holder interface{ Hold(key string) bool }

// Read returns what it takes from the reports of some runs, in their order. A round of 0 is none. Its error is one of the store, which may answer when it is asked again.
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

// nameOf names a run in errors.
func nameOf(m suite.Measured) string {
	if m.Round == 0 {
		return m.Run
	}
	return fmt.Sprintf("%s of round %d", m.Run, m.Round)
}

// one is what it takes from one report.
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

// remember keeps what was taken from a report. What was made from records has no key, and may be made from others the next time.
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

// tableOf reads what a run has found, or says why it cannot be known: from its report, or, where only its place is remembered, from its records.
func tableOf(ctx context.Context, store artifact.Runs, m suite.Measured) (table analysis.Table, why string, err error) {
	if m.Prefix == "" {
		return table, "it ended without a report", nil
	}
	if m.Report == "" {
		made, err := publish.Make(ctx, store, m.Prefix)
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
		why = "its report is no JSON of this version"
	}
	return table, why, nil
}
