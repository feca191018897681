// Command loadstone is what people type beside kubectl.
//
//	loadstone run FILE             lead a run on this machine, without a cluster
//	loadstone report RUN           fetch the report that the operator made
//	loadstone report --again RUN   rebuild it from the manifests with this version
//	loadstone analyse FILE...      say what of raw outputs of wrk, ab and k6 cannot be believed
//	loadstone calibrate            find the noise floor of the machine with an A/A run
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"loadstone.dev/loadstone/internal/local"
)

const usage = `usage: loadstone run [--out DIR] [--resume] [--output text|json] FILE
       loadstone report [--namespace NS] [--system-namespace NS] [--out DIR] [--again] RUN
       loadstone analyse [--json] FILE...   (- is standard input)
       loadstone calibrate [--namespace NS] [--system-namespace NS] [--name RUN] [--image IMAGE [--port PORT] [-- COMMAND...]]`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if local.IsHelper(os.Args[1:]) {
		status, err := local.Help(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, "loadstone:", err)
		}
		os.Exit(status)
	}
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loadstone:", err)
		os.Exit(status(err))
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "run":
		return runCommand(ctx, out, args[1:])
	case "report":
		return reportCommand(ctx, out, args[1:])
	case "analyse":
		return analyseCommand(out, os.Stdin, args[1:])
	case "calibrate":
		return calibrateCommand(ctx, out, args[1:])
	}
	return errors.New(usage)
}
