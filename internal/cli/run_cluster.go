package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

const deleteDeadline = time.Minute

type clusterRun struct {
	kube *kube.Flags
	in   io.Reader
	// out is the report folder.
	out                      string
	output                   outputFormat
	replace, deleteIfAborted bool
	open                     bool
}

func (o *clusterRun) bind(f *pflag.FlagSet) {
	f.BoolVar(&o.replace, "replace", false, "on a cluster: first delete a run with the same name")
	f.BoolVar(&o.deleteIfAborted, "delete-on-interrupt", false, "on a cluster: delete the run on Ctrl-C (default: leave it running)")
}

// refuseFlags refuses cluster flags for a run on this machine.
func (o *clusterRun) refuseFlags() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{{"replace", o.replace}, {"delete-on-interrupt", o.deleteIfAborted}} {
		if flag.given {
			return badInput(fmt.Errorf("--%s works only on a cluster: add --cluster, or remove --%s", flag.name, flag.name))
		}
	}
	return nil
}

func (o clusterRun) prepare(ctx context.Context, out io.Writer, file string) (readyRun, error) {
	f, err := openRun(ctx, o.in, file)
	if err != nil {
		return readyRun{}, err
	}
	if _, err := plan.Compile(f.Run.Spec, plan.Options{Name: f.Run.Name}); err != nil {
		return readyRun{}, f.Explain(err)
	}
	run := f.Run.DeepCopy()
	if run.Namespace, err = o.kube.NamespaceOf(run.Namespace); err != nil {
		return readyRun{}, err
	}
	c, err := o.kube.Client(ctx)
	if err != nil {
		return readyRun{}, err
	}
	told := screen.NewTeller(out, o.output == jsonOutput)
	lead := func(ctx context.Context) error { return o.lead(ctx, told, c, run) }
	return readyRun{file: file, name: run.Name, told: told, lead: lead, abandon: func() {}}, nil
}

func (o clusterRun) lead(ctx context.Context, told screen.Teller, c client.Client, run *v1alpha1.BenchmarkRun) error {
	if err := o.kube.Led(ctx, run.Namespace); err != nil {
		return err
	}
	followed, err := kube.Applier{Client: c, Replace: o.replace, Note: told.Note}.Apply(ctx, run)
	if err != nil {
		return err
	}
	did := "created"
	if followed {
		did = "already exists and is in progress: following it"
	}
	told.Note(fmt.Sprintf("benchmarkrun %s/%s %s", run.Namespace, run.Name, did))
	return o.follow(ctx, told, c, run)
}

// follow prints the progress of a run until it ends, downloads its report and returns its exit code.
func (o clusterRun) follow(ctx context.Context, told screen.Teller, c client.Client, run *v1alpha1.BenchmarkRun) error {
	key := client.ObjectKeyFromObject(run)
	found, err := kube.Follower{Client: c, Key: key, UID: run.UID, Tell: told.Tell, Every: kube.PollEvery, Stored: o.kube.Stored}.Follow(ctx)
	if errors.Is(err, kube.ErrLeft) {
		reason := o.interrupted(context.WithoutCancel(ctx), c, key)
		return errors.Join(told.Left(reason), reason)
	}
	told.Clear()
	if err != nil {
		return err
	}
	e := facts.Ending(found)
	if found.Status.Report.URI != "" {
		fetching, cancel := context.WithTimeout(ctx, fetchDeadline)
		defer cancel()
		if e.Report, err = kube.FetchReport(fetching, o.kube, key, o.out, false); err != nil {
			told.Note(fmt.Sprintf("could not download the report %s: %v", found.Status.Report.URI, err))
		}
	}
	return ended(ctx, told, e, o.open)
}

// interrupted leaves the run or, with --delete-on-interrupt, deletes it.
func (o clusterRun) interrupted(ctx context.Context, c client.Client, key client.ObjectKey) error {
	if !o.deleteIfAborted {
		return &statusError{statusInterrupted, fmt.Errorf("interrupted, but BenchmarkRun %s is still running: follow it with loadstone watch %s --namespace %s, or stop it with kubectl delete benchmarkrun %s --namespace %s",
			key, key.Name, key.Namespace, key.Name, key.Namespace)}
	}
	ctx, cancel := context.WithTimeout(ctx, deleteDeadline)
	defer cancel()
	run, err := kube.Run(ctx, c, key)
	if err == nil {
		err = kube.Remove(ctx, c, run)
	}
	if err != nil {
		return &statusError{statusInterrupted, fmt.Errorf("interrupted, and the run may still be running: %w", err)}
	}
	return &statusError{statusInterrupted, fmt.Errorf("interrupted: deleted BenchmarkRun %s", key)}
}
