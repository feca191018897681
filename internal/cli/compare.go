package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/record"
)

const compareHelp = `Compares a run with earlier runs: levels under load, and cases of programs that measure themselves. Name each
run by one of these:

  - the results folder of a run on this machine, or its manifest.json
  - a run on the cluster, as NAME or NAMESPACE/NAME

The last run is the later one. The exit code is 4 if nothing can be compared.

Machines drift between runs, often by more than a change is worth. So each implementation is compared with an
anchor that every run measured: same image or program, command and CPUs. The command then compares these
ratios. Name three earlier runs or more: with fewer, the variation between runs is unknown, and no change is shown.`

func compareCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var anchor string
	c := &cobra.Command{
		Use:     "compare EARLIER... LATER",
		Short:   "Compare a run with earlier runs",
		Long:    compareHelp,
		Example: "  loadstone compare loadstone-results/local-20260301-120000 loadstone-results/local-20260302-120000\n  loadstone compare monday tuesday wednesday thursday --anchor reference",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return badInput(fmt.Errorf("name at least one earlier run and the later run: %s", c.UseLine()))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return compareRuns(c.Context(), c.OutOrStdout(), k, args, anchor, output)
		},
	}
	c.Flags().StringVar(&anchor, "anchor", "", "`NAME` of the implementation that stays the same (default: baseline of the later run)")
	bindDataOutput(c, &output)
	return c
}

func compareRuns(ctx context.Context, out io.Writer, k *kube.Flags, names []string, anchor string, output outputFormat) error {
	l := loader{kube: k}
	defer l.close()
	var all []compare.Earlier
	for _, name := range names {
		data, err := l.load(ctx, name)
		if err != nil {
			return err
		}
		if data.Lost != "" {
			return notComparable(name + ": " + data.Lost)
		}
		all = append(all, compare.Earlier{Name: name, Data: data})
	}
	last := len(all) - 1
	r, err := compare.Runs(all[last].Data, all[:last], anchor)
	if err != nil {
		return notComparable(err.Error())
	}
	err = printValue(out, output, r, func(out io.Writer) error { return screen.Changes(out, r) })
	if ok, reason, detail := r.Comparable(); !ok && err == nil {
		return notComparable(screen.Because(string(reason), detail))
	}
	return err
}

func notComparable(why string) error {
	return &statusError{statusInconclusive, fmt.Errorf("not comparable: %s", why)}
}

// loader reads runs from folders and from the cluster.
type loader struct {
	kube *kube.Flags
	in   *kube.Stored
}

func (l *loader) close() {
	if l.in != nil {
		l.in.Close()
	}
}

func (l *loader) load(ctx context.Context, name string) (record.RunData, error) {
	dir := strings.TrimSuffix(name, string(filepath.Separator)+"manifest.json")
	if folders.Holds(dir) {
		data, err := folders.Load(ctx, dir)
		if errors.Is(err, folders.ErrNone) {
			err = badInput(err)
		}
		return data, err
	}
	if err := folders.Check(name, strings.ContainsRune(name, filepath.Separator) && strings.Count(name, "/") != 1); err != nil {
		return record.RunData{}, badInput(err)
	}
	if l.in == nil {
		in, err := l.kube.Stored(ctx)
		if err != nil {
			return record.RunData{}, fmt.Errorf("%s is neither a results folder nor a run on the cluster: %w", name, err)
		}
		l.in = in
	}
	key := client.ObjectKey{Name: name}
	if namespace, rest, found := strings.Cut(name, "/"); found {
		key = client.ObjectKey{Namespace: namespace, Name: rest}
	}
	return l.in.LoadRun(ctx, key)
}
