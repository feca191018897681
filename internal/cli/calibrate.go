package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/follow"
	"loadstone.dev/loadstone/internal/handout"
	"loadstone.dev/loadstone/internal/kube"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/screen"
)

// twice returns the implementations of a run that measures one server under two names.
type twice struct {
	name, image string
	port        int
	command     []string
}

const calibrateHelp = `Measures one server under two names on the cluster, waits for the end, and prints the difference that the machine shows between a server and
itself: its noise floor. Later reports of the same machine name it.`

// calibrateCommand makes an A/A run, waits for its end, and prints the machine's noise floor.
func calibrateCommand(k *kube.Flags) *cobra.Command {
	var what twice
	var replace bool
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
			if r.Namespace, err = k.Namespace(); err != nil {
				return err
			}
			return calibrate(c.Context(), c.OutOrStdout(), k, r, replace)
		},
	}
	f := c.Flags()
	f.StringVar(&what.name, "name", "aa", "the `NAME` of the run")
	f.BoolVar(&replace, "replace", false, "delete a run of the same name first")
	f.StringVar(&what.image, "image", "", "the `IMAGE` of the server to compare with itself; that of config/samples/aa.yaml if empty")
	f.IntVar(&what.port, "port", 8080, "the `PORT` of that server")
	return c
}

func calibrate(ctx context.Context, out io.Writer, k *kube.Flags, r *v1alpha1.BenchmarkRun, replace bool) error {
	c, err := k.Client(ctx)
	if err != nil {
		return err
	}
	told := screen.NewTeller(out, false)
	if _, err := (kube.Applier{Client: c, Replace: replace, Note: told.Note}).Apply(ctx, r); err != nil {
		return err
	}
	ended, err := kube.Follower{Client: c, Key: client.ObjectKeyFromObject(r), UID: r.UID, Tell: told.Tell, Every: kube.PollEvery, Stored: k.Stored}.Follow(ctx)
	told.Clear()
	if errors.Is(err, kube.ErrLeft) {
		return clusterRun{}.interrupted(ctx, c, client.ObjectKeyFromObject(r))
	}
	if err != nil {
		return err
	}
	if err := statusOf(follow.Ending(ended)); err != nil && ended.Status.Report.URI == "" {
		return fmt.Errorf("BenchmarkRun %s/%s ended without a report: %w", ended.Namespace, ended.Name, err)
	}
	in, err := k.Installation(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	prefix := handout.PrefixOf(ended)
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
