package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/history"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite"
)

// SuiteHistory is the history of a suite of the context's namespace, read from the reports of its rounds.
func SuiteHistory(ctx context.Context, k *Flags, name string) (history.History, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return history.History{}, err
	}
	in, err := k.Stored(ctx)
	if err != nil {
		return history.History{}, err
	}
	defer in.Close()
	var s v1alpha1.BenchmarkSuite
	err = in.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &s)
	if apierrors.IsNotFound(err) {
		return history.History{}, invalid(fmt.Errorf("there is no BenchmarkSuite %s/%s: loadstone suite list shows those that there are", namespace, name))
	}
	if err != nil {
		return history.History{}, fmt.Errorf("reading BenchmarkSuite %s/%s: %w", namespace, name, discover.Explain("", err))
	}
	var runs v1alpha1.BenchmarkRunList
	if err := in.Client.List(ctx, &runs, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(s.UID)}); err != nil {
		return history.History{}, fmt.Errorf("listing the runs of BenchmarkSuite %s/%s: %w", namespace, name, discover.Explain("", err))
	}
	for i := range runs.Items {
		in.Know(&runs.Items[i])
	}
	var reports []history.Report
	var gaps []history.Gap
	for _, m := range suite.MeasuredBy(&s, runs.Items) {
		table, why, err := tableOf(ctx, in, m)
		switch {
		case err != nil:
			return history.History{}, fmt.Errorf("reading round %d of BenchmarkSuite %s/%s: %w", m.Round, namespace, name, err)
		case why != "":
			gaps = append(gaps, history.Gap{Round: m.Round, Run: m.Run, Reason: why})
		default:
			reports = append(reports, history.Report{Round: m.Round, Run: m.Run, Table: table})
		}
	}
	return history.Of(name, reports, gaps), nil
}

// tableOf reads what a run has found, or says why it cannot be known: from its report, or, where only its place is remembered, from its records. An
// error is one of the store, which may answer when it is asked again.
func tableOf(ctx context.Context, store publish.Store, m suite.Measured) (table analysis.Table, why string, err error) {
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
