package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/history"
	"loadstone.dev/loadstone/internal/publish"
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
	return in.History(ctx, &s, runs.Items)
}

// History is the history of a suite, read from the reports of its runs and of the rounds that its status remembers.
func (s *Stored) History(ctx context.Context, of *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) (history.History, error) {
	for i := range runs {
		s.Know(&runs[i])
	}
	h, err := publish.History(ctx, s, of.Name, suite.MeasuredBy(of, runs))
	if err != nil {
		return history.History{}, fmt.Errorf("the history of BenchmarkSuite %s/%s: %w", of.Namespace, of.Name, err)
	}
	return h, nil
}
