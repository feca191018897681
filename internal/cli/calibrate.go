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

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
)

const calibrateHelp = `Measures one server under two names, waits for the end, and prints the difference that the machine shows between a server and itself: its noise
floor. That takes four minutes, and longer where blocks are disturbed and repeated. Reports of later runs of the same machine print it beside their
verdicts.

On this machine the server is COMMAND, or the program of --image, and must listen on --port; without either it is a small one of Loadstone's own. The
noise floor lies beside the folder of the results, in calibrations: runs whose results lie in the same place find it, and take it only if host name,
kernel, CPUs and their governor are the same. Where the server and its generator do not own their CPUs, there is none.

With --cluster, --context, --namespace, --server or --kubeconfig, and as kubectl loadstone, the cluster's machines are measured, by the server of
config/samples/aa.yaml, or by --image and its COMMAND. The noise floor lies in the object store.`

// calibration is the A/A run that was asked for.
type calibration struct {
	server Server
	out    string
	remote clusterRun
}

// calibrateCommand makes an A/A run, waits for its end, and prints the machine's noise floor.
func calibrateCommand(k *kube.Flags, plugin bool) *cobra.Command {
	a := calibration{remote: clusterRun{kube: k}}
	var onCluster bool
	c := &cobra.Command{
		Use:     "calibrate [-- COMMAND...]",
		Short:   "Find the noise floor of this machine, or of a cluster's machines, with an A/A run",
		Long:    calibrateHelp,
		Example: "  loadstone calibrate\n  loadstone calibrate --cluster --image registry.example/server:1 --port 80 -- /server --listen=:80",
		RunE: func(c *cobra.Command, command []string) error {
			if len(command) > 0 && c.ArgsLenAtDash() != 0 {
				return badInput(fmt.Errorf("put the command of the server behind two dashes: %s", c.UseLine()))
			}
			a.server.Command = command
			if measuredHere(c, k, onCluster) {
				return a.here(c.Context(), c.OutOrStdout())
			}
			return a.onCluster(c.Context(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&a.server.Run, "name", "aa", "the `NAME` of the run")
	f.StringVar(&a.server.Image, "image", "", "the `IMAGE` of the server to compare with itself")
	f.IntVar(&a.server.Port, "port", 8080, "the `PORT` of that server; that of Loadstone's own is the first one from there on that is free")
	f.StringVar(&a.out, "out", "", "on this machine: the folder `DIR` for the results (default loadstone-results/NAME-TIME)")
	f.BoolVar(&onCluster, "cluster", plugin, "measure on the cluster of the current context")
	f.BoolVar(&a.remote.replace, "replace", false, "on a cluster: delete a run of the same name first")
	return c
}

// here measures this machine.
func (a calibration) here(ctx context.Context, out io.Writer) error {
	if err := a.remote.refuseFlags(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	asked, err := a.server.Here(self, kernel.Proc("/proc").Listening)
	if err != nil {
		return badInput(err)
	}
	told := screen.NewTeller(out, false)
	o := runOptions(asked, "", a.out, told)
	o.Images = a.server.Image != ""
	found, err := Here(ctx, o)
	told.Clear()
	if err != nil {
		return err
	}
	return printFound(out, found)
}

// onCluster measures the machines of the cluster.
func (a calibration) onCluster(ctx context.Context, out io.Writer) error {
	if a.out != "" {
		return badInput(errors.New("--out is for the results of a run on this machine: remove it, or leave out --cluster and its like"))
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
	told := screen.NewTeller(out, false)
	if _, err := (kube.Applier{Client: c, Replace: a.remote.replace, Note: told.Note}).Apply(ctx, r); err != nil {
		return err
	}
	found, err := Follow(ctx, k, c, r, told.Tell)
	told.Clear()
	if errors.Is(err, kube.ErrLeft) {
		return a.remote.interrupted(ctx, c, client.ObjectKeyFromObject(r))
	}
	if err != nil {
		return err
	}
	return printFound(out, found)
}

// printFound prints what a calibration has found. One that has found no noise floor ends the command as its run has ended.
func printFound(out io.Writer, f Found) error {
	lines := f.Line
	if f.Ending.Report != "" {
		lines += "\nreport: " + f.Ending.Report
	}
	if f.Line != "" {
		if _, err := fmt.Fprintln(out, lines); err != nil {
			return err
		}
	}
	switch {
	case f.Ending.Interrupted:
		return &statusError{statusInterrupted, errors.New("interrupted: loadstone calibrate begins again")}
	case !f.Floor:
		return cmp.Or(statusOf(f.Ending), error(&statusError{statusInconclusive, errors.New("inconclusive: the report says why")}))
	}
	return nil
}
