package publish

import (
	"context"
	"errors"
	"fmt"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// Act is what a Task makes of a run.
type Act string

const (
	// ActInterim compares interval widths after some blocks.
	ActInterim Act = "interim"
	// ActScan finds disturbed blocks.
	ActScan Act = "scan"
	// ActReport makes and stores the report.
	ActReport Act = "report"
)

// Task is work that reads a whole run, so that it may need much memory. It can be sent to another process as JSON.
type Task struct {
	Act    Act    `json:"act"`
	Prefix string `json:"prefix"`
	// Manifest is the run's manifest so far, for an interim analysis or a scan. It need not be stored.
	Manifest *record.RunManifest `json:"manifest,omitempty"`
	// MaxWidth is the width below which an interim analysis is Narrow.
	MaxWidth float64 `json:"maxWidth,omitempty"`
	// SHA256 is the digest of the stored manifest, for a report.
	SHA256 string `json:"sha256,omitempty"`
}

// Result is what a Task found or made.
type Result struct {
	// Narrow and Disturbed are of an interim analysis and a scan.
	Narrow    bool    `json:"narrow,omitempty"`
	Disturbed []int32 `json:"disturbed,omitempty"`
	// Page and Verdict are of a stored report.
	Page    record.Artifact `json:"page"`
	Verdict conduct.Verdict `json:"verdict"`
}

// Do does a task. Its errors are an ErrReport, or the store's.
func Do(ctx context.Context, store artifact.Objects, t Task) (r Result, err error) {
	if t.Act == ActReport {
		made, err := Report(ctx, store, t.Prefix, t.SHA256)
		return Result{Page: made.Page, Verdict: made.Verdict}, err
	}
	if t.Manifest == nil {
		return r, fmt.Errorf("%w: the task %q has no manifest", ErrReport, t.Act)
	}
	data, unread := store.LoadTrials(ctx, t.Prefix, *t.Manifest)
	if unread != nil && (t.Act == ActScan || !artifact.Unreadable(unread)) {
		return r, unread
	}
	table, err := guarded(analysis.Spend, data)
	if err := errors.Join(unread, err); err != nil {
		return r, err
	}
	return Result{Narrow: t.Act == ActInterim && table.NarrowerThan(t.MaxWidth), Disturbed: table.DisturbedBlocks()}, nil
}

// Answer is a Result, or an error, for another process.
type Answer struct {
	Result Result `json:"result"`
	// Failed is the error's text; empty without an error. Kinds are the errors of this package and of package artifact that it
	// wraps, as indexes that are valid in the same version.
	Failed string `json:"failed,omitempty"`
	Kinds  []int  `json:"kinds,omitempty"`
}

func kinds() []error { return append([]error{ErrReport}, artifact.Errors()...) }

// AnswerOf makes an Answer.
func AnswerOf(r Result, err error) Answer {
	a := Answer{Result: r}
	if err == nil {
		return a
	}
	a.Failed = err.Error()
	for i, kind := range kinds() {
		if errors.Is(err, kind) {
			a.Kinds = append(a.Kinds, i)
		}
	}
	return a
}

// Outcome returns what AnswerOf was given: the error has the same text and wraps the same errors.
func (a Answer) Outcome() (Result, error) {
	if a.Failed == "" {
		return a.Result, nil
	}
	all, err := kinds(), told{text: a.Failed}
	for _, i := range a.Kinds {
		if i >= 0 && i < len(all) {
			err.kinds = append(err.kinds, all[i])
		}
	}
	return Result{}, err
}

type told struct {
	text  string
	kinds []error
}

// Error implements error.
func (t told) Error() string { return t.text }

// Unwrap returns the errors that it is.
func (t told) Unwrap() []error { return t.kinds }
