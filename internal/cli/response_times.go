package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

const (
	// rateShare is the rate for response times, as a share of the lowest throughput.
	rateShare = 0.7
	// maxRate is a rate that vegeta sends from one CPU without queueing.
	maxRate = 10_000
)

func refuseResponseTimes(wanted, timed bool, save string) error {
	switch {
	case !wanted:
		return nil
	case timed:
		return badInput(errors.New("--response-times is for servers, and --time for other commands: remove one of them"))
	case save != "":
		return badInput(errors.New("--response-times measures the rate first, and --save measures nothing: remove one of them"))
	}
	if _, err := exec.LookPath("vegeta"); err != nil {
		return badInput(errors.New("--response-times needs vegeta, which is not in PATH: install it, or remove the flag"))
	}
	return nil
}

// withResponseTimes measures every server once for a second, and adds a load at a rate that all of them sustain.
func withResponseTimes(c *cobra.Command, v *runfile.Versus, output outputFormat) (*runfile.File, error) {
	told := screen.NewTeller(c.OutOrStdout(), output == jsonOutput)
	lowest, err := lowestThroughput(c.Context(), *v, told)
	if err != nil {
		return nil, unled(told, err)
	}
	v.Rate = rateFor(lowest)
	told.Note(fmt.Sprintf("the lowest throughput in a short test was %.0f requests/s: response times are compared at %d requests/s", lowest, v.Rate))
	file, _, err := versusFile(c.Context(), v)
	return file, err
}

func lowestThroughput(ctx context.Context, v runfile.Versus, told screen.Teller) (float64, error) {
	v.Blocks, v.Seconds = 1, 1
	file, _, err := versusFile(ctx, &v)
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "loadstone-rate-*")
	if err != nil {
		return 0, fmt.Errorf("making a folder for the short test: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // A temporary folder.
	lowest, measured := math.Inf(1), 0
	o := runOptions(file.Run, ".", filepath.Join(folder, "results"), told)
	o.Tell = func(e progress.Event) {
		for _, r := range e.Results {
			if e.Kind == progress.EventMeasured && r.Failed == "" {
				lowest = min(lowest, r.Value)
				measured++
			}
		}
	}
	r, err := newMeasurement(ctx, o)
	if err != nil {
		return 0, file.Explain(err)
	}
	told.Note("a short test finds the rate for response times")
	ending, err := r.Lead(ctx)
	switch {
	case err != nil:
		return 0, err
	case ending.Interrupted:
		return 0, &statusError{statusInterrupted, errors.New("interrupted in the short test: nothing was compared")}
	case ending.State != conduct.Succeeded:
		return 0, statusOf(ending)
	case measured < len(v.Implementations)*len(v.Connections):
		return 0, fmt.Errorf("the short test measured %d of %d cells, so there is no rate: run the comparison without --response-times to see why", measured, len(v.Implementations)*len(v.Connections))
	case lowest < 1/rateShare:
		return 0, fmt.Errorf("a server answered only %.2g requests/s in the short test, which is too few for --response-times: remove the flag", lowest)
	}
	return lowest, nil
}

func rateFor(throughput float64) int32 {
	rate := min(rateShare*throughput, maxRate)
	unit := math.Pow(10, max(0, math.Floor(math.Log10(rate))-1))
	return int32(math.Floor(rate/unit) * unit)
}
