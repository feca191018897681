package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/timing"
)

const (
	// orderPoll is the pause between two looks for the order. Nothing is measured yet.
	orderPoll = 10 * time.Millisecond
	// collectPoll is the pause between two looks for the end of collecting, and collectLimit how long that may take.
	collectPoll  = 20 * time.Millisecond
	collectLimit = 10 * time.Second
	// killedBySignal is what shells add to the number of a signal.
	killedBySignal = 128
	// lastWords is how much of the standard error is passed on.
	lastWords = 2 << 10
)

// Run waits for its order, runs the program and waits until what it left was collected: then it has done its work, and returns 0, since whoever
// has collected says how the program ended. Otherwise it returns the program's exit code. The last of the program's standard error goes to errs.
// A program that cannot be started is an error.
func Run(ctx context.Context, x Exchange, argv []string, errs io.Writer) (code int, err error) {
	if len(argv) == 0 {
		return 0, errors.New("starting the program: no command is given")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, fmt.Errorf("starting the program: %w", err)
	}
	if err := x.write(programFile, real(path)); err != nil {
		return 0, err
	}
	order, err := x.await(ctx)
	if err != nil {
		return 0, err
	}
	if err := timing.SleepUntil(ctx, timing.From(order.At).At(0)); err != nil {
		return 0, fmt.Errorf("waiting for the start: %w", err)
	}
	exit, err := run(ctx, x, path, argv, order.Limit)
	if err != nil {
		return 0, err
	}
	if err := passOn(x.Path(ErrorsFile), errs); err != nil {
		return 0, err
	}
	if err := x.write(exitFile, exit); err != nil {
		return 0, err
	}
	collected, err := x.awaitCollected(ctx)
	if err == nil && collected {
		return 0, nil
	}
	return exit.Code, err
}

// real is a path as a reader outside the image can follow it: without links, which would lead elsewhere there.
func real(path string) string {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return path
	}
	return resolved
}

// await returns the order when it is there.
func (x Exchange) await(ctx context.Context) (Order, error) {
	for {
		var o Order
		found, err := x.read(orderFile, &o)
		if found || err != nil {
			return o, err
		}
		if err := timing.SleepUntil(ctx, time.Now().Add(orderPoll)); err != nil {
			return o, fmt.Errorf("waiting for the order: %w", err)
		}
	}
}

// awaitCollected keeps the container, and with it the counters of its cgroup, until they were read.
func (x Exchange) awaitCollected(ctx context.Context) (collected bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, collectLimit)
	defer cancel()
	for {
		if found, err := x.read(collectedFile, &collected); found || err != nil {
			return collected, err
		}
		if timing.SleepUntil(ctx, time.Now().Add(collectPoll)) != nil {
			return false, nil // Nobody collects: the exit code still says how the program ended.
		}
	}
}

// run runs the program to its end, and everything that it has started with it. What it writes goes straight to files.
func run(ctx context.Context, x Exchange, path string, argv []string, limit time.Duration) (exit Exit, err error) {
	out, err := os.Create(x.Path(OutputFile))
	if err != nil {
		return exit, fmt.Errorf("starting the program: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	failures, err := os.Create(x.Path(ErrorsFile))
	if err != nil {
		return exit, fmt.Errorf("starting the program: %w", err)
	}
	defer func() { err = errors.Join(err, failures.Close()) }()

	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, argv[1:]...)
	cmd.Args[0], cmd.Stdout, cmd.Stderr = argv[0], out, failures
	// The parent's death is its thread's: the thread stays as long as the program runs.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // A program may have left its group.
		return cmd.Process.Kill()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	exit.Started = time.Now()
	if err := cmd.Start(); err != nil {
		return exit, fmt.Errorf("starting the program: %w", err)
	}
	own := peakBytes()
	waitErr := cmd.Wait()
	exit.Ended = exit.Started.Add(time.Since(exit.Started))
	// What it has started and left behind would disturb the next.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // There is nobody left, as a rule.
	if cmd.ProcessState == nil {
		return exit, fmt.Errorf("waiting for the program: %w", waitErr)
	}
	if ctx.Err() != nil {
		return exit, fmt.Errorf("waiting for the program: %w", ctx.Err())
	}
	exit.TimedOut = limited.Err() != nil
	exit.describe(cmd.ProcessState, own)
	return exit, nil
}

// peakBytes is the largest resident memory of this process so far; 0 if it is unknown.
func peakBytes() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss << 10
}

// describe fills in how a process has ended, and what the kernel accounted for it. A child begins with the largest memory of its parent, so that
// its own is known only if it is larger.
func (e *Exit) describe(s *os.ProcessState, parent int64) {
	e.Code, e.UserNanos, e.SystemNanos = s.ExitCode(), s.UserTime().Nanoseconds(), s.SystemTime().Nanoseconds()
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Code, e.Signal = killedBySignal+int(status.Signal()), status.Signal().String()
	}
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		e.VoluntarySwitches, e.InvoluntarySwitches = usage.Nvcsw, usage.Nivcsw
		if peak := usage.Maxrss << 10; peak > parent {
			e.PeakMemoryBytes = peak
		}
	}
}

// passOn writes the end of a file to errs, where people and the kubelet look for a container's last words.
func passOn(path string, errs io.Writer) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Seek(max(info.Size()-lastWords, 0), io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(errs, f)
	return err
}

// Tail is the end of a file, in one line; empty if it cannot be read.
func Tail(path string, bytes int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // It is only read.
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text := make([]byte, min(bytes, info.Size()))
	if _, err := f.ReadAt(text, info.Size()-int64(len(text))); err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "?")), " ")
}

// Bring copies the running program to a path, from which an image that knows nothing of it can start it.
func Bring(to string) (err error) {
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("copying the agent: %w", err)
	}
	defer own.Close() //nolint:errcheck // It is only read.
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return fmt.Errorf("copying the agent: %w", err)
	}
	_, err = io.Copy(target, own)
	if err := errors.Join(err, target.Close()); err != nil {
		return fmt.Errorf("copying the agent: %w", err)
	}
	return nil
}
