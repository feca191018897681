package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/serve"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/ui"
)

const host = "127.0.0.1"

const connectDeadline = 30 * time.Second

const help = `Shows the cluster in a browser on this machine: the queue, the current run with its finished blocks, all runs
with reports, and suites with rounds and history. It prints the address and serves until Ctrl-C. The pages
change nothing on the cluster.

The pages show what your kubeconfig lets you list. With --namespace they show one namespace. Reports are
downloaded as by loadstone report. While the command runs, all programs and users of this machine that can
open its ports can read the pages.`

// Command is loadstone ui. args refuses arguments.
func Command(k *kube.Flags, args cobra.PositionalArgs) *cobra.Command {
	var port uint16
	c := &cobra.Command{
		Use:     "ui",
		Short:   "Show the queue, runs, reports and suites of the cluster in a browser",
		Long:    help,
		Example: "  loadstone ui\n  loadstone ui --context kind-bench --port 8017",
		Args:    args,
		RunE: func(c *cobra.Command, _ []string) error {
			return run(c.Context(), k, c.Flags().Changed(clientcmd.FlagNamespace), port, c.OutOrStdout())
		},
	}
	c.Flags().Uint16Var(&port, "port", 0, "`PORT` to listen on at 127.0.0.1; 0 means any free port")
	return c
}

func run(ctx context.Context, k *kube.Flags, named bool, port uint16, out io.Writer) error {
	config, err := k.Config()
	if err != nil {
		return err
	}
	c, err := connect(ctx, config)
	if err != nil {
		return err
	}
	f := ui.Frame{Cluster: config.Host, Asked: named}
	if f.Namespace, err = scope(ctx, k, c, named); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("listening for browsers: %w: --port names another port, and without it a free one is taken", err)
	}
	s := newSite(ctx, f, c, newShelf(k))
	go s.runs.follow(ctx)
	go s.suites.follow(ctx)
	if _, err := fmt.Fprintf(out, "http://%s/ shows Loadstone at %s until Ctrl-C\n", l.Addr(), config.Host); err != nil {
		return errors.Join(fmt.Errorf("printing the address: %w", err), l.Close())
	}
	h := s.server(l)
	return serve.Until(ctx, h, "the pages", func() error { return h.Serve(l) })
}

func connect(ctx context.Context, config *rest.Config) (client.WithWatch, error) {
	checked, err := kube.Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: checked.Scheme(), Mapper: checked.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", kube.Explain(config.Host, err))
	}
	return c, nil
}

func scope(ctx context.Context, k *kube.Flags, c client.Client, named bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, connectDeadline)
	defer cancel()
	if !named {
		err := c.List(ctx, &v1alpha1.BenchmarkRunList{}, client.Limit(1))
		if err == nil || !apierrors.IsForbidden(err) {
			return "", explained(err)
		}
	}
	namespace, err := k.Namespace()
	if err != nil {
		return "", err
	}
	return namespace, explained(c.List(ctx, &v1alpha1.BenchmarkRunList{}, client.InNamespace(namespace), client.Limit(1)))
}

func explained(err error) error {
	if err != nil {
		return fmt.Errorf("listing BenchmarkRuns: %w", kube.Explain("", err))
	}
	return nil
}
