package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

const (
	// toolCPU and serverCPU keep load generators and servers apart.
	toolCPU, serverCPU = "0", "1"
	// patience is how long a server may take to listen, and a tool to end.
	patience = 10 * time.Second
)

// child is a process of this program's, on one CPU.
type child struct {
	*exec.Cmd
	out bytes.Buffer
}

func (r *recorder) start(ctx context.Context, cpu string, args []string) (*child, error) {
	c := &child{Cmd: exec.CommandContext(ctx, "taskset", append([]string{"--cpu-list", cpu}, args...)...)}
	c.Dir, c.Stdout, c.Stderr = r.dir, &c.out, &c.out
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting %q: %w", args, err)
	}
	return c, nil
}

// end kills a child and waits for it. It may be called twice.
func (c *child) end() {
	if c.ProcessState != nil {
		return
	}
	_ = c.Process.Kill() // An error means that it has ended by itself.
	_ = c.Wait()         // It says that the child was killed.
}

// server is a running server.
type server struct {
	*child
	target string
}

// startServer starts a server and waits until it listens.
func (r *recorder) startServer(ctx context.Context, burn uint64) (*server, error) {
	program, err := filepath.Abs(r.server[0])
	if err != nil {
		return nil, fmt.Errorf("finding the server: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("finding a free port: %w", err)
	}
	s := &server{target: l.Addr().String()}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return nil, fmt.Errorf("finding a free port: %w", err)
	}
	args := []string{program, "-port", strconv.Itoa(port), "-burn", strconv.FormatUint(burn, 10)}
	if s.child, err = r.start(ctx, serverCPU, args); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", s.target)
		if err == nil {
			return s, c.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			s.end()
			return nil, fmt.Errorf("waiting for the server: %w: %s", errors.Join(err, ctx.Err()), s.out.Bytes())
		}
	}
}

// load starts wrk.
func (r *recorder) load(ctx context.Context, s *server, connections, seconds int32, purpose tool.Purpose) (*child, error) {
	c := v1alpha1.Cell{Connections: connections, Threads: 1, DurationSeconds: seconds}
	for _, f := range (wrk.Tool{}).Files(c, s.target) {
		if err := os.WriteFile(filepath.Join(r.dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return nil, fmt.Errorf("writing wrk's script: %w", err)
		}
	}
	return r.start(ctx, toolCPU, wrk.Tool{}.Args(c, s.target, purpose))
}

// warm loads a server for a while.
func (r *recorder) warm(ctx context.Context, s *server, connections int32) error {
	c, err := r.load(ctx, s, connections, 1, tool.Warmup)
	if err != nil {
		return err
	}
	defer c.end()
	return rest(ctx, warmup)
}

// sequential measures a server that runs alone.
func (r *recorder) sequential(ctx context.Context, s *server, connections int32) (aa.Cell, error) {
	if err := r.warm(ctx, s, connections); err != nil {
		return aa.Cell{}, err
	}
	before, err := cpuTime(s.Process.Pid)
	if err != nil {
		return aa.Cell{}, err
	}
	c, err := r.load(ctx, s, connections, int32(cell/time.Second), tool.Measure)
	if err != nil {
		return aa.Cell{}, err
	}
	defer c.end()
	return r.finish(s, c, before, 0)
}

// sliced measures two servers in turns, each for the same time.
func (r *recorder) sliced(ctx context.Context, both [2]*server, connections int32, each time.Duration) (pair aa.Pair, err error) {
	var tools [2]*child
	var before, loaded [2]time.Duration
	for _, side := range r.random.Perm(2) {
		if err := r.warm(ctx, both[side], connections); err != nil {
			return pair, err
		}
	}
	for side, s := range both {
		if before[side], err = cpuTime(s.Process.Pid); err != nil {
			return pair, err
		}
		// It is ended long before its own time is over.
		if tools[side], err = r.load(ctx, s, connections, int32((4*each+patience)/time.Second), tool.Measure); err != nil {
			return pair, err
		}
		defer tools[side].end()
		if err := tools[side].Process.Signal(syscall.SIGSTOP); err != nil {
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
		// The interrupt must reach its main thread: one that another thread takes leaves main asleep until the time is over.
		pid := tools[side].Process.Pid
		if err := errors.Join(unix.Tgkill(pid, pid, unix.SIGINT), tools[side].Process.Signal(syscall.SIGCONT)); err != nil {
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
func turn(ctx context.Context, c *child) (time.Duration, error) {
	begin := time.Now()
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		return 0, fmt.Errorf("letting wrk run: %w", err)
	}
	if err := rest(ctx, slice); err != nil {
		return 0, err
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, fmt.Errorf("stopping wrk: %w", err)
	}
	return time.Since(begin), nil
}

// finish waits until a tool has ended and reads what it and its server did. The time under load is the tool's own, unless it was
// measured.
func (r *recorder) finish(s *server, c *child, before, loaded time.Duration) (aa.Cell, error) {
	hung := time.AfterFunc(4*plantedCell+2*patience, func() { _ = c.Process.Kill() })
	defer hung.Stop()
	if err := c.Wait(); err != nil {
		return aa.Cell{}, fmt.Errorf("running wrk: %w: %s", err, c.out.Bytes())
	}
	after, err := cpuTime(s.Process.Pid)
	if err != nil {
		return aa.Cell{}, err
	}
	m, err := wrk.Tool{}.Parse(c.out.Bytes())
	if err != nil {
		return aa.Cell{}, err
	}
	if m.Requests == 0 || m.Errors.Sum() > 0 {
		return aa.Cell{}, fmt.Errorf("%w: %d requests, errors %+v", errSpoiled, m.Requests, m.Errors)
	}
	if loaded == 0 {
		loaded = time.Duration(m.DurationMicros) * time.Microsecond
	}
	return aa.Cell{Requests: m.Requests, LoadNanos: loaded.Nanoseconds(), CPUNanos: (after - before).Nanoseconds()}, nil
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("measuring: %w", ctx.Err())
	}
}
