package observe

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

// helperWork makes the test binary a server that works for each line of its input, in the way of the variable helperMode.
const (
	helperWork = "work"
	helperMode = "LOADSTONE_TEST_MODE"
	workNanos  = 100_000_000
)

func workWhenTold() {
	mode := os.Getenv(helperMode)
	switch mode {
	case "once":
		work()
		fmt.Println("done")
		return
	case "parent":
		again("once", nil, true)
		return
	case "detached":
		again("once", os.Stdout, false)
		return
	case "start daemon":
		again("plain", os.Stdout, false)
		return
	case "daemon":
		again("start daemon", os.Stdout, true)
		time.Sleep(time.Hour) // The test ends it.
		return
	case "ignore":
		signal.Ignore(syscall.SIGCHLD)
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch mode {
		case "plain":
			work()
		case "child", "ignore":
			again("once", nil, true)
		case "grandchild":
			again("parent", nil, true)
		case "orphan":
			again("detached", os.Stdout, true)
			continue // The orphan says when it is done.
		}
		fmt.Println("done")
	}
}

func work() {
	for began, now := own(), own(); now-began < workNanos; {
		now = own()
	}
}

func own() int64 {
	nanos, err := kernel.OwnCPUNanos()
	if err != nil {
		panic(err)
	}
	return nanos
}

func again(mode string, out io.Writer, wait bool) {
	cmd := exec.Command(os.Args[0]) //nolint:noctx // The test ends it.
	cmd.Env = append(os.Environ(), helperMode+"="+mode)
	cmd.Stdin, cmd.Stdout, cmd.SysProcAttr = os.Stdin, out, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if wait {
		_ = cmd.Wait() // The kernel may have forgotten the child.
	}
}

func TestCPUTimeOfAServerIncludesItsDescendants(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
	for mode, lost := range map[string]bool{"plain": false, "child": false, "grandchild": false, "daemon": false, "orphan": false, "ignore": true} {
		t.Run(mode, func(t *testing.T) {
			server := exec.CommandContext(t.Context(), os.Args[0])
			server.Env = append(os.Environ(), helperServer+"="+helperWork, helperMode+"="+mode)
			in, errIn := server.StdinPipe()
			out, errOut := server.StdoutPipe()
			if errIn != nil || errOut != nil || server.Start() != nil {
				t.Fatal(errIn, errOut)
			}
			lines := bufio.NewScanner(out)
			until := func(want string) {
				t.Helper()
				for lines.Scan() {
					if lines.Text() == want {
						return
					}
				}
				t.Fatalf("it ended without %q", want)
			}
			until("ready")
			s, err := openServer("/proc", server.Process.Pid, Config{Keeper: os.Getpid()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				s.close()
				pids, err := s.tree.pids()
				for _, pid := range pids {
					_ = syscall.Kill(pid, syscall.SIGKILL) // It may have ended.
				}
				if err != nil || server.Wait() == nil {
					t.Errorf("it ended by itself: %v", err)
				}
			})
			before, err := s.cpuNanos()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, "work\n"); err != nil {
				t.Fatal(err)
			}
			until("done")
			after, err := s.cpuNanos()
			t.Logf("counted %d ms of %d", (after-before)/1_000_000, workNanos/1_000_000)
			// The time of ended children is cut to ticks of 10 ms, twice.
			if found := after - before; err != nil || (found >= workNanos-2*countSlack) == lost {
				t.Errorf("it used %d ns of %d, %v", found, workNanos, err)
			}
			var cell record.CellObservation
			s.lookInside(&cell, false)
			if said := strings.Join(cell.CPUUncounted, "\n"); strings.Contains(said, "ignores SIGCHLD") != lost || !lost && said != "" {
				t.Errorf("it says %q", said)
			}
		})
	}
}

func TestAPodWhoseCgroupIsClosedCountsNoStrays(t *testing.T) {
	s, _ := fakeServer(t, map[string]string{"9/stat": stat("9", "1", "500", "0")})
	var cell record.CellObservation
	s.lookInside(&cell, true)
	if len(cell.CPUUncounted) != 1 || !strings.Contains(cell.CPUUncounted[0], "left the process tree") {
		t.Errorf("it says %q", cell.CPUUncounted)
	}
}
