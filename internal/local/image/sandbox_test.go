package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// someone is a user of this machine without an account.
const someone = 12345

const (
	mostForks    = 200
	mostInImage  = 64
	refusedCall  = "operation not permitted"
	unknownCall  = "function not implemented"
	noSuchFile   = "no such file or directory"
	noSuchVictim = "no such process"
)

// leaders are those who start an image, and as whom its program runs. The victim outside of the image has the program's user ID.
var leaders = map[string]struct{ leader, program, victim int }{
	"root, with a user of the image":  {0, someone, someone},
	"root, with the root of an image": {0, 0, 0},
	"another user":                    {someone, 0, someone},
}

// attempts are the outcomes of escape by leader.
var attempts = map[string]map[string]string{}

// escaped runs the test for what a program could do, by each leader.
func escaped(t *testing.T, check func(t *testing.T, leader int, did map[string]string)) {
	t.Helper()
	cases := leaders
	if own := os.Getuid(); !ChangesUser() {
		cases = map[string]struct{ leader, program, victim int }{"this user": {own, 0, own}}
	}
	for name, who := range cases {
		t.Run(name, func(t *testing.T) {
			permitted(t, who.leader)
			if attempts[name] == nil {
				attempts[name] = escape(t, who.leader, who.program, who.victim)
			}
			check(t, who.leader, attempts[name])
		})
	}
}

func escape(t *testing.T, leader, program, victim int) map[string]string {
	t.Helper()
	dir := built(t, "escape")
	if err := os.WriteFile(filepath.Join(dir, "private"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	give(t, max(leader, program), filepath.Join(dir, "private"))
	file := secret(t, victim)
	outside := exec.CommandContext(t.Context(), "sleep", "1000")
	outside.Env = []string{"SECRET_TOKEN=abc"}
	outside.SysProcAttr = as(victim)
	if err := outside.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = outside.Process.Kill() // It may have ended.
		_ = outside.Wait()         // Its end is an error.
	})
	users := make(chan uint32, 1)
	text, err := json.Marshal(map[string]any{
		"PID": outside.Process.Pid, "File": file, "Listen": listen(t, "tcp", "127.0.0.1:0", nil), "Socket": listen(t, "unix", fmt.Sprintf("@loadstone-test-%d-%s", os.Getpid(), filepath.Base(dir)), users),
		"Key": sharedMemory(t), "Forks": mostForks, "Inherited": leftOpen(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	p := Process{Argv: []string{"/escape", string(text)}, Folder: "/", UID: program, GID: program}
	did, err := start(t, Root{Dir: dir, Process: p, Processes: mostInImage}, leader)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case uid := <-users:
		did["user outside"] = strconv.Itoa(int(uid))
	default:
	}
	return did
}

// leftOpen is a descriptor of the root folder that every program inherits, as of a shell that has opened one.
func leftOpen(t *testing.T) int {
	t.Helper()
	const descriptor = 200
	opened, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Dup3(opened, descriptor, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Close(opened); err != nil {
		t.Fatal(err)
	}
	return descriptor
}

// secret is a file that only a user can read.
func secret(t *testing.T, user int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loadstone-secret-*") //nolint:usetesting // The folder of a test can be entered by nobody else.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	give(t, user, dir, file)
	return file
}

// give makes a user the owner of files, if this is another user.
func give(t *testing.T, user int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if user == os.Getuid() {
			return
		}
		if err := os.Chown(path, user, user); err != nil {
			t.Fatal(err)
		}
	}
}

// as starts a process as a user, if this is another user.
func as(user int) *syscall.SysProcAttr {
	if user == os.Getuid() {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
}

// listen accepts connections and answers each with a byte. users gets the users of those of a Unix socket.
func listen(t *testing.T, network, address string, users chan<- uint32) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if own, ok := c.(*net.UnixConn); ok {
				users <- peer(own)
			}
			_, _ = c.Write([]byte{'.'}) // The program reports its failure.
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func peer(c *net.UnixConn) (uid uint32) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if own, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid = own.Uid
		}
	})
	return uid
}

// sharedMemory makes a System V segment that everybody on this machine can use, and returns its key.
func sharedMemory(t *testing.T) int {
	t.Helper()
	for key := os.Getpid(); ; key++ {
		id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		return key
	}
}

func expect(t *testing.T, did map[string]string, outcome string, what ...string) {
	t.Helper()
	for _, one := range what {
		if got, tried := did[one]; !tried || !strings.HasSuffix(got, outcome) {
			t.Errorf("%s: %q, want %q", one, got, outcome)
		}
	}
}

func TestSandboxHidesFilesOfThisMachine(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, noSuchFile, "read", "write", "environ", "read by path")
		expect(t, did, unix.EBADF.Error(), "use an inherited descriptor")
		expect(t, did, "done", "variables of process 1")
		if text := did["variables"]; strings.Contains(text, "PATH") {
			t.Errorf("the program has this machine's variables: %q", text)
		}
	})
}

func TestSandboxHidesOtherProcesses(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, noSuchFile, "see")
		if did["processes"] != "1" {
			t.Errorf("the program sees the processes %s", did["processes"])
		}
	})
}

func TestSandboxCannotSignalOtherProcesses(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, noSuchVictim, "signal", "kill")
	})
}

func TestSandboxCannotTraceProcesses(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, refusedCall, "ptrace")
	})
}

func TestSandboxCannotMountOrChangeNamespaces(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, refusedCall, "mount", "unshare", "setns")
		expect(t, did, unknownCall, "clone3")
	})
}

func TestSandboxRefusesKernelInterfaces(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, refusedCall, "bpf", "keyctl", "io_uring", "userfaultfd", "perf")
	})
}

func TestSandboxHasItsOwnSharedMemory(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, noSuchFile, "shared memory")
	})
}

func TestSandboxBoundsProcesses(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		if n, err := strconv.Atoi(did["forks"]); err != nil || n == 0 || n >= mostInImage {
			t.Errorf("the program starts %s processes, want fewer than %d", did["forks"], mostInImage)
		}
	})
}

// The files of the image keep their owners.
func TestSandboxUsersAreNobodyOutside(t *testing.T) {
	escaped(t, func(t *testing.T, leader int, did map[string]string) {
		t.Helper()
		expect(t, did, "done", "own file")
		uid, err := strconv.Atoi(did["user outside"])
		switch {
		case err != nil:
			t.Error(err)
		case leader == 0 && uid < firstUser:
			t.Errorf("root's program is user %d of this machine", uid)
		case leader != 0 && uid != leader:
			t.Errorf("the program of user %d is user %d of this machine", leader, uid)
		}
	})
}

func TestSandboxReadsKernelInformation(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, "done", "read /sys", "read /proc")
		expect(t, did, "permission denied", "write /proc/sys")
	})
}

// The load generators reach the server this way.
func TestSandboxReachesTheNetwork(t *testing.T) {
	escaped(t, func(t *testing.T, _ int, did map[string]string) {
		t.Helper()
		expect(t, did, "done", "loopback", "abstract socket")
	})
}

// Each call gets arguments that would fail otherwise.
func TestFilterRefusesEachSystemCall(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), self, "filter")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func callAll() error {
	if err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), filterCalls(false)); err != nil {
		return err
	}
	var passed []error
	none := ^uintptr(0)
	for _, call := range append(slices.Clone(refused), unix.SYS_PERF_EVENT_OPEN) {
		if _, _, e := unix.RawSyscall6(uintptr(call), none, none, none, none, none, none); e != unix.EPERM {
			passed = append(passed, fmt.Errorf("system call %d ends with %w", call, e))
		}
	}
	// The shared signal handlers need shared memory, so the kernel refuses this clone with EINVAL.
	if _, _, e := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_SIGHAND, 0, 0, 0, 0, 0); e != unix.EPERM {
		passed = append(passed, fmt.Errorf("clone with a new user namespace ends with %w", e))
	}
	return errors.Join(passed...)
}

func TestFilterLetsAProgramsParentCount(t *testing.T) {
	const arch = unix.AUDIT_ARCH_X86_64
	own := func(f unix.SockFilter) bool { return f.K == unix.SYS_PERF_EVENT_OPEN }
	if !slices.ContainsFunc(filter(arch, false), own) || slices.ContainsFunc(filter(arch, true), own) {
		t.Error("the counters of perf are not refused to programs alone")
	}
}

func TestImageIsNotEnteredOutsideOfASandbox(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), self, ContainCommand, "{}")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "this process is outside of a sandbox") {
		t.Errorf("it ends with %v: %s", err, out)
	}
}

// A user namespace can forbid more of them below it.
func TestSandboxThatIsNotPermittedIsAnError(t *testing.T) {
	permitted(t, os.Geteuid())
	cmd := exec.CommandContext(t.Context(), self, "unpermitted")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "making a sandbox: ") {
		t.Errorf("it ends with %v: %s", err, out)
	}
}

func askForSandbox() error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return err
	}
	return Permitted(0)
}

func TestFreeUsersAreThoseOfNobody(t *testing.T) {
	machine := func(change map[string]string) fstest.MapFS {
		files := fstest.MapFS{}
		whole := map[string]string{
			"proc/self/uid_map": "         0          0 4294967295\n", "proc/self/gid_map": "0 0 4294967295\n",
			"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/subuid": "somebody:100000:65536\n",
		}
		maps.Copy(whole, change)
		for name, text := range whole {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return files
	}
	for name, tc := range map[string]struct {
		change map[string]string
		want   int
	}{
		"nobody has high ones":            {nil, firstUser},
		"a process has them":              {map[string]string{"proc/17/status": "Name:\tserver\nUid:\t1879050192\t0\t0\t0\n"}, firstUser + UserCount},
		"a process is of their groups":    {map[string]string{"proc/17/status": "Groups:\t4 1879050192 \n"}, firstUser + UserCount},
		"an account has them":             {map[string]string{"etc/passwd": "web:x:1879048192:4::/:/bin/sh\n"}, firstUser + UserCount},
		"a group has them":                {map[string]string{"etc/group": "web:x:1879048192:\n"}, firstUser + UserCount},
		"they are somebody's for subuids": {map[string]string{"etc/subuid": "web:1879048192:131072\n"}, firstUser + 2*UserCount},
		"this namespace has few users":    {map[string]string{"proc/self/uid_map": "0 100000 65536\n"}, 0},
		"this namespace has few groups":   {map[string]string{"proc/self/gid_map": "0 100000 65536\n"}, 0},
	} {
		got, err := freeUsers(machine(tc.change))
		if got != tc.want || (err != nil) != (tc.want == 0) {
			t.Errorf("%s: %d, %v, want %d", name, got, err, tc.want)
		}
	}
}
