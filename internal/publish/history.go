package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/history"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite"
)

// History reads the history of a suite from the reports of its rounds, one after the other: a report may be large, and the values of all rounds are
// small. An error is one of the store, which may answer when it is asked again.
func History(ctx context.Context, store Store, name string, measured []suite.Measured) (history.History, error) {
	var values []history.Values
	var gaps []history.Gap
	for _, m := range measured {
		table, why, err := tableOf(ctx, store, m)
		switch {
		case err != nil:
			return history.History{}, fmt.Errorf("reading %s of round %d: %w", m.Run, m.Round, err)
		case why != "":
			gaps = append(gaps, history.Gap{Round: m.Round, Run: m.Run, Reason: why})
		default:
			values = append(values, history.Report{Round: m.Round, Run: m.Run, Table: table}.Values())
		}
	}
	return history.Of(name, values, gaps), nil
}

// tableOf reads what a run has found, or says why it cannot be known: from its report, or, where only its place is remembered, from its records.
func tableOf(ctx context.Context, store Store, m suite.Measured) (table analysis.Table, why string, err error) {
	if m.Prefix == "" {
		return table, "it ended without a report", nil
	}
	if m.Report == "" {
		made, err := Make(ctx, store, m.Prefix)
		if artifact.Unreadable(err) || errors.Is(err, ErrReport) {
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
