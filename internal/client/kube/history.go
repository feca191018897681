package kube

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/history"
	"loadstone.dev/loadstone/internal/suite/rounds"
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
	s, runs, err := suiteOf(ctx, in.Client, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return history.History{}, err
	}
	return in.History(ctx, s, runs)
}

// History is the history of a suite, read from the reports of its runs and of the rounds that its status remembers.
func (s *Stored) History(ctx context.Context, of *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) (history.History, error) {
	for i := range runs {
		s.Know(&runs[i])
	}
	h, err := rounds.History(ctx, s, of.Name, suite.MeasuredBy(of, runs))
	if err != nil {
		return history.History{}, fmt.Errorf("the history of BenchmarkSuite %s/%s: %w", of.Namespace, of.Name, err)
	}
	return h, nil
}
