package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/base/timing"
)

const (
	commandPoll = 10 * time.Millisecond
	// collectPoll is the pause between checks for the end of collecting; collectLimit bounds collecting.
	collectPoll  = 20 * time.Millisecond
	collectLimit = 10 * time.Second
	// profileLimit replaces collectLimit for profilers' large files.
	profileLimit = 5 * time.Minute
	stopPoll     = 20 * time.Millisecond
	// KilledBySignal is what shells add to a signal number.
	KilledBySignal = 128
	lastWords      = 2 << 10
)

// Run runs the program on each command, until its results were collected, and then returns 0: the collector reports the program's end.
// Otherwise it returns the program's exit code. The end of the program's standard error goes to errs. A program that cannot be started is an
// error.
func Run(ctx context.Context, x Exchange, argv []string, errs io.Writer) (code int, err error) {
	if len(argv) == 0 {
		return 0, errors.New("starting the program: it has no command")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, fmt.Errorf("starting the program: %w", err)
	}
	if err := x.write(programFile, Program{Path: real(path), Argv: argv}); err != nil {
		return 0, err
	}
	for launch := 0; ; launch++ {
		command, err := x.next(ctx, launch)
		if err != nil {
			return 0, err
		}
		if command == nil {
			return 0, nil
		}
		exit, err := obey(ctx, x, launch, argv, *command, errs)
		if err != nil {
			return 0, err
		}
		limit := collectLimit
		if command.StopGrace > 0 {
			limit = profileLimit
		}
		going, err := x.awaitNext(ctx, launch+1, limit)
		if err != nil || !going {
			return exit.Code, err
		}
	}
}

func obey(ctx context.Context, x Exchange, launch int, argv []string, c Command, errs io.Writer) (Exit, error) {
	if len(c.Argv) > 0 {
		argv = c.Argv
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return Exit{}, fmt.Errorf("starting the program: %w", err)
	}
	if err := timing.SleepUntil(ctx, timing.From(c.At).At(0)); err != nil {
		return Exit{}, fmt.Errorf("waiting for the start: %w", err)
	}
	exit, err := run(ctx, x, launch, path, argv, c)
	if err != nil {
		return Exit{}, err
	}
	if err := passOn(x.Path(ErrorsFile), errs); err != nil {
		return Exit{}, err
	}
	return exit, x.write(numbered(exitFile, launch), exit)
}

// real resolves links, which would lead elsewhere outside the image.
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

func (x Exchange) next(ctx context.Context, launch int) (*Command, error) {
	for {
		var c Command
		found, err := x.read(numbered(commandFile, launch), &c)
		if found || err != nil {
			return &c, err
		}
		if collected, err := x.read(collectedFile, new(bool)); collected || err != nil {
			return nil, err
		}
		if err := timing.SleepUntil(ctx, time.Now().Add(commandPoll)); err != nil {
			return nil, fmt.Errorf("waiting for the command: %w", err)
		}
	}
}

// awaitNext keeps the container and its cgroup counters until they are read: it waits for the next command or the end of collecting. going is
// false if neither comes in time; then the exit code still reports the program's end.
func (x Exchange) awaitNext(ctx context.Context, launch int, limit time.Duration) (going bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		for _, file := range []string{numbered(commandFile, launch), collectedFile} {
			if found, err := x.read(file, new(json.RawMessage)); found || err != nil {
				return found, err
			}
		}
		if timing.SleepUntil(ctx, time.Now().Add(collectPoll)) != nil {
			return false, nil
		}
	}
}

func run(ctx context.Context, x Exchange, launch int, path string, argv []string, c Command) (exit Exit, err error) {
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

	limited, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, argv[1:]...)
	cmd.Args[0], cmd.Stdout, cmd.Stderr, cmd.Env = argv[0], out, failures, append(os.Environ(), c.Env...)
	// Pdeathsig follows the thread: it stays as long as the program runs.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // A program may have left its group.
		return cmd.Process.Kill()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kills := oomFiles("/sys/fs/cgroup", "/proc/self/cgroup")
	counted, starvedBefore := count(c.Counters), oomKills(kills)
	exit.Started = time.Now()
	if err := cmd.Start(); err != nil {
		return exit, fmt.Errorf("starting the program: %w", err)
	}
	own := peakBytes()
	killed := x.stopWhenTold(limited, launch, cmd.Process.Pid, c)
	waitErr := cmd.Wait()
	exit.Ended = exit.Started.Add(time.Since(exit.Started))
	// Remaining children would disturb the next launch.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // Usually none is left.
	if cmd.ProcessState == nil {
		return exit, fmt.Errorf("waiting for the program: %w", waitErr)
	}
	if ctx.Err() != nil {
		return exit, fmt.Errorf("waiting for the program: %w", ctx.Err())
	}
	exit.TimedOut = limited.Err() != nil
	cancel()
	exit.Killed = <-killed && !exit.TimedOut
	exit.OutOfMemory = !exit.Killed && !exit.TimedOut && starved(cmd.ProcessState, starvedBefore, oomKills(kills))
	exit.describe(cmd.ProcessState, own)
	return exit, counted(cmd.ProcessState)
}

// StopSignal returns the signal of a name; SIGTERM if it is empty or unknown.
func StopSignal(name string) syscall.Signal {
	if known := unix.SignalNum(name); known != 0 {
		return known
	}
	return syscall.SIGTERM
}

// stopWhenTold sends the stop signal to a process group when told, and kills it after the command's grace; then it answers true. It answers
// false if ctx ends first. Without a grace it does not check.
func (x Exchange) stopWhenTold(ctx context.Context, launch, group int, c Command) <-chan bool {
	grace, killed := c.StopGrace, make(chan bool, 1)
	go func() {
		for grace > 0 && !x.stopped(launch) {
			if timing.SleepUntil(ctx, time.Now().Add(stopPoll)) != nil {
				break
			}
		}
		if grace == 0 || ctx.Err() != nil {
			killed <- false
			return
		}
		_ = syscall.Kill(-group, StopSignal(c.StopSignal)) // A program that has ended needs none.
		if timing.SleepUntil(ctx, time.Now().Add(grace)) != nil {
			killed <- false
			return
		}
		_ = syscall.Kill(-group, syscall.SIGKILL)
		killed <- true
	}()
	return killed
}

func peakBytes() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss << 10
}

// describe fills in how a process ended and its accounting. A child inherits its parent's peak memory, so its own is known only if larger.
func (e *Exit) describe(s *os.ProcessState, parent int64) {
	e.Code, e.UserNanos, e.SystemNanos = s.ExitCode(), s.UserTime().Nanoseconds(), s.SystemTime().Nanoseconds()
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Code, e.Signal = KilledBySignal+int(status.Signal()), status.Signal().String()
	}
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		e.VoluntarySwitches, e.InvoluntarySwitches = usage.Nvcsw, usage.Nivcsw
		if peak := usage.Maxrss << 10; peak > parent {
			e.PeakMemoryBytes = peak
		}
	}
}

// passOn writes the end of a file to errs, where users and the kubelet look for a container's last output.
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

// Tail returns the end of a file in one line; empty if unreadable.
func Tail(path string, bytes int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // It is only read.
	return tail(f, bytes)
}

func tail(f *os.File, bytes int64) string {
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

// oomFiles returns the files that may count out-of-memory kills of this process's cgroup, best first. A container sees its own cgroup as the root.
func oomFiles(tree, membership string) []string {
	const unified, legacy = "memory.events", "memory/memory.oom_control"
	text, _ := os.ReadFile(membership) // Without it, only the roots are left.
	var own []string
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) != 3:
		case parts[1] == "":
			own = append(own, filepath.Join(tree, parts[2], unified))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			own = append(own, filepath.Join(tree, filepath.Dir(legacy), parts[2], filepath.Base(legacy)))
		}
	}
	return append(own, filepath.Join(tree, unified), filepath.Join(tree, legacy))
}

func oomKills(files []string) int64 {
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			return cgroup.OOMKills(string(text))
		}
	}
	return 0
}

// starved reports whether a program ended like an out-of-memory kill and the count of kills grew.
func starved(s *os.ProcessState, before, after int64) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL && after > before
}
