package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
)

const calibrateHelp = `Measures one server under two names (an A/A run) and prints the noise floor of the machine. For each metric, it
is the smallest difference that ten blocks find in 80 % of runs. A calibration takes about four minutes, and
longer if blocks are disturbed and repeated. Reports of later runs on the same machine print the noise floor.

On this machine, the server is COMMAND or the program in --image, and must listen on --port. Default: a small
built-in server. The noise floor is stored in the folder calibrations, next to the results folder. Later runs
with results in the same place use it if host name, kernel, CPUs and CPU governor are unchanged. If server and
generator do not have separate CPUs, no noise floor is stored.

With --cluster, --context, --namespace, --server or --kubeconfig, and as kubectl loadstone, the machines of
the cluster are measured. The server is then that of config/samples/aa.yaml, or --image with COMMAND. The
noise floor is kept in the object store.`

type calibration struct {
	server Server
	out    string
	output outputFormat
	remote clusterRun
}

func calibrateCommand(k *kube.Flags, plugin bool) *cobra.Command {
	a := calibration{output: textOutput, remote: clusterRun{kube: k}}
	var onCluster bool
	c := &cobra.Command{
		Use:     "calibrate [-- COMMAND...]",
		Short:   "Measure the noise floor of this machine or cluster with an A/A run",
		Long:    calibrateHelp,
		Example: "  loadstone calibrate\n  loadstone calibrate --cluster --image registry.example/server:1 --port 80 -- /server --listen=:80",
		RunE: func(c *cobra.Command, command []string) error {
			if len(command) > 0 && c.ArgsLenAtDash() != 0 {
				return badInput(fmt.Errorf("put the server command after two dashes: %s", c.UseLine()))
			}
			a.server.Command = command
			if measuredHere(c, k, onCluster) {
				return a.here(c.Context(), c.OutOrStdout())
			}
			return a.onCluster(c.Context(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&a.server.Run, "name", "aa", "`NAME` of the run")
	f.StringVar(&a.server.Image, "image", "", "`IMAGE` of the server")
	f.IntVar(&a.server.Port, "port", 8080, "`PORT` of the server; the built-in server takes the first free port from there on")
	f.StringVar(&a.out, "out", "", "on this machine: write the results to `DIR` (default loadstone-results/NAME-TIME)")
	f.BoolVar(&onCluster, "cluster", plugin, "measure on the current cluster")
	f.BoolVar(&a.remote.replace, "replace", false, "on a cluster: first delete a run with the same name")
	bindOutput(c, &a.output, textOutput, jsonOutput)
	return c
}

func (a calibration) here(ctx context.Context, out io.Writer) error {
	if err := a.remote.refuseFlags(); err != nil {
		return err
	}
	if err := refuseHere(out, a.output); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	asked, err := a.server.Here(self, listening)
	if err != nil {
		return badInput(err)
	}
	told := screen.NewTeller(out, a.output == jsonOutput)
	o := runOptions(asked, "", a.out, told)
	o.Images = a.server.Image != ""
	found, err := Here(ctx, o)
	told.Clear()
	if err != nil {
		return unled(told, err)
	}
	return endCalibration(told, found)
}

func (a calibration) onCluster(ctx context.Context, out io.Writer) error {
	if a.out != "" {
		return badInput(errors.New("--out works only on this machine: remove it, or remove the flags that select a cluster"))
	}
	r, err := a.server.OnCluster()
	if err != nil {
		return badInput(err)
	}
	k := a.remote.kube
	if r.Namespace, err = k.Namespace(); err != nil {
		return err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return err
	}
	told := screen.NewTeller(out, a.output == jsonOutput)
	if _, err := (kube.Applier{Client: c, Replace: a.remote.replace, Note: told.Note}).Apply(ctx, r); err != nil {
		return err
	}
	found, err := Follow(ctx, k, c, r, told.Tell)
	told.Clear()
	if errors.Is(err, kube.ErrLeft) {
		reason := a.remote.interrupted(ctx, c, client.ObjectKeyFromObject(r))
		return errors.Join(told.Left(reason), reason)
	}
	if err != nil {
		return unled(told, err)
	}
	return endCalibration(told, found)
}

// endCalibration prints the result. Without a stored noise floor, the command exits with the code of its run.
func endCalibration(told screen.Teller, f Found) error {
	if err := told.Calibrated(f.Ending, f.Line, f.Floor); err != nil {
		return err
	}
	switch {
	case f.Ending.Interrupted:
		return &statusError{statusInterrupted, errors.New("interrupted: run loadstone calibrate again")}
	case !f.Floor:
		return cmp.Or(statusOf(f.Ending), error(&statusError{statusInconclusive, errors.New("inconclusive: the report says why")}))
	}
	return nil
}
