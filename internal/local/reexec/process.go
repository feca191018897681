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
	// endLimit is how long a child may take to end once its standard input has ended.
	endLimit = 3 * time.Second
	// answerLimit is how long an agent may take to answer: a check sends real requests with limits of their own.
	answerLimit = 30 * time.Second
)

// Process is this program again, as an agent or as a keeper, until its standard input ends.
type Process struct {
	// Cmd is the process, In its standard input, and Out the reading end of its standard output.
	Cmd *exec.Cmd
	In  io.WriteCloser
	Out *os.File
	// ended is closed when the process has ended.
	ended chan struct{}
}

// heldDescriptor is the number under which a child has what it holds for its run.
const heldDescriptor = 3

// Start starts this program again on some CPUs. What it prints as errors goes to log, and it holds held until it ends. The calling goroutine
// must have its thread to itself, and keep it for as long as children run: agents die with it.
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
		_ = cmd.Wait() // How it ended is told by its ProcessState.
		close(c.ended)
	}()
	return c, nil
}

// startOn starts a command on some CPUs: a process inherits those of the thread that starts it.
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

// Exchange sends a line and reads the answer to it. It is false if the process has ended, or does not answer.
func (c *Process) Exchange(line []byte, answer any) bool {
	_, err := c.In.Write(line)
	return err == nil && c.Out.SetReadDeadline(time.Now().Add(answerLimit)) == nil && json.NewDecoder(c.Out).Decode(answer) == nil
}

// End ends the process and waits for it. It may be called twice.
func (c *Process) End() {
	_ = c.In.Close()    // It is closed already where the process has ended.
	defer c.Out.Close() //nolint:errcheck // It was only read.
	select {
	case <-c.ended:
	case <-time.After(endLimit):
		_ = syscall.Kill(-c.Cmd.Process.Pid, syscall.SIGKILL) // An error means that it has ended by itself.
		<-c.ended
	}
}

// contain enters a root file system and becomes its program. Without one it only tries whether this machine permits that.
func contain(ctx context.Context, args []string, errs io.Writer) (int, error) {
	// What is taken from this thread is taken from what it starts.
	runtime.LockOSThread()
	if len(args) == 0 {
		err := image.Private()
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

// statusOf is the status with which a part of a run ends.
func statusOf(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

// groupFlag is a cgroup in the arguments of a helper; nil if it was not given.
type groupFlag struct{ *cgroup.Group }

// String implements flag.Value.
func (g *groupFlag) String() string { return "" }

// Set implements flag.Value.
func (g *groupFlag) Set(text string) error { return json.Unmarshal([]byte(text), &g.Group) }

// GroupArgs are the arguments with which a helper is told of a cgroup; empty if there is none.
func GroupArgs(name string, g *cgroup.Group) []string {
	if g == nil {
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return nil // A group holds nothing that JSON cannot.
	}
	return []string{"--" + name, string(text)}
}
