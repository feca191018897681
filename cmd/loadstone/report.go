package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
)

const fetchDeadline = 2 * time.Minute

// reportCommand fetches a run's report from the object store, or rebuilds it, and prints the path of the HTML file.
func reportCommand(ctx context.Context, out io.Writer, args []string) error {
	f := flag.NewFlagSet("loadstone report", flag.ContinueOnError)
	namespace := f.String("namespace", "default", "the namespace of the run")
	system := f.String("system-namespace", "loadstone-system", "the namespace of the operator")
	dir := f.String("out", "reports", "the folder to write to")
	again := f.Bool("again", false, "rebuild the report from the manifests with this version")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() != 1 {
		return errors.New(usage)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchDeadline)
	defer cancel()
	in, err := discover.Find(ctx, *system)
	if err != nil {
		return err
	}
	defer in.Close()
	var r v1alpha1.BenchmarkRun
	if err := in.Client.Get(ctx, client.ObjectKey{Namespace: *namespace, Name: f.Arg(0)}, &r); err != nil {
		return fmt.Errorf("reading BenchmarkRun %s/%s: %w", *namespace, f.Arg(0), err)
	}
	var files []report.File
	if *again {
		files, err = remake(ctx, in.Store, &r)
	} else {
		files, err = fetch(ctx, in.Store, &r)
	}
	if err != nil {
		return err
	}
	page, err := write(filepath.Join(*dir, r.Namespace, r.Name), files)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, page)
	return err
}

// write puts files into a folder and returns the path of the first.
func write(folder string, files []report.File) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("making the folder of the report: %w", err)
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

// getter reads objects.
type getter interface {
	Get(ctx context.Context, key, sha256 string) ([]byte, error)
}

// fetch reads the files of a run's report, the page for people first, as the status names it. A report of an older version may have fewer.
func fetch(ctx context.Context, store getter, r *v1alpha1.BenchmarkRun) ([]report.File, error) {
	ref := r.Status.Report
	_, key, ok := strings.Cut(strings.TrimPrefix(ref.URI, "s3://"), "/")
	if !ok && r.Status.CompletionTime != nil {
		return nil, fmt.Errorf("BenchmarkRun %s ended without a report: kubectl get benchmarkruns.loadstone.dev %s --namespace %s shows why", r.Name, r.Name, r.Namespace)
	}
	if !ok {
		return nil, fmt.Errorf("BenchmarkRun %s has no report yet: kubectl wait --namespace %s --for=condition=Reported benchmarkrun/%s", r.Name, r.Namespace, r.Name)
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

func remake(ctx context.Context, store *artifact.Store, r *v1alpha1.BenchmarkRun) ([]report.File, error) {
	prefix := artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
	o, err := publish.Make(ctx, store, prefix)
	if err != nil {
		return nil, fmt.Errorf("reporting %s again: %w", prefix, err)
	}
	return o.Files, nil
}
