// Command loadstone is what people type beside kubectl.
//
//	loadstone report RUN           fetch the report that the operator made
//	loadstone report --again RUN   make it anew from the manifests, with this version
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: loadstone report [--namespace NS] [--system-namespace NS] [--out DIR] [--again] RUN`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loadstone:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 || args[0] != "report" {
		return errors.New(usage)
	}
	return reportCommand(ctx, out, args[1:])
}
