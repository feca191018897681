package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/controllers"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	// analysisDeadline bounds a task with all its reads. It is long for a store that answers slowly.
	analysisDeadline = 15 * time.Minute
	// maxAnswer bounds what a task answers, and maxWords its error output, in bytes.
	maxAnswer, maxWords = 1 << 20, 4 << 10
	// killPatience bounds the wait for the pipes of a killed process.
	killPatience = 5 * time.Second
)

// job is what the process of a task reads from standard input. It includes the store's key.
type job struct {
	Store artifact.Config `json:"store"`
	// Memory limits the process, in bytes; 0 is no limit.
	Memory int64        `json:"memory,omitempty"`
	Task   publish.Task `json:"task"`
}

// worker does tasks in processes of this program, which may run out of memory.
type worker struct {
	program  string
	store    artifact.Config
	memory   int64
	deadline time.Duration
}

func newWorker(store artifact.Config) (worker, error) {
	program, err := os.Executable()
	if err != nil {
		return worker{}, fmt.Errorf("finding the program for analyses: %w", err)
	}
	return worker{program: program, store: store, memory: plan.ReportMemory(debug.SetMemoryLimit(-1)), deadline: analysisDeadline}, nil
}

// do does a task in a process with its own memory limit. The process ends with ctx and with the operator.
func (w worker) do(ctx context.Context, t publish.Task) (publish.Result, error) {
	in, err := json.Marshal(job{Store: w.store, Memory: w.memory, Task: t})
	if err != nil {
		return publish.Result{}, fmt.Errorf("encoding a task: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, w.deadline)
	defer cancel()
	debug.FreeOSMemory() // Both processes share the container's memory.
	// Pdeathsig follows the thread that started the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, w.program, "analyze")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killPatience
	answer, words := limited{most: maxAnswer}, limited{most: maxWords}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &answer, &words
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return publish.Result{}, fmt.Errorf("%w: the run was not read and analyzed within %s", artifact.ErrUnreachable, w.deadline)
	case ctx.Err() != nil:
		return publish.Result{}, ctx.Err()
	case err != nil:
		return publish.Result{}, died(err, words.String())
	}
	var a publish.Answer
	if err := json.Unmarshal(answer.Bytes(), &a); err != nil {
		return publish.Result{}, died(err, words.String())
	}
	return a.Outcome()
}

// died says why a process ended without an answer: the first line of its error output tells whether memory ran out.
func died(err error, words string) error {
	first, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	return fmt.Errorf("%w: %w: %s", controllers.ErrDied, err, util.Clip(first, 200))
}

// limited keeps the first most bytes that are written to it.
type limited struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if left := l.most - l.Len(); left > 0 {
		l.Buffer.Write(p[:min(left, len(p))])
	}
	return len(p), nil
}

// analyze is the errand that does one task: it reads a job from standard input, and writes an Answer to standard output.
func analyze(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: the operator starts this command", args[0])
	}
	return answerJob(ctx, os.Stdin, os.Stdout, func(c artifact.Config) (artifact.Objects, error) { return artifact.Open(c) })
}

func answerJob(ctx context.Context, in io.Reader, out io.Writer, open func(artifact.Config) (artifact.Objects, error)) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("reading a task from standard input, where the operator writes it: %w", err)
	}
	if err := limitMemory(j.Memory); err != nil {
		return err
	}
	store, err := open(j.Store)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(publish.AnswerOf(publish.Do(ctx, store, j.Task))); err != nil {
		return fmt.Errorf("answering the operator: %w", err)
	}
	return nil
}

// limitMemory keeps this process near most bytes: the garbage collector does its utmost at softShare. At hardShare more than now, the process
// ends: if the container's limit ended it, the operator would end, too.
func limitMemory(most int64) error {
	if most == 0 {
		return nil
	}
	now, err := dataBytes()
	if err != nil {
		return err
	}
	hard := uint64(now + most*hardShare/100)
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: hard, Max: hard}); err != nil {
		return fmt.Errorf("limiting the memory of an analysis: %w", err)
	}
	debug.SetMemoryLimit(most * softShare / 100)
	debug.SetGCPercent(gcPercent)
	return nil
}

// softShare and hardShare are percentages of the memory of a report. The hard limit counts address space, which includes free pages.
const softShare, hardShare = 80, 125

// gcPercent is a quarter of Go's default: less garbage for more CPU time.
const gcPercent = 25

// dataBytes is this process's writable private memory. RLIMIT_DATA limits it.
func dataBytes() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("reading the memory of this process: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmData:" && f[2] == "kB" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("reading the memory of this process: /proc/self/status has no VmData")
}
