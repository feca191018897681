package generate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

var errKilled = errors.New("the tool was killed at its deadline")

type process struct {
	cmd    *exec.Cmd
	ctx    context.Context
	cancel context.CancelFunc
	began  time.Time
	// handover opens the tool's sockets, if any.
	handover *kernel.Handover
}

// launch starts a tool that reads in (nil: no input) and writes to out, with a handover or nil. The tool is killed at its deadline, when ctx ends, and when the
// calling thread ends.
//
// A tool inherits only these: no other variables and descriptors.
func launch(ctx context.Context, dir string, args []string, share record.Cell, in, out *os.File, deadline time.Time, h *kernel.Handover) (*process, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if in != nil {
		cmd.Stdin = in
	}
	cmd.Env = toolEnv(dir, share)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start := cmd.Start
	if h != nil {
		start = func() error { return h.Start(cmd) }
	}
	began := time.Now()
	if err := start(); err != nil {
		cancel()
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	return &process{cmd: cmd, ctx: ctx, cancel: cancel, began: began, handover: h}, nil
}

// toolEnv returns the whole environment of a tool. Only k6 reads the last three. Without them it would use as many threads as the machine has
// CPUs, download extensions that a script imports, and use HTTP/2 over TLS if the server offers it and the load did not ask for it.
func toolEnv(dir string, share record.Cell) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GOMAXPROCS=" + strconv.Itoa(int(share.Threads)), "K6_AUTO_EXTENSION_RESOLUTION=false",
	}
	if share.Protocol() == record.HTTP2 {
		return env
	}
	return append(env, "GODEBUG=http2client=0")
}

// wait returns when the tool has ended: nil after success, errKilled after its deadline.
func (p *process) wait() error {
	defer p.cancel()
	err := p.cmd.Wait()
	if p.handover != nil {
		_ = p.handover.Wait() // Sampling reports its failure.
	}
	if err != nil && errors.Is(p.ctx.Err(), context.DeadlineExceeded) {
		return errKilled
	}
	return err
}

// cpusAllowed returns the CPUs that the tool may run on, or "unknown".
func (p *process) cpusAllowed() string {
	list, _ := kernel.Proc("/proc").CPUsAllowed(p.cmd.Process.Pid) // The list is "unknown" then.
	return list
}

func toolEnded(t tool.Tool, err error, raw *os.File) error {
	if err == nil {
		return ended(err, raw)
	}
	text, readErr := os.ReadFile(raw.Name())
	if readErr != nil {
		return ended(err, raw)
	}
	if _, why := t.Parse(text); why != nil {
		return fmt.Errorf("%w: %w", err, why)
	}
	return ended(err, raw)
}

// ended returns how a program ended and its first output, which gives the reason.
func ended(err error, raw *os.File) error {
	text := make([]byte, 200)
	n, _ := raw.ReadAt(text, 0) // A short read is expected.
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "?")), "\n")
	switch {
	case err == nil:
		return fmt.Errorf("exit status 0: %s", first)
	case first == "":
		return err
	}
	return fmt.Errorf("%w: %s", err, first)
}

// toolVersion asks a tool for its version. It ignores the exit code: wrk exits with 1.
func toolVersion(ctx context.Context, dir string, t tool.Tool) string {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	args := t.VersionArgs()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = toolEnv(dir, record.Cell{Threads: 1})
	out, _ := cmd.CombinedOutput()
	return t.ParseVersion(out)
}
