package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// ErrSpoiled says that a tool counted errors. What it measured is worth nothing: good servers make none, but a virtual machine that is
// stopped for a moment does.
var ErrSpoiled = errors.New("the tool counted errors")

// Wrk is a load by wrk with one thread.
type Wrk struct {
	Connections int32
	Seconds     int32
	// Path is "/" if empty.
	Path string
}

// Args is wrk's argument vector, for which its script is written into a folder.
func (w Wrk) Args(dir, target string, purpose tool.Purpose) ([]string, error) {
	c := record.Cell{Connections: w.Connections, Threads: 1, DurationSeconds: w.Seconds, Request: record.Request{Path: cmp.Or(w.Path, "/")}}
	for _, f := range (wrk.Tool{}).Files(c, target) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return nil, fmt.Errorf("writing wrk's script: %w", err)
		}
	}
	return wrk.Tool{}.Args(c, target, purpose), nil
}

// Start starts wrk.
func (w Wrk) Start(ctx context.Context, dir, target string, purpose tool.Purpose) (*Child, error) {
	args, err := w.Args(dir, target, purpose)
	if err != nil {
		return nil, err
	}
	return Start(ctx, dir, ToolCPU, args)
}

// Warm loads a server for a time.
func (w Wrk) Warm(ctx context.Context, dir, target string, d time.Duration) error {
	c, err := w.Start(ctx, dir, target, tool.Warmup)
	if err != nil {
		return err
	}
	defer c.End()
	return Rest(ctx, d)
}

// Measured waits for the end of a wrk and reads what it said.
func Measured(c *Child, within time.Duration) (record.Measurement, error) {
	if err := c.Wait(within); err != nil {
		return record.Measurement{}, err
	}
	m, err := wrk.Tool{}.Parse(c.Out())
	return checked(m, err)
}

func checked(m record.Measurement, err error) (record.Measurement, error) {
	if err == nil && (m.Requests == 0 || m.DurationMicros == 0 || m.Errors.Sum() > 0) {
		err = fmt.Errorf("%w: %d requests, errors %+v", ErrSpoiled, m.Requests, m.Errors)
	}
	return m, err
}

// Ab is a number of requests by ab, each on a connection of its own. It ends by their number, since with a time limit ab stops in the
// middle of some.
type Ab struct {
	Connections int
	Requests    int
}

// Run runs ab and reads what it said.
func (a Ab) Run(ctx context.Context, dir, target string) (record.Measurement, error) {
	const percentiles = "ab-cell.csv"
	args := []string{"ab", "-q", "-n", strconv.Itoa(a.Requests), "-c", strconv.Itoa(a.Connections), "-s", "2", "-e", percentiles, "http://" + target + "/"}
	c, err := Start(ctx, dir, ToolCPU, args)
	if err != nil {
		return record.Measurement{}, err
	}
	defer c.End()
	if err := c.Wait(Patience); err != nil {
		return record.Measurement{}, fmt.Errorf("%w: %w", ErrSpoiled, err)
	}
	table, err := os.ReadFile(filepath.Join(dir, percentiles))
	if err != nil {
		return record.Measurement{}, fmt.Errorf("reading ab's percentiles: %w", err)
	}
	m, err := ab.Tool{}.Parse(append(append(c.Out(), tool.OutputHeader(percentiles)...), table...))
	return checked(m, err)
}
