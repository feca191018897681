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
	PID int
	// In writes to its standard input, Out reads its standard output.
	In, Out *os.File
	// Exit is set by End.
	Exit  Exit
	ended chan struct{}
}

// Exit is a process's end.
type Exit struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

// Child says how this program is started again.
type Child struct {
	Args []string `json:"args"`
	CPUs []int    `json:"cpus"`
	// Orphaned is its signal when the starting thread ends; 0 for none.
	Orphaned syscall.Signal `json:"orphaned"`
}

// heldDescriptor is the child's descriptor of the file held for its run.
const heldDescriptor = 3

// Start starts this program again, in the network if it is not nil. Errors go to log, and the child holds held until it ends. The goroutine must
// be locked to its thread while children run: agents die with the thread.
func Start(n *Network, c Child, log, held *os.File) (*Process, error) {
	read, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], err)
	}
	out, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], errors.Join(err, read.Close(), in.Close()))
	}
	files := []*os.File{read, write, log}
	if held != nil {
		files = append(files, held)
	}
	begin := Child.begin
	if n != nil {
		begin = n.begin
	}
	p := &Process{In: in, Out: out, ended: make(chan struct{})}
	var wait func() Exit
	p.PID, wait, err = begin(c, files)
	if err = errors.Join(err, read.Close(), write.Close()); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], errors.Join(err, in.Close(), out.Close()))
	}
	go func() {
		p.Exit = wait()
		close(p.ended)
	}()
	return p, nil
}

func (c Child) begin(files []*os.File) (pid int, wait func() Exit, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(self, c.Args...) //nolint:noctx // It ends with its standard input.
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = files[0], files[1], files[2], files[3:]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: c.Orphaned}
	if err := startOn(cmd, c.CPUs); err != nil {
		return 0, nil, err
	}
	return cmd.Process.Pid, func() Exit {
		_ = cmd.Wait() // ProcessState has the result.
		return Exit{Code: cmd.ProcessState.ExitCode(), Text: cmd.ProcessState.String()}
	}, nil
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
	_ = c.In.Close()    // It may be closed already.
	defer c.Out.Close() //nolint:errcheck // It was only read.
	select {
	case <-c.ended:
	case <-time.After(endLimit):
		_ = syscall.Kill(-c.PID, syscall.SIGKILL) // An error means that it has ended.
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
