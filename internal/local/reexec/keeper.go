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
	// termLimit is how long an implementation may take to end when it is told to, before it is killed.
	termLimit = time.Second
	// sweepPause is the pause between two looks for processes that an implementation has left.
	sweepPause = 5 * time.Millisecond
)

// Note is what a keeper tells its run: that the implementation was started, or could not be, and later how it has ended.
type Note struct {
	// PID is that of the implementation; 0 if it was not started.
	PID int `json:"pid,omitempty"`
	// Failed says why it was not started.
	Failed string `json:"failed,omitempty"`
	// Exited is how it has ended.
	Exited *keeperExit `json:"exited,omitempty"`
	// OutOfMemory is true if its limit of memory has ended it.
	OutOfMemory bool `json:"outOfMemory,omitempty"`
}

type keeperExit struct {
	Code   int32  `json:"code"`
	Reason string `json:"reason"`
}

// keep runs an implementation until in ends, and then ends it with everything that it has started.
func keep(args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet(KeeperCommand, flag.ContinueOnError)
	cpus := f.String("cpus", "", "the CPUs of the implementation")
	dir := f.String("dir", "", "its working directory")
	log := f.String("log", "", "the file for its output")
	stop := f.String("stop-signal", "", "the signal that tells the implementation to end")
	contained := f.Bool("contained", false, "let the implementation begin in namespaces of its own")
	var env []string
	f.Func("env", "a variable of its environment", func(v string) error {
		env = append(env, v)
		return nil
	})
	var group groupFlag
	f.Var(&group, "cgroup", "the cgroup of the implementation, if it has one of its own")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return usageError(KeeperCommand)
	}
	// The implementation dies with this thread, and what it leaves behind becomes this process's.
	runtime.LockOSThread()
	if err := errors.Join(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), kernel.RaiseDescriptors()); err != nil {
		return fmt.Errorf("keeping %s: %w", f.Arg(0), err)
	}
	notes := json.NewEncoder(out)
	// Nobody else may be left to remove it.
	defer group.RemoveAll()
	cmd, err := startKept(startSpec{f.Args(), env, *dir, *log, util.ParseCPUs(*cpus), *contained}, group.Group)
	if err != nil {
		return notes.Encode(Note{Failed: err.Error()})
	}
	defer endDescendants()
	if err := notes.Encode(Note{PID: cmd.Process.Pid}); err != nil {
		return err
	}
	exited, over := make(chan struct{}), make(chan struct{})
	go func() {
		_ = cmd.Wait() // How it ended is told by its ProcessState.
		close(exited)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, in) // However it ends, the run is over.
		close(over)
	}()
	select {
	case <-exited:
		err := notes.Encode(Note{Exited: exitOf(cmd.ProcessState), OutOfMemory: group.Group != nil && group.OutOfMemory()})
		<-over
		return err
	case <-over:
	}
	end(cmd, launch.StopSignal(*stop), exited)
	return nil
}

// end tells an implementation to end, and kills it if it does not.
func end(cmd *exec.Cmd, stop syscall.Signal, exited <-chan struct{}) {
	_ = syscall.Kill(-cmd.Process.Pid, stop) // It may have ended meanwhile.
	select {
	case <-exited:
	case <-time.After(termLimit):
		_ = cmd.Process.Kill()
		<-exited
	}
}

// startSpec is what a keeper starts, and how.
type startSpec struct {
	command   []string
	env       []string
	dir, log  string
	cpus      []int
	contained bool
}

// startKept starts an implementation in a process group of its own, and in its cgroup, if it has one.
func startKept(k startSpec, group *cgroup.Group) (*exec.Cmd, error) {
	output, err := os.Create(k.log)
	if err != nil {
		return nil, err
	}
	defer output.Close()                                //nolint:errcheck // The implementation has a descriptor of its own.
	cmd := exec.Command(k.command[0], k.command[1:]...) //nolint:noctx // Its end is the keeper's work.
	cmd.Dir, cmd.Stdout, cmd.Stderr = k.dir, output, output
	cmd.Env = append(os.Environ(), k.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if k.contained {
		image.SetNamespaces(cmd.SysProcAttr)
	}
	if group == nil {
		return cmd, startOn(cmd, k.cpus)
	}
	// A process begins in the cgroup of the one that starts it.
	return cmd, group.Within(func() error { return startOn(cmd, k.cpus) })
}

func exitOf(s *os.ProcessState) *keeperExit {
	e := &keeperExit{Code: int32(s.ExitCode()), Reason: "Error"}
	status, ok := s.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled():
		// As the kubelet tells it: 128 and the signal's number.
		e.Code, e.Reason = 128+int32(status.Signal()), status.Signal().String()
	case s.Success():
		e.Reason = "Completed"
	}
	return e
}

// endDescendants kills everything that descends from this process, and returns when nothing does.
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
