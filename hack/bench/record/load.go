package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
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

// load starts wrk.
func (r *recorder) load(ctx context.Context, s *local.Server, connections, seconds int32) (*local.Child, error) {
	return local.Wrk{Connections: connections, Seconds: seconds}.Start(ctx, r.dir, s.Target(), tool.Measure)
}

// warm loads a server for a while.
func (r *recorder) warm(ctx context.Context, s *local.Server, connections int32) error {
	return local.Wrk{Connections: connections, Seconds: 1}.Warm(ctx, r.dir, s.Target(), warmup)
}

// sequential measures a server that runs alone.
func (r *recorder) sequential(ctx context.Context, s *local.Server, connections int32) (aa.Cell, error) {
	if err := r.warm(ctx, s, connections); err != nil {
		return aa.Cell{}, err
	}
	before, err := local.CPUTime(s.Pid())
	if err != nil {
		return aa.Cell{}, err
	}
	c, err := r.load(ctx, s, connections, int32(cell/time.Second))
	if err != nil {
		return aa.Cell{}, err
	}
	defer c.End()
	return r.finish(s, c, before, 0)
}

// sliced measures two servers in turns, each for the same time.
func (r *recorder) sliced(ctx context.Context, both [2]*local.Server, connections int32, each time.Duration) (pair aa.Pair, err error) {
	var tools [2]*local.Child
	var before, loaded [2]time.Duration
	for _, side := range r.random.Perm(2) {
		if err := r.warm(ctx, both[side], connections); err != nil {
			return pair, err
		}
	}
	for side, s := range both {
		if before[side], err = local.CPUTime(s.Pid()); err != nil {
			return pair, err
		}
		// It is ended long before its own time is over.
		if tools[side], err = r.load(ctx, s, connections, int32((4*each+local.Patience)/time.Second)); err != nil {
			return pair, err
		}
		defer tools[side].End()
		if err := tools[side].Signal(syscall.SIGSTOP); err != nil {
			return pair, fmt.Errorf("stopping wrk: %w", err)
		}
	}
	for range int(each / slice) {
		for _, side := range r.random.Perm(2) {
			took, err := turn(ctx, tools[side])
			if err != nil {
				return pair, err
			}
			loaded[side] += took
		}
	}
	for _, side := range r.random.Perm(2) {
		// wrk ends at an interrupt as at the end of its time, within a tenth of a second, in which it goes on.
		begin := time.Now()
		if err := errors.Join(tools[side].Interrupt(), tools[side].Signal(syscall.SIGCONT)); err != nil {
			return pair, fmt.Errorf("ending wrk: %w", err)
		}
		if pair[side], err = r.finish(both[side], tools[side], before[side], loaded[side]); err != nil {
			return pair, err
		}
		pair[side].LoadNanos += time.Since(begin).Nanoseconds()
	}
	return pair, nil
}

// turn lets a stopped tool run for a slice and says how long it was.
func turn(ctx context.Context, c *local.Child) (time.Duration, error) {
	begin := time.Now()
	if err := c.Signal(syscall.SIGCONT); err != nil {
		return 0, fmt.Errorf("letting wrk run: %w", err)
	}
	if err := local.Rest(ctx, slice); err != nil {
		return 0, err
	}
	if err := c.Signal(syscall.SIGSTOP); err != nil {
		return 0, fmt.Errorf("stopping wrk: %w", err)
	}
	return time.Since(begin), nil
}

// finish waits until a tool has ended and reads what it and its server did. The time under load is the tool's own, unless it was
// measured.
func (r *recorder) finish(s *local.Server, c *local.Child, before, loaded time.Duration) (aa.Cell, error) {
	m, err := local.Measured(c, 4*plantedCell+2*local.Patience)
	if err != nil {
		return aa.Cell{}, err
	}
	after, err := local.CPUTime(s.Pid())
	if err != nil {
		return aa.Cell{}, err
	}
	if loaded == 0 {
		loaded = time.Duration(m.DurationMicros) * time.Microsecond
	}
	return aa.Cell{Requests: m.Requests, LoadNanos: loaded.Nanoseconds(), CPUNanos: (after - before).Nanoseconds()}, nil
}
