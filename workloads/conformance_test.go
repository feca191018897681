package workloads_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/workloads/conformance"
)

const patience = 15 * time.Minute

type workload struct {
	address string
	cmd     *exec.Cmd
	log     *strings.Builder
}

// lacks skips a test with the reason. In CI it fails: hack/test.sh installs everything.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Log(what)
}

// builds builds all servers with available compilers, and returns paths by name.
func builds(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*patience) // Zig takes 15 minutes on half a busy CPU.
		defer cancel()
		command := exec.CommandContext(ctx, args[0], args[1:]...)
		command.WaitDelay = time.Second // A compiler started by make may live on and hold the output.
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("running %q: %v\n%s", args, err, out)
		}
	}
	programs := map[string]string{"gohttp": filepath.Join(dir, "gohttp"), "gnet": filepath.Join(dir, "gnet"), "faulty": filepath.Join(dir, "faulty")}
	run("go", "build", "-o", dir, "./gohttp", "./gnet", "./faulty")
	if _, err := exec.LookPath("cc"); err == nil {
		programs["epoll"] = filepath.Join(dir, "epoll")
		run("make", "-s", "-C", "epoll", "epoll-asan", "OUT="+programs["epoll"])
		programs["planted"] = filepath.Join(dir, "planted-asan")
		run("make", "-s", "-C", "planted", "asan", "OUT="+dir)
	} else {
		lacks(t, "there is no C compiler: epoll and planted are not tested")
	}
	if exec.CommandContext(t.Context(), "pkg-config", "--exists", "libuv", "libxxhash").Run() == nil {
		programs["uvhttp"] = filepath.Join(dir, "uvhttp-asan")
		run("make", "-s", "-C", "uvhttp", "asan", "OUT="+dir)
	} else {
		lacks(t, "libuv and xxHash are not there, as far as pkg-config knows: uvhttp is not tested")
	}
	if haveUring(t) {
		programs["uring"] = filepath.Join(dir, "uring-asan")
		run("make", "-s", "-C", "uring", "asan", "OUT="+dir)
	}
	if zig := findZig(); zig != "" {
		programs["zco"] = filepath.Join(dir, "zco")
		programs["zco-tsan"] = filepath.Join(dir, "zco-tsan")
		run("make", "-s", "-C", "zco", "ZIG="+zig, "ZIG_CACHE="+zigCache(dir), "OUT="+dir, programs["zco"], programs["zco-tsan"])
	} else {
		lacks(t, "there is no Zig: zco is not tested")
	}
	return programs
}

func haveUring(t *testing.T) bool {
	t.Helper()
	if exec.CommandContext(t.Context(), "pkg-config", "--exists", "liburing").Run() != nil {
		lacks(t, "liburing is not there, as far as pkg-config knows: uring is not tested")
		return false
	}
	if err := uringRefused(); err != nil {
		t.Logf("the kernel refuses io_uring (%v): uring is not tested", err)
		return false
	}
	return true
}

// uringRefused returns why this machine lacks io_uring, or nil.
func uringRefused() error {
	if _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 0, 0, 0); errno == unix.EPERM || errno == unix.ENOSYS {
		return errno
	}
	return nil
}

func findZig() string {
	for _, program := range []string{"zig", filepath.Join(os.Getenv("HOME"), ".cache/loadstone/bin/zig")} {
		if path, err := exec.LookPath(program); err == nil {
			return path
		}
	}
	return ""
}

// zigCache returns Zig's cache: with the project's tools, or otherwise if there is no home.
func zigCache(otherwise string) string {
	if dir := os.Getenv("LOADSTONE_CACHE"); dir != "" {
		return filepath.Join(dir, "zig-cache")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return otherwise
	}
	return filepath.Join(home, ".cache/loadstone/zig-cache")
}

// reserve returns a port reserved until the test ends: a bound socket that does not listen. Only servers that use SO_REUSEADDR can take it.
func reserve(t *testing.T) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return address.(*unix.SockaddrInet4).Port
}

func start(t *testing.T, program string, args ...string) *workload {
	t.Helper()
	port := strconv.Itoa(reserve(t))
	address := net.JoinHostPort("127.0.0.1", port)
	w := &workload{address: address, log: &strings.Builder{}}
	w.cmd = exec.CommandContext(t.Context(), program, append(args, "--port="+port)...)
	w.cmd.Stdout, w.cmd.Stderr = w.log, w.log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return w
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen: %v", program, err)
		}
	}
}

// stop ends a server with SIGTERM and checks its exit, which sanitizer findings make fail.
func (w *workload) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("sending SIGTERM: %v", err)
	}
	hung := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
	defer hung.Stop()
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("the server ended badly: %v\n%s", err, w.log)
	}
}

type way struct {
	path  string
	flags []string
}

func ways(t *testing.T) map[string]way {
	t.Helper()
	all := map[string]way{}
	for program, path := range builds(t) {
		all[program] = way{path: path}
	}
	if tsan, ok := all["zco-tsan"]; ok {
		all["zco-tsan"] = way{tsan.path, []string{"--threads=3"}}
	}
	if zco, ok := all["zco"]; ok {
		all["zco with several threads"] = way{zco.path, []string{"--threads=3"}}
		// A worker serves one connection at a time, and conformance has over 400.
		all["zco with workers"] = way{zco.path, []string{"--workers=500"}}
		if err := uringRefused(); err != nil {
			t.Logf("the kernel refuses io_uring (%v): zco is not tested with it", err)
		} else {
			all["zco with io_uring"] = way{zco.path, []string{"--backend=io_uring"}}
		}
	}
	return all
}

func TestConformance(t *testing.T) {
	all := ways(t)
	for name, w := range all {
		t.Run(name, func(t *testing.T) {
			server := start(t, w.path, w.flags...)
			defer server.stop(t)
			conformance.Check(t, server.address)
		})
	}
	t.Run("late clients", func(t *testing.T) { timeouts(t, all) })
}

func timeouts(t *testing.T, all map[string]way) {
	t.Helper()
	// Servers with planted faults have no timeouts.
	addresses := map[string]string{}
	for name, w := range all {
		if name == "faulty" {
			continue
		}
		server := start(t, w.path, w.flags...)
		defer server.stop(t)
		addresses[name] = server.address
	}
	conformance.CheckTimeouts(t, addresses)
}
