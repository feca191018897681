package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// ToolCPU and ServerCPU keep load generators and servers apart. BothCPUs is for what has threads of its own.
	ToolCPU, ServerCPU, BothCPUs = "0", "1", "0-1"
	// Patience is how long a server may take to listen or to end, and a tool to end beyond its time.
	Patience = 10 * time.Second
	// drained is how long pipes may stay open after a child has ended, in case that one of its own children holds them.
	drained = time.Second
)

// Child is a process of this program's on some CPUs, in a process group of its own.
type Child struct {
	cmd         *exec.Cmd
	name        string
	out, stderr bytes.Buffer
	ended       chan struct{}
	err         error
}

// Start runs an argument vector in a folder. The child and its own children are killed when ctx ends.
func Start(ctx context.Context, dir, cpus string, args []string) (*Child, error) {
	return start(ctx, dir, cpus, args, syscall.SIGKILL)
}

// start lets a child have a signal when this program dies without having ended it.
func start(ctx context.Context, dir, cpus string, args []string, orphaned syscall.Signal) (*Child, error) {
	c := &Child{name: args[0], ended: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, "taskset", append([]string{"--cpu-list", cpus}, args...)...)
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, &c.out, &c.stderr
	// What programs write for a while lies in the folder that is removed in the end.
	c.cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: orphaned, Setpgid: true}
	c.cmd.Cancel, c.cmd.WaitDelay = c.kill, drained
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %q: %w", args, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// Pid is the number of the process: taskset becomes what it starts.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Signal sends a signal to the process, but not to its children.
func (c *Child) Signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

// Wait waits until the child has ended by itself, and kills it if it has not within a time. The error has what it complained of.
func (c *Child) Wait(within time.Duration) error {
	select {
	case <-c.ended:
	case <-time.After(within):
		c.End()
		return fmt.Errorf("running %s: it had not ended after %s: %s", c.name, within, c.said())
	}
	if c.err != nil {
		return fmt.Errorf("running %s: %w: %s", c.name, c.err, c.said())
	}
	return nil
}

// Out is what a child that has ended wrote to its standard output.
func (c *Child) Out() []byte { return c.out.Bytes() }

// said is the end of what a child that has ended wrote, errors last, in one line of a message.
func (c *Child) said() string {
	const enough = 300
	text := bytes.Join(bytes.Fields(append(c.out.Bytes(), c.stderr.Bytes()...)), []byte(" "))
	return string(text[max(len(text)-enough, 0):])
}

func (c *Child) kill() error {
	err := syscall.Kill(-c.Pid(), syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// End kills a child with its own children and waits for it. It may be called twice.
func (c *Child) End() {
	select {
	case <-c.ended:
	default:
		_ = c.kill() // An error means that it has ended by itself.
		<-c.ended
	}
}
