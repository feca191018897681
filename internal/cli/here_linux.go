package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/doctor"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/local/reexec"
)

// This file and here_other.go are the only ones that know the operating system.

type localOptions = local.Options

const builtInServer = reexec.ServerCommand

// cannotMeasure says why this machine cannot measure; nil if it can.
func cannotMeasure() error { return nil }

func newMeasurement(ctx context.Context, o localOptions) (measurement, error) {
	r, err := local.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// asHelper runs this program as a helper process of a run, if the arguments say so.
func asHelper(ctx context.Context, args []string) (code int, ok bool) {
	if !reexec.Is(args) {
		return 0, false
	}
	code, err := reexec.Help(ctx, args, os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadstone:", util.Printable(err.Error()))
	}
	return code, true
}

func isFolderError(err error) bool {
	e := (*local.FolderError)(nil)
	return errors.As(err, &e)
}

func listening(port int) bool { return kernel.Proc("/proc").Listening(port) }

func readMachine(ctx context.Context) (doctor.Machine, error) { return doctor.ReadMachine(ctx) }
