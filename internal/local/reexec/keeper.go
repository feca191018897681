package reexec

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/local/image"
)

const (
	// termLimit bounds an implementation's end after a stop signal; then it is killed.
	termLimit  = time.Second
	sweepPause = 5 * time.Millisecond
)

// Note is a keeper's message: whether the implementation was started, and later how it ended.
type Note struct {
	// PID is the implementation's; 0 if it was not started.
	PID int `json:"pid,omitempty"`
	// Failed says why it was not started.
	Failed      string      `json:"failed,omitempty"`
	Exited      *keeperExit `json:"exited,omitempty"`
	OutOfMemory bool        `json:"outOfMemory,omitempty"`
}

type keeperExit struct {
	Code   int32  `json:"code"`
	Reason string `json:"reason"`
}

// keep runs an implementation until in ends, then ends it with all its children.
func keep(args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet(KeeperCommand, flag.ContinueOnError)
	cpus := f.String("cpus", "", "the CPUs of the implementation")
	dir := f.String("dir", "", "its working directory")
	log := f.String("log", "", "the file for its output")
	stop := f.String("stop-signal", "", "the signal that tells the implementation to end")
	var root rootFlag
	f.Var(&root, "root", "the image whose program the implementation is, instead of a command")
	var env []string
	f.Func("env", "a variable of its environment", func(v string) error {
		env = append(env, v)
		return nil
	})
	var group groupFlag
	f.Var(&group, "cgroup", "the cgroup of the implementation, if it has one of its own")
	if err := f.Parse(args); err != nil || (f.NArg() == 0) == (root.Root == nil) {
		return usageError(KeeperCommand)
	}
	// The implementation dies with this thread, and its orphans become this process's children.
	runtime.LockOSThread()
	if err := errors.Join(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), kernel.RaiseDescriptors()); err != nil {
		return fmt.Errorf("keeping an implementation: %w", err)
	}
	notes := json.NewEncoder(out)
	// No other process may remain to remove it.
	defer group.RemoveAll()
	cmd, err := startKept(startSpec{f.Args(), env, *dir, *log, util.ParseCPUs(*cpus), root.Root}, group.Group)
	if err != nil {
		return notes.Encode(Note{Failed: err.Error()})
	}
	defer endDescendants()
	if err := notes.Encode(Note{PID: cmd.Process.Pid}); err != nil {
		return err
	}
	exited, over := make(chan syscall.WaitStatus, 1), make(chan struct{})
	go reap(cmd.Process.Pid, exited)
	go func() {
		_, _ = io.Copy(io.Discard, in) // In any case the run is over.
		close(over)
	}()
	select {
	case status := <-exited:
		err := notes.Encode(Note{Exited: exitOf(status), OutOfMemory: group.Group != nil && group.OutOfMemory()})
		<-over
		return err
	case <-over:
	}
	end(cmd, launch.StopSignal(*stop), exited)
	return nil
}

// reap waits for all children, orphans included, and sends how the implementation ended. The kernel adds the CPU time of each to this process's.
func reap(implementation int, exited chan<- syscall.WaitStatus) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // No child is left.
		case pid == implementation:
			exited <- status
		}
	}
}

// end sends the stop signal, and kills the implementation if it does not end.
func end(cmd *exec.Cmd, stop syscall.Signal, exited <-chan syscall.WaitStatus) {
	_ = syscall.Kill(-cmd.Process.Pid, stop) // It may have ended meanwhile.
	select {
	case <-exited:
	case <-time.After(termLimit):
		_ = cmd.Process.Kill()
		<-exited
	}
}

type startSpec struct {
	command  []string
	env      []string
	dir, log string
	cpus     []int
	// root replaces command, env and dir.
	root *image.Root
}

func (k startSpec) cmd() (*exec.Cmd, error) {
	if k.root != nil {
		return k.root.Command()
	}
	cmd := exec.Command(k.command[0], k.command[1:]...) //nolint:noctx // Its end is the keeper's work.
	cmd.Dir, cmd.Env, cmd.SysProcAttr = k.dir, append(os.Environ(), k.env...), &syscall.SysProcAttr{}
	return cmd, nil
}

// startKept starts an implementation in its own process group and cgroup, if any.
func startKept(k startSpec, group *cgroup.Group) (*exec.Cmd, error) {
	output, err := os.Create(k.log)
	if err != nil {
		return nil, err
	}
	defer output.Close() //nolint:errcheck // The implementation has a descriptor of its own.
	cmd, err := k.cmd()
	if err != nil {
		return nil, err
	}
	defer image.Close(cmd)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	if group == nil {
		return cmd, startOn(cmd, k.cpus)
	}
	// A process starts in its parent's cgroup.
	return cmd, group.Within(func() error { return startOn(cmd, k.cpus) })
}

func exitOf(status syscall.WaitStatus) *keeperExit {
	e := &keeperExit{Code: int32(status.ExitStatus()), Reason: "Error"}
	switch {
	case status.Signaled():
		// As the kubelet reports it: 128 plus the signal number.
		e.Code, e.Reason = 128+int32(status.Signal()), status.Signal().String()
	case status.ExitStatus() == 0:
		e.Reason = "Completed"
	}
	return e
}

// endDescendants kills all descendants and returns when none is left.
func endDescendants() {
	for {
		all, err := kernel.Proc("/proc").Processes()
		if err != nil {
			return
		}
		for _, pid := range kernel.Family(all, os.Getpid())[1:] {
			_ = syscall.Kill(pid, syscall.SIGKILL) // It may have ended meanwhile.
		}
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				return
			}
			if pid <= 0 {
				break
			}
		}
		time.Sleep(sweepPause)
	}
}
