//go:build !linux

package cli

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/doctor"
	"loadstone.dev/loadstone/internal/run/progress"
)

// localOptions are those of package local that commands set.
type localOptions struct {
	Run                  *v1alpha1.BenchmarkRun
	Folder, Out, Version string
	Folders              map[string]string
	Resume, Images       bool
	Tell                 func(progress.Event)
	Every                time.Duration
}

const builtInServer = ""

func cannotMeasure() error {
	return badInput(fmt.Errorf("measuring this machine needs Linux, and it runs %s: measure a cluster instead, with loadstone run FILE --cluster, or use a Linux machine", runtime.GOOS))
}

func newMeasurement(context.Context, localOptions) (measurement, error) { return nil, cannotMeasure() }

func asHelper(context.Context, []string) (code int, ok bool) { return 0, false }

func isFolderError(error) bool { return false }

func listening(int) bool { return false }

func readMachine(context.Context) (doctor.Machine, error) { return doctor.Machine{}, cannotMeasure() }
