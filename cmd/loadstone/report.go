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
)

const fetchDeadline = 2 * time.Minute

// reportCommand fetches a run's report from the object store, or makes it anew, and prints the path of the HTML file.
func reportCommand(ctx context.Context, out io.Writer, args []string) error {
	f := flag.NewFlagSet("loadstone report", flag.ContinueOnError)
	namespace := f.String("namespace", "default", "the namespace of the run")
	system := f.String("system-namespace", "loadstone-system", "the namespace of the operator")
	dir := f.String("out", "reports", "the folder to write to")
	again := f.Bool("again", false, "make the report anew from the manifests, with this version")
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
	files, err := files(ctx, in.Store, &r, *again)
	if err != nil {
		return err
	}
	target := filepath.Join(*dir, r.Namespace, r.Name)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("making the folder of the report: %w", err)
	}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(target, name), body, 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	abs, err := filepath.Abs(filepath.Join(target, "report.html"))
	if err != nil {
		return fmt.Errorf("naming the report: %w", err)
	}
	_, err = fmt.Fprintln(out, abs)
	return err
}

func files(ctx context.Context, store *artifact.Store, r *v1alpha1.BenchmarkRun, again bool) (map[string][]byte, error) {
	if again {
		return remake(ctx, store, r)
	}
	ref := r.Status.Report
	_, key, ok := strings.Cut(strings.TrimPrefix(ref.URI, "s3://"), "/")
	if !ok {
		return nil, fmt.Errorf("BenchmarkRun %s has no report yet: kubectl wait --namespace %s --for=condition=Reported benchmarkrun/%s", r.Name, r.Namespace, r.Name)
	}
	html, err := store.Get(ctx, key, ref.SHA256)
	if err != nil {
		return nil, err
	}
	body, err := store.Get(ctx, path.Join(path.Dir(key), "report.json"), "")
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"report.html": html, "report.json": body}, nil
}

func remake(ctx context.Context, store *artifact.Store, r *v1alpha1.BenchmarkRun) (map[string][]byte, error) {
	prefix := artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
	o, err := publish.Make(ctx, store, prefix)
	if err != nil {
		return nil, fmt.Errorf("reporting %s again: %w", prefix, err)
	}
	return map[string][]byte{"report.html": o.HTML, "report.json": o.JSON}, nil
}
