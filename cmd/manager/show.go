package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadstone.dev/loadstone/controllers/webhooks"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/ui/server"
)

// show serves loadstone ui to everyone who can reach it. It is a separate process with a read-only account.
func show(ctx context.Context, args []string) error {
	s, logs, err := parseShow(args)
	if err != nil {
		return err
	}
	handler, err := logs.handler(os.Stderr)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	if s.Config, err = ctrl.GetConfig(); err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	ctrl.Log.WithName("pages").Info("Showing the pages, without a login", "address", s.Addr, "namespaces", s.Led, "hosts", s.Hosts)
	return s.Start(ctx)
}

func parseShow(args []string) (server.Shared, logs, error) {
	var s server.Shared
	var l logs
	f := flag.NewFlagSet("show", flag.ContinueOnError)
	f.StringVar(&s.System, "namespace", os.Getenv("POD_NAMESPACE"), "the namespace of the installation")
	f.StringVar(&s.Addr, "listen", ":8080", "address of the pages")
	f.StringVar(&s.Probes, "probes", ":8081", "the address of the health probe")
	some := f.String("namespaces", "", "namespaces of the runs and suites to show, in addition to the installation's own, separated by commas; empty for all")
	hosts := f.String("hosts", "", "host names of the pages, in addition to those of their Service, separated by commas")
	l.addFlags(f)
	if err := f.Parse(args); err != nil {
		return s, l, fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() > 0 {
		return s, l, errors.New("usage: manager show --listen=ADDRESS --namespaces=NAMES --hosts=NAMES")
	}
	if s.System == "" {
		return s, l, errors.New("-namespace is empty: set it")
	}
	var err error
	if s.Led, err = namespaces.Parse(*some, s.System); err != nil {
		return s, l, fmt.Errorf("reading -namespaces (chart value runs.namespaces): %w", err)
	}
	for _, name := range strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' }) {
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			return s, l, fmt.Errorf("reading -hosts (chart value ui.hosts): %q is not the name of a host, without scheme and port: %s", name, strings.Join(wrong, "; "))
		}
		s.Hosts = append(s.Hosts, name)
	}
	return s, l, nil
}

// receive serves the suites' webhooks. It is a separate process, since it reads keys that the operator may not, and is reachable from outside.
func receive(ctx context.Context, args []string) error {
	var logs logs
	f := flag.NewFlagSet("receive", flag.ContinueOnError)
	listen := f.String("listen", ":8080", "address of requests and probes")
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
