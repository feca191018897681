package reexec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/local/image"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
)

const (
	someone        = 12345
	reachCommand   = "reach"
	ownNetwork     = "own"
	machineNetwork = "machine"
	serverOfRun    = "tcp=127.0.0.1:8080"
	outside        = "tcp=192.0.2.1:80"
)

// reach starts an image that dials addresses. The arguments are the network, the image's folder and the addresses.
func reach(args []string, out io.Writer) (err error) {
	runtime.LockOSThread()
	users, err := image.FreeUsers()
	if err == nil {
		err = image.Permitted(users)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoSandbox, err)
	}
	var n *Network
	if args[0] == ownNetwork {
		if n, err = OpenNetwork(); err != nil {
			return err
		}
		defer n.End()
		server, err := startKeeper(n, os.DevNull, "--", "/proc/self/exe", ServerCommand, "--port", "8080")
		if err != nil {
			return err
		}
		defer server.End()
		for deadline := time.Now().Add(reexectest.Patience); !kernel.Proc(n.Proc()).Listening(8080); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				return errors.New("the server of the run does not listen")
			}
		}
	}
	root, err := RootArgs(image.Root{Dir: args[1], Process: image.Process{Argv: append([]string{"/reach"}, args[2:]...), Folder: "/"}, Users: users, Processes: 1000})
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "loadstone-reach-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // It is the test's.
	log := filepath.Join(folder, "log")
	p, err := startKeeper(n, log, root...)
	if err != nil {
		return err
	}
	defer p.End()
	said, err := written(p, log)
	if err == nil {
		_, err = out.Write(said)
	}
	return err
}

func written(keeper *Process, log string) ([]byte, error) {
	var started, ended Note
	notes := json.NewDecoder(keeper.Out)
	if err := errors.Join(notes.Decode(&started), notes.Decode(&ended)); err != nil || ended.Exited == nil {
		return nil, fmt.Errorf("it is %+v, %+v: %w", started, ended, err)
	}
	return os.ReadFile(log)
}

var errNoSandbox = errors.New("this machine permits no sandbox")

func startKeeper(n *Network, log string, args ...string) (*Process, error) {
	cpus := kernel.OwnCPUsAllowed()
	return Start(n, Child{Args: append([]string{KeeperCommand, "--cpus", cpus, "--log", log}, args...), CPUs: util.ParseCPUs(cpus)}, os.Stderr, nil)
}

// reachImage is an image of reach, with this program next to it.
func reachImage(t *testing.T) (dir, self string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "loadstone-reach-*") //nolint:usetesting // Another user cannot enter the folder of a test.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "reach"), "./testdata/reach")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v: %s", err, out)
	}
	for _, place := range append(image.MountFolders(), "etc") {
		if err := os.Mkdir(filepath.Join(dir, place), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("/proc/self/exe")
	self = filepath.Join(dir, "self")
	if err = errors.Join(err, os.WriteFile(self, text, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir, self
}

func listening(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return network + "=" + l.Addr().String()
}

func TestImageReachesOnlyItsRun(t *testing.T) {
	dir, self := reachImage(t)
	loopback := listening(t, "tcp", "127.0.0.1:0")
	abstract := listening(t, "unix", fmt.Sprintf("@loadstone-reach-%d", os.Getpid()))
	leaders := []int{os.Geteuid()}
	if image.ChangesUser() {
		leaders = append(leaders, someone)
	}
	for _, leader := range leaders {
		for network, want := range map[string]map[string]string{
			ownNetwork:     {loopback: "connection refused", abstract: "connection refused", outside: "network is unreachable", serverOfRun: "done"},
			machineNetwork: {loopback: "done", abstract: "done"},
		} {
			t.Run(fmt.Sprintf("user %d, network %s", leader, network), func(t *testing.T) {
				args := []string{reachCommand, network, dir}
				for address := range want {
					args = append(args, address)
				}
				cmd := exec.CommandContext(t.Context(), self, args...)
				cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{}
				if leader != os.Geteuid() {
					cmd.Env = []string{"TMPDIR=/tmp"}
					cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(leader), Gid: uint32(leader)}
				}
				out, err := cmd.Output()
				if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && strings.Contains(string(exit.Stderr), errNoSandbox.Error()) {
					t.Skipf("%s", exit.Stderr)
				} else if exit != nil {
					t.Fatalf("%v: %s", err, exit.Stderr)
				}
				did := map[string]string{}
				if err := json.Unmarshal(out, &did); err != nil {
					t.Fatalf("%v: %q", err, out)
				}
				for address, outcome := range want {
					if got := did[address]; !strings.HasSuffix(got, outcome) {
						t.Errorf("%s: %q, want %q", address, got, outcome)
					}
				}
			})
		}
	}
}

func opened(t *testing.T, settings []string) *Network {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	n, err := openNetwork(settings)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("this machine permits no network namespace: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.End)
	return n
}

func TestNetworkHasTheSettingsOfTheMachine(t *testing.T) {
	const setting = "ipv4/ip_local_port_range"
	n := opened(t, []string{setting + "=20000\t20099", "ipv4/of_no_kernel=1"})
	log := filepath.Join(t.TempDir(), "log")
	p, err := startKeeper(n, log, "--", "/bin/cat", filepath.Join(settingsFolder, setting))
	if err != nil {
		t.Fatal(err)
	}
	defer p.End()
	if said, err := written(p, log); err != nil || strings.TrimSpace(string(said)) != "20000\t20099" {
		t.Errorf("a program reads %q, %v", said, err)
	}
	if all := strings.Join(settings(), "\n"); !strings.Contains(all, setting+"=") {
		t.Errorf("the machine's settings are %s", all)
	}
}

func TestNetworkThatCannotBeSetUpIsAnError(t *testing.T) {
	opened(t, nil)
	n, err := openNetwork([]string{"core/somaxconn=many"})
	if n.End(); err == nil || !strings.Contains(err.Error(), `setting net/core/somaxconn to "many": `) {
		t.Errorf("it ends with %v", err)
	}
}

func TestAgentEndsWithItsNetwork(t *testing.T) {
	n := opened(t, nil)
	dir := t.TempDir()
	agent := Child{Args: []string{AgentCommand, "--trial", "one", "--member", "server-0", "--node", "here", "--dir", dir, "--", "observe", "--port=1"}, CPUs: reexectest.OwnCPUs(t), Orphaned: syscall.SIGKILL}
	p, err := Start(n, agent, os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.End()
	reexectest.Await(t, "the agent ended", func() bool { return errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) })
	p.End()
	if p.Exit.Code != -1 || !strings.HasPrefix(p.Exit.Text, "lost with the network") {
		t.Errorf("it ends with %+v", p.Exit)
	}
	if _, err := Start(n, agent, os.Stderr, nil); err == nil {
		t.Error("another one starts without a network")
	}
}

func TestNothingStartsInANetworkWithoutACPU(t *testing.T) {
	n := opened(t, nil)
	if _, err := Start(n, Child{Args: []string{AgentCommand}}, os.Stderr, nil); err == nil || !strings.Contains(err.Error(), "starting local-agent: setting its CPUs []") {
		t.Errorf("it ends with %v", err)
	}
}
