package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/history"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

// Suites lists the suites of the context's namespace, or of all, by name.
func Suites(ctx context.Context, k *Flags, everywhere bool) ([]v1alpha1.BenchmarkSuite, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return nil, err
	}
	if everywhere {
		namespace = ""
	}
	var list v1alpha1.BenchmarkSuiteList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing BenchmarkSuites: %w", Explain("", err))
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.BenchmarkSuite) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

func suiteOf(ctx context.Context, c client.Client, key client.ObjectKey) (*v1alpha1.BenchmarkSuite, []v1alpha1.BenchmarkRun, error) {
	var s v1alpha1.BenchmarkSuite
	err := c.Get(ctx, key, &s)
	if apierrors.IsNotFound(err) {
		return nil, nil, noSuite(key)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading BenchmarkSuite %s: %w", key, Explain("", err))
	}
	var runs v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &runs, client.InNamespace(key.Namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(s.UID)}); err != nil {
		return nil, nil, fmt.Errorf("listing the runs of BenchmarkSuite %s: %w", key, Explain("", err))
	}
	return &s, runs.Items, nil
}

func noSuite(key client.ObjectKey) error {
	return invalid(fmt.Errorf("there is no BenchmarkSuite %s: list all with loadstone suite list --all-namespaces", key))
}

func roundFolder(dir, namespace, suite string) string {
	return filepath.Join(dir, namespace, suite, "round")
}

// ForgetRound removes an earlier round's report, so that it is not taken for the next one's if that never comes.
func ForgetRound(k *Flags, suite, dir string) error {
	namespace, err := k.Namespace()
	if err != nil {
		return err
	}
	for _, name := range []string{report.TestsFile, report.MarkdownFile} {
		if err := os.Remove(filepath.Join(roundFolder(dir, namespace, suite), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return invalid(fmt.Errorf("removing the report of an earlier round: %w", err))
		}
	}
	return nil
}

// FetchRound saves a round's report below a folder, and returns the path of its tests. Round 0 is the latest ended one. If something cannot be
// read now, the report says so and is still written, with an error.
func FetchRound(ctx context.Context, k *Flags, name string, round int32, dir string) (string, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return "", err
	}
	in, err := k.Stored(ctx)
	if err != nil {
		return "", err
	}
	defer in.Close()
	s, runs, err := suiteOf(ctx, in.Client, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return "", err
	}
	line, err := endedRound(s, round)
	if err != nil {
		return "", err
	}
	r := rounds.Of(s, runs, *line)
	var away []error
	for i := range r.Runs {
		in.Know(r.Runs[i].Object)
		if err := read(ctx, in, &r.Runs[i]); err != nil {
			away = append(away, err)
		}
	}
	files, err := r.Files()
	if err != nil {
		return "", err
	}
	tests, err := write(roundFolder(dir, namespace, name), files)
	if err == nil && len(away) > 0 { // One error is enough: the store is unavailable for all.
		err = fmt.Errorf("%s is incomplete: %w", tests, away[0])
	}
	return tests, err
}

// endedRound returns an ended round; 0 is the latest, of a pull request or not.
func endedRound(s *v1alpha1.BenchmarkSuite, round int32) (*v1alpha1.SuiteRound, error) {
	key := client.ObjectKeyFromObject(s)
	lines := slices.DeleteFunc(slices.Clone(s.Status.History), func(l v1alpha1.SuiteRound) bool { return l.Round == s.Status.Current.Round })
	if len(lines) == 0 {
		return nil, invalid(fmt.Errorf("BenchmarkSuite %s has no finished round: start one with loadstone suite run %s", key, s.Name))
	}
	if round == 0 {
		last := slices.MaxFunc(lines, suite.EndedBefore)
		return &last, nil
	}
	if round == s.Status.Current.Round {
		return nil, invalid(fmt.Errorf("%s: the report exists only after its end", standing(s, round)))
	}
	var known []string
	for i := range lines {
		if lines[i].Round == round {
			return &lines[i], nil
		}
		known = append(known, fmt.Sprint(lines[i].Round))
	}
	return nil, invalid(fmt.Errorf("BenchmarkSuite %s has no finished round %d in its history: choose one of %s", key, round, strings.Join(known, ", ")))
}

// read reads a run's report for a pipeline. Missing or bad files are noted; an error is transient.
func read(ctx context.Context, store getter, run *rounds.Run) error {
	page := notify.KeyOf(run.Object.Status.Report.URI)
	if page == "" {
		if run.Lacks = "it ended without a report"; run.Object.Status.CompletionTime == nil {
			run.Lacks = "it has not ended"
		}
		return nil
	}
	var away error
	get := func(name string) []byte {
		body, err := store.Get(ctx, path.Join(path.Dir(page), name), "")
		if err == nil {
			return body
		}
		if run.Lacks = fmt.Sprintf("cannot read %s: %v", name, err); !artifact.Unreadable(err) {
			away = fmt.Errorf("reading %s of BenchmarkRun %s: %w", name, run.Object.Name, err)
		}
		return nil
	}
	run.Page, run.Tests = get(report.MarkdownFile), get(report.TestsFile)
	return away
}

// SuiteHistory reads a suite's history from its rounds' reports. The suite is in the context's namespace.
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

// History reads a suite's history from the reports of its runs and of the rounds in its status.
func (s *Stored) History(ctx context.Context, of *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) (history.History, error) {
	for i := range runs {
		s.Know(&runs[i])
	}
	h, err := rounds.History(ctx, s, of, suite.MeasuredBy(of, runs))
	if err != nil {
		return history.History{}, fmt.Errorf("the history of BenchmarkSuite %s/%s: %w", of.Namespace, of.Name, err)
	}
	return h, nil
}
