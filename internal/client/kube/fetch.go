package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

// FetchReport saves a run's report below a folder, and returns the path of its page.
func FetchReport(ctx context.Context, k *Flags, key client.ObjectKey, dir string, again bool) (string, error) {
	in, err := k.Stored(ctx)
	if err != nil {
		return "", err
	}
	defer in.Close()
	r, err := Run(ctx, in.Client, key)
	if err != nil {
		return "", err
	}
	in.Know(r)
	var files []report.File
	if again {
		files, err = remake(ctx, in, r)
	} else {
		files, err = fetch(ctx, in, r)
	}
	if err != nil {
		return "", err
	}
	return write(filepath.Join(dir, r.Namespace, r.Name), files)
}

// write saves files and returns the first one's path. It removes other forms, which belong to another report.
func write(folder string, files []report.File) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("creating the report folder: %w", err)
	}
	for _, name := range report.FileNames() {
		if slices.ContainsFunc(files, func(f report.File) bool { return f.Name == name }) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("removing a file of an older report: %w", err)
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(folder, f.Name), f.Body, 0o644); err != nil {
			return "", fmt.Errorf("writing the report: %w", err)
		}
	}
	first, err := filepath.Abs(filepath.Join(folder, files[0].Name))
	if err != nil {
		return "", fmt.Errorf("naming the report: %w", err)
	}
	return first, nil
}

type getter interface {
	Get(ctx context.Context, key, sha256 string) ([]byte, error)
}

// fetch reads a run's report files, the page first, as named in the status. An older version's report may have fewer.
func fetch(ctx context.Context, store getter, r *v1alpha1.BenchmarkRun) ([]report.File, error) {
	ref := r.Status.Report
	_, key, ok := strings.Cut(strings.TrimPrefix(ref.URI, "s3://"), "/")
	if !ok && r.Status.CompletionTime != nil {
		return nil, fmt.Errorf("BenchmarkRun %s ended without a report: for the reason, run kubectl get benchmarkruns.loadstone.dev %s --namespace %s", r.Name, r.Name, r.Namespace)
	}
	if !ok {
		return nil, fmt.Errorf("BenchmarkRun %s has no report yet: wait with kubectl wait --namespace %s --for=condition=Reported benchmarkrun/%s", r.Name, r.Namespace, r.Name)
	}
	names := report.FileNames()
	page, err := store.Get(ctx, key, ref.SHA256)
	if err != nil {
		return nil, err
	}
	out := []report.File{{Name: names[0], Body: page}}
	for _, name := range names[1:] {
		body, err := store.Get(ctx, path.Join(path.Dir(key), name), "")
		if errors.Is(err, artifact.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, report.File{Name: name, Body: body})
	}
	return out, nil
}

func remake(ctx context.Context, store artifact.Runs, r *v1alpha1.BenchmarkRun) ([]report.File, error) {
	prefix := download.PrefixOf(r)
	o, err := publish.Make(ctx, store, prefix, r.Status.Report.ManifestSHA256)
	if err != nil {
		return nil, fmt.Errorf("rebuilding the report of %s: %w", prefix, err)
	}
	return o.Files, nil
}
