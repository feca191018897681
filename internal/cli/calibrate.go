package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
)

// lookEvery is how often a run is looked at while it goes on.
const lookEvery = 2 * time.Second

// twice returns the implementations of a run that measures one server under two names.
type twice struct {
	name, image string
	port        int
	command     []string
}

const calibrateHelp = `Measures one server under two names on the cluster, waits for the end, and prints the difference that the machine shows between a server and
itself: its noise floor. Later reports of the same machine name it.`

// calibrateCommand makes an A/A run, waits for its end, and prints the machine's noise floor.
func calibrateCommand(k *kube) *cobra.Command {
	var what twice
	c := &cobra.Command{
		Use:     "calibrate [-- COMMAND...]",
		Short:   "Find the noise floor of a cluster's machines with an A/A run",
		Long:    calibrateHelp,
		Example: "  loadstone calibrate\n  loadstone calibrate --image registry.example/server:1 --port 80 -- /server --listen=:80",
		RunE: func(c *cobra.Command, command []string) error {
			if len(command) > 0 && c.ArgsLenAtDash() != 0 {
				return badInput(fmt.Errorf("put the command of the server behind two dashes: %s", c.UseLine()))
			}
			what.command = command
			r, err := what.run()
			if err != nil {
				return err
			}
			if r.Namespace, err = k.namespace(); err != nil {
				return err
			}
			return calibrate(c.Context(), c.OutOrStdout(), k, r)
		},
	}
	f := c.Flags()
	f.StringVar(&what.name, "name", "aa", "the `NAME` of the run")
	f.StringVar(&what.image, "image", "", "the `IMAGE` of the server to compare with itself; that of config/samples/aa.yaml if empty")
	f.IntVar(&what.port, "port", 8080, "the `PORT` of that server")
	return c
}

func calibrate(ctx context.Context, out io.Writer, k *kube, r *v1alpha1.BenchmarkRun) error {
	in, err := k.installation(ctx)
	if err != nil {
		return err
	}
	in.Close()
	if err := start(ctx, in.Client, r); err != nil {
		return err
	}
	if err := follow(ctx, in.Client, r, out, lookEvery); err != nil {
		return err
	}
	// A forwarded port may not have outlived the run.
	if in, err = k.installation(ctx); err != nil {
		return err
	}
	defer in.Close()
	prefix := artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
	o, err := publish.Make(ctx, in.Store, prefix)
	if err != nil {
		return fmt.Errorf("reading %s: %w", prefix, err)
	}
	_, err = fmt.Fprintln(out, report.NoiseLine(o.Table))
	return err
}

// run is the A/A run of config/samples, of another image where one is given.
func (w twice) run() (*v1alpha1.BenchmarkRun, error) {
	if w.image == "" && len(w.command) > 0 {
		return nil, badInput(errors.New("a command needs an image: set --image"))
	}
	var r v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict(samples.AA, &r); err != nil {
		return nil, fmt.Errorf("decoding the sample: %w", err)
	}
	r.Name = w.name
	for i := range r.Spec.Implementations {
		if w.image != "" {
			impl := &r.Spec.Implementations[i]
			impl.Image, impl.Port, impl.Command = w.image, int32(w.port), w.command
		}
	}
	return &r, nil
}

func start(ctx context.Context, c client.Client, r *v1alpha1.BenchmarkRun) error {
	err := c.Create(ctx, r)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("BenchmarkRun %s/%s already exists: delete it or choose another --name", r.Namespace, r.Name)
	}
	if err != nil {
		return fmt.Errorf("creating BenchmarkRun %s/%s: %w", r.Namespace, r.Name, err)
	}
	return nil
}

// follow waits for the end of a run and prints how far it is. A run that ends without a report is an error.
func follow(ctx context.Context, c client.Client, r *v1alpha1.BenchmarkRun, out io.Writer, every time.Duration) error {
	said := ""
	for {
		if err := c.Get(ctx, client.ObjectKeyFromObject(r), r); err != nil {
			return fmt.Errorf("reading BenchmarkRun %s/%s: %w", r.Namespace, r.Name, err)
		}
		if now := progress(r); now != said {
			said = now
			fmt.Fprintln(out, now)
		}
		if r.Status.CompletionTime != nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for BenchmarkRun %s/%s, which continues: %w", r.Namespace, r.Name, ctx.Err())
		case <-time.After(every):
		}
	}
	if r.Status.Report.URI != "" {
		return nil
	}
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return fmt.Errorf("BenchmarkRun %s/%s ended without a report (%s): %s", r.Namespace, r.Name, c.Reason, c.Message)
	}
	return fmt.Errorf("BenchmarkRun %s/%s ended without a report", r.Namespace, r.Name)
}

// progress is how far a run is, in a few words.
func progress(r *v1alpha1.BenchmarkRun) string {
	st := r.Status
	c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case st.CompletionTime != nil:
		return fmt.Sprintf("%s/%s has ended; its report is %s", r.Namespace, r.Name, st.Report.URI)
	case st.StartTime != nil && st.Progress != "":
		return fmt.Sprintf("%s cells measured, about %s left", st.Progress, st.TimeLeft)
	case c != nil && c.Message != "":
		return c.Message
	}
	return "waiting for the operator"
}
