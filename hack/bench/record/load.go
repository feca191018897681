package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/local"
	"loadstone.dev/loadstone/internal/tool"
)

// startServer starts a server that runs a loop of so many iterations per request.
func (r *recorder) startServer(ctx context.Context, burn uint64) (*local.Server, error) {
	program, err := filepath.Abs(r.server[0])
	if err != nil {
		return nil, fmt.Errorf("finding the server: %w", err)
	}
	port, err := local.FreePort()
	if err != nil {
		return nil, err
	}
	return local.StartServer(ctx, r.dir, port, []string{program, "-port", strconv.Itoa(port), "-burn", strconv.FormatUint(burn, 10)})
}

// sequential measures a server that runs alone.
func (r *recorder) sequential(ctx context.Context, s *local.Server, connections int32) (aa.Cell, error) {
	w := local.Wrk{Connections: connections, Seconds: int32(cell / time.Second)}
	if err := w.Warm(ctx, r.dir, s.Target(), warmup); err != nil {
		return aa.Cell{}, err
	}
	before, err := local.CPUTime(s.Pid())
	if err != nil {
		return aa.Cell{}, err
	}
	c, err := w.Start(ctx, r.dir, s.Target(), tool.Measure)
	if err != nil {
		return aa.Cell{}, err
	}
	defer c.End()
	m, err := local.Measured(c, cell+local.Patience)
	if err != nil {
		return aa.Cell{}, err
	}
	after, err := local.CPUTime(s.Pid())
	if err != nil {
		return aa.Cell{}, err
	}
	load := time.Duration(m.DurationMicros) * time.Microsecond
	return aa.Cell{Requests: m.Requests, LoadNanos: load.Nanoseconds(), CPUNanos: (after - before).Nanoseconds()}, nil
}

// sliced measures two servers in turns, each for the same time.
func (r *recorder) sliced(ctx context.Context, both [2]*local.Server, connections int32, each time.Duration) (pair aa.Pair, err error) {
	t := local.Turns{Warmup: warmup, Slices: int(each / slice), Slice: slice, Random: r.random}
	loaded, err := t.Load(ctx, r.dir, both[:], local.Wrk{Connections: connections})
	if err != nil {
		return pair, err
	}
	for side, l := range loaded {
		pair[side] = aa.Cell{Requests: l.Requests, LoadNanos: l.Wall.Nanoseconds(), CPUNanos: l.CPU.Nanoseconds()}
	}
	return pair, nil
}
