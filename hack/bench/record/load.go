package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
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
	core, err := local.NewCore(local.ServerCPU)
	if err != nil {
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
	out := aa.Cell{Requests: m.Requests, LoadNanos: 1000 * m.DurationMicros, CPUNanos: (after - before).Nanoseconds()}
	out.StrangersShare, out.StealShare, err = core.Since(after - before)
	return out, err
}

// sliced measures two servers in turns, each for the same time.
func (r *recorder) sliced(ctx context.Context, both [2]*local.Server, connections int32, each time.Duration) (pair aa.Pair, err error) {
	core, err := local.NewCore(local.ServerCPU)
	if err != nil {
		return pair, err
	}
	begin, err := cpuTimes(both)
	if err != nil {
		return pair, err
	}
	t := local.Turns{Warmup: warmup, Slices: int(each / slice), Slice: slice, Random: r.random}
	loaded, err := t.Load(ctx, r.dir, both[:], local.Wrk{Connections: connections})
	if err != nil {
		return pair, err
	}
	end, err := cpuTimes(both)
	if err != nil {
		return pair, err
	}
	strangers, steal, err := core.Since(end - begin)
	for side, l := range loaded {
		pair[side] = aa.Cell{Requests: l.Requests, LoadNanos: l.Wall.Nanoseconds(), CPUNanos: l.CPU.Nanoseconds(), StrangersShare: strangers, StealShare: steal}
	}
	return pair, err
}

// cpuTimes is what two servers have used, their warming up included.
func cpuTimes(both [2]*local.Server) (time.Duration, error) {
	return local.CPUTimes([]int{both[0].Pid(), both[1].Pid()})
}

// loop measures what an iteration of the planted loop costs, in nanoseconds of CPU time: by a server that runs very many of them in a request, so that the
// request itself is less than a thousandth.
func (r *recorder) loop(ctx context.Context, times int) ([]float64, error) {
	s, err := r.startServer(ctx, loopIterations)
	if err != nil {
		return nil, err
	}
	defer s.End()
	var list []float64
	for range times {
		before, err := local.CPUTime(s.Pid())
		if err != nil {
			return nil, err
		}
		if err := get(ctx, "http://"+s.Target()+"/"); err != nil {
			return nil, err
		}
		after, err := local.CPUTime(s.Pid())
		if err != nil {
			return nil, err
		}
		list = append(list, float64((after-before).Nanoseconds())/loopIterations)
	}
	return list, nil
}

func get(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking for the planted loop: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking for the planted loop: %w", err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return fmt.Errorf("asking for the planted loop: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("asking for the planted loop: %s", answer.Status)
	}
	return nil
}
