package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/report"
)

const fetchDeadline = 2 * time.Minute

const reportHelp = `Fetches the report that the operator made of a run, and prints the path of its page, which needs nothing else. With --again the report is made
anew from what the run has stored, by this version. Of a run on this machine, give the folder of its results: its report lies there already.`

// reportCommand fetches a run's report from the object store, or rebuilds it, and prints the path of the HTML file.
func reportCommand(k *kube) *cobra.Command {
	var dir string
	var again, open bool
	c := &cobra.Command{
		Use:     "report RUN|FOLDER",
		Short:   "Fetch the report of a run from its cluster, or find it in a folder",
		Long:    reportHelp,
		Example: "  loadstone report quick --open\n  loadstone report quick --again --out reports",
		Args:    exactly(1, "name the run whose report you want"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), fetchDeadline)
			defer cancel()
			page, err := findReport(ctx, k, args[0], dir, again)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), page); err != nil || !open {
				return err
			}
			return openPage(ctx, page)
		},
	}
	f := c.Flags()
	f.StringVar(&dir, "out", reportFolder, "the folder `DIR` to write to")
	f.BoolVar(&again, "again", false, "rebuild the report from the manifests with this version")
	f.BoolVar(&open, "open", false, "open the report in a browser")
	return c
}

// findReport is the path of the page of a run, by the folder of its results or by its name on the cluster.
func findReport(ctx context.Context, k *kube, name, dir string, again bool) (string, error) {
	if _, err := os.Stat(filepath.Join(name, "manifest.json")); err == nil {
		return reportIn(ctx, name, again)
	}
	namespace, err := k.namespace()
	if err != nil {
		return "", err
	}
	return fetchReport(ctx, k, client.ObjectKey{Namespace: namespace, Name: name}, dir, again)
}

// reportIn is the path of the newest report of a run on this machine, which is made again first if asked for.
func reportIn(ctx context.Context, folder string, again bool) (string, error) {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("naming the folder %s: %w", folder, err)
	}
	store, prefix := artifact.ReadFolder(filepath.Dir(whole)), filepath.Base(whole)
	if again {
		o, err := publish.Make(ctx, store, prefix)
		if err != nil {
			return "", fmt.Errorf("reporting %s again: %w", folder, err)
		}
		page, err := publish.Put(ctx, store, prefix, o.Files)
		return store.URI(page.Key), err
	}
	pages, err := filepath.Glob(filepath.Join(whole, "reports", "*", report.FileNames()[0]))
	if err != nil || len(pages) == 0 {
		return "", fmt.Errorf("the folder %s holds no report: loadstone report %s --again makes one", folder, folder)
	}
	return slices.MaxFunc(pages, func(a, b string) int { return modified(a).Compare(modified(b)) }), nil
}

// modified is when a file was written; the beginning of time if nobody knows.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// fetchReport puts the report of a run below a folder, and returns the path of its page.
func fetchReport(ctx context.Context, k *kube, key client.ObjectKey, dir string, again bool) (string, error) {
	in, err := k.installation(ctx)
	if err != nil {
		return "", err
	}
	defer in.Close()
	r, err := getRun(ctx, in.Client, key)
	if err != nil {
		return "", err
	}
	var files []report.File
	if again {
		files, err = remake(ctx, in.Store, r)
	} else {
		files, err = fetch(ctx, in.Store, r)
	}
	if err != nil {
		return "", err
	}
	return write(filepath.Join(dir, r.Namespace, r.Name), files)
}

// getRun reads a run. One that is not there is a sentence.
func getRun(ctx context.Context, c client.Client, key client.ObjectKey) (*v1alpha1.BenchmarkRun, error) {
	var r v1alpha1.BenchmarkRun
	err := c.Get(ctx, key, &r)
	if apierrors.IsNotFound(err) {
		return nil, badInput(fmt.Errorf("there is no BenchmarkRun %s in namespace %s: loadstone list --all-namespaces shows those that are there", key.Name, key.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("reading BenchmarkRun %s: %w", key, discover.Explain("", err))
	}
	return &r, nil
}

// openPage opens a page in the browser of this machine.
func openPage(ctx context.Context, page string) error {
	for _, program := range []string{"xdg-open", "open"} {
		if path, err := exec.LookPath(program); err == nil {
			if err := exec.CommandContext(ctx, path, page).Run(); err != nil {
				return fmt.Errorf("opening %s: %w", page, err)
			}
			return nil
		}
	}
	return fmt.Errorf("this machine has neither xdg-open nor open: open %s in a browser", page)
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
	prefix := prefixOf(r)
	o, err := publish.Make(ctx, store, prefix)
	if err != nil {
		return nil, fmt.Errorf("reporting %s again: %w", prefix, err)
	}
	return o.Files, nil
}
