package reexec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/local/image"
)

const (
	// endLimit bounds a child's end after its standard input ended.
	endLimit = 3 * time.Second
	// answerLimit bounds an agent's answer: a check sends real requests with their own limits.
	answerLimit = 30 * time.Second
)

// Process is this program again, as an agent or keeper, until its standard input ends.
type Process struct {
	// In is its standard input, Out the reading end of its standard output.
	Cmd   *exec.Cmd
	In    io.WriteCloser
	Out   *os.File
	ended chan struct{}
}

// heldDescriptor is the child's descriptor of the file held for its run.
const heldDescriptor = 3

// Start starts this program again on some CPUs. Errors go to log, and the child holds held until it ends. The goroutine must be locked to its
// thread while children run: agents die with the thread.
func Start(args []string, cpus []int, log, held *os.File, orphaned syscall.Signal) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(self, args...) //nolint:noctx // It ends with its standard input.
	cmd.Stderr = log
	if held != nil {
		cmd.ExtraFiles = []*os.File{held}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphaned}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	out, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	cmd.Stdout = write
	err = startOn(cmd, cpus)
	if err = errors.Join(err, write.Close()); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], errors.Join(err, out.Close()))
	}
	c := &Process{Cmd: cmd, In: in, Out: out, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // ProcessState has the result.
		close(c.ended)
	}()
	return c, nil
}

// startOn starts a command on some CPUs: a process inherits its starting thread's.
func startOn(cmd *exec.Cmd, cpus []int) error {
	var before, there unix.CPUSet
	for _, cpu := range cpus {
		there.Set(cpu)
	}
	if err := errors.Join(unix.SchedGetaffinity(0, &before), unix.SchedSetaffinity(0, &there)); err != nil {
		return fmt.Errorf("setting its CPUs %v: %w", cpus, err)
	}
	return errors.Join(cmd.Start(), unix.SchedSetaffinity(0, &before))
}

// Exchange sends a line and reads the answer. It is false if the process has ended or does not answer.
func (c *Process) Exchange(line []byte, answer any) bool {
	_, err := c.In.Write(line)
	return err == nil && c.Out.SetReadDeadline(time.Now().Add(answerLimit)) == nil && json.NewDecoder(c.Out).Decode(answer) == nil
}

// End ends the process and waits for it. It may be called twice.
func (c *Process) End() {
	_ = c.In.Close()    // It is closed already if the process has ended.
	defer c.Out.Close() //nolint:errcheck // It was only read.
	select {
	case <-c.ended:
	case <-time.After(endLimit):
		_ = syscall.Kill(-c.Cmd.Process.Pid, syscall.SIGKILL) // An error means that it has ended.
		<-c.ended
	}
}

// contain enters a root file system and becomes its program. Without arguments it holds a sandbox until in ends.
func contain(ctx context.Context, args []string, in io.Reader, errs io.Writer) (int, error) {
	// What this thread drops, its program drops too.
	runtime.LockOSThread()
	if len(args) == 0 {
		err := image.Hold(in)
		return statusOf(err), err
	}
	var root image.Root
	if err := json.Unmarshal([]byte(args[0]), &root); err != nil {
		return 1, usageError(ContainCommand)
	}
	if err := root.Enter(); err != nil {
		return 1, err
	}
	if root.Exchange == "" {
		return 1, root.Exec()
	}
	runtime.GOMAXPROCS(1)
	return launch.Run(ctx, launch.Exchange(image.Exchange), root.Process.Argv, errs)
}

func statusOf(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

type groupFlag struct{ *cgroup.Group }

// String implements flag.Value.
func (g *groupFlag) String() string { return "" }

// Set implements flag.Value.
func (g *groupFlag) Set(text string) error { return json.Unmarshal([]byte(text), &g.Group) }

type rootFlag struct{ *image.Root }

// String implements flag.Value.
func (r *rootFlag) String() string { return "" }

// Set implements flag.Value.
func (r *rootFlag) Set(text string) error { return json.Unmarshal([]byte(text), &r.Root) }

// RootArgs returns the arguments that let a keeper start an image's program in its sandbox.
func RootArgs(r image.Root) ([]string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a root file system: %w", err)
	}
	return []string{"--root", string(text)}, nil
}

// GroupArgs returns the arguments that pass a cgroup to a helper; empty if there is none.
func GroupArgs(name string, g *cgroup.Group) []string {
	if g == nil {
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return nil // A group holds only what JSON can encode.
	}
	return []string{"--" + name, string(text)}
}
