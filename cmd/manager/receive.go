package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadstone.dev/loadstone/controllers/webhooks"
)

// receive takes requests to the webhooks of suites. It is a process of its own, since it reads keys that the operator may not, and is reached from
// outside of the cluster.
func receive(ctx context.Context, args []string) error {
	var logs logs
	f := flag.NewFlagSet("receive", flag.ContinueOnError)
	listen := f.String("listen", ":8080", "the address at which requests and probes are answered")
	logs.addFlags(f)
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() > 0 {
		return errors.New("usage: manager receive --listen=ADDRESS")
	}
	handler, err := logs.handler(os.Stderr)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	c, err := errandClient()
	if err != nil {
		return err
	}
	return (&webhooks.Server{Client: c, Addr: *listen, Now: time.Now}).Start(ctx)
}
