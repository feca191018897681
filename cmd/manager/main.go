// Command manager is Loadstone's operator.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

// errands are the image's other commands: for analyses, the chart's hooks, webhooks and pages.
var errands = map[string]func(context.Context, []string) error{"analyze": analyze, "await": await, "receive": receive, "retire": retire, "show": show}

// errandClient accesses Loadstone's objects and Secrets with the errand's own rights.
func errandClient() (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering types: %w", err)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	// Webhook callers cause API requests, so limit them.
	config.QPS, config.Burst = 20, 30
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

type logs struct{ level, format string }

func (l *logs) addFlags(f *flag.FlagSet) {
	f.StringVar(&l.level, "log-level", "info", "the least important messages that are logged: debug, info, warn or error")
	f.StringVar(&l.format, "log-format", "json", "the format of the log: json or text")
}

func (l *logs) handler(out io.Writer) (slog.Handler, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, fmt.Errorf("-log-level is %q: set it to debug, info, warn or error", l.level)
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: printable}
	switch l.format {
	case "json":
		return slog.NewJSONHandler(out, options), nil
	case "text":
		return slog.NewTextHandler(out, options), nil
	}
	return nil, fmt.Errorf("-log-format is %q: set it to json or text", l.format)
}

// printable escapes what controls a terminal in the texts and errors of a log line: they may quote servers, agents and forges.
func printable(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(util.Printable(v))
	case error:
		a.Value = slog.StringValue(util.Printable(v.Error()))
	}
	return a
}
