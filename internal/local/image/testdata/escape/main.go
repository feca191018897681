// Command escape tries to leave the image that it runs in, and reports what it could do.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// target is what there is outside of the image.
type target struct {
	PID                  int
	File, Socket, Listen string
	Key                  int
	Forks                int
	// Inherited is a descriptor of this machine's root folder, which a caller of Loadstone has left open.
	Inherited int
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "mount" {
		if err := unix.Mount("none", "/tmp", "tmpfs", 0, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	runtime.LockOSThread()
	var t target
	if err := json.Unmarshal([]byte(os.Args[1]), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	did := map[string]string{}
	try := func(name string, err error) {
		did[name] = "done"
		if err != nil {
			did[name] = err.Error()
		}
	}
	t.files(did, try)
	_, inherited := unix.Openat(t.Inherited, "etc", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	try("use an inherited descriptor", inherited)
	t.calls(try)
	t.network(try)
	did["processes"] = processes()
	did["forks"] = fmt.Sprint(forks(t.Forks))
	try("signal", unix.Kill(t.PID, 0))
	try("kill", unix.Kill(t.PID, unix.SIGKILL))
	_ = json.NewEncoder(os.Stdout).Encode(did)
}

func (t target) files(did map[string]string, try func(string, error)) {
	outside := fmt.Sprintf("/proc/%d", t.PID)
	_, err := os.Stat(outside)
	try("see", err)
	_, err = os.ReadFile(outside + "/root" + t.File)
	try("read", err)
	_, err = os.ReadFile(t.File)
	try("read by path", err)
	f, err := os.OpenFile(outside+"/root"+t.File, os.O_WRONLY, 0)
	if err == nil {
		err = f.Close()
	}
	try("write", err)
	_, err = os.ReadFile(outside + "/environ")
	try("environ", err)
	_, err = os.ReadFile("/private")
	try("own file", err)
	_, err = os.ReadFile("/sys/devices/system/cpu/online")
	try("read /sys", err)
	_, err = os.ReadFile("/proc/cpuinfo")
	try("read /proc", err)
	_, err = os.OpenFile("/proc/sys/kernel/hostname", os.O_WRONLY, 0)
	try("write /proc/sys", err)
	text, err := os.ReadFile("/proc/1/environ")
	did["variables"] = strings.Trim(string(text), "\x00")
	try("variables of process 1", err)
}

func (t target) calls(try func(string, error)) {
	const seize = 0x4206
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, seize, uintptr(t.PID), 0, 0, 0, 0)
	try("ptrace", errorOf(e))
	none := ^uintptr(0)
	for name, call := range map[string]uintptr{
		"setns": unix.SYS_SETNS, "unshare": unix.SYS_UNSHARE, "bpf": unix.SYS_BPF, "keyctl": unix.SYS_KEYCTL,
		"io_uring": unix.SYS_IO_URING_SETUP, "userfaultfd": unix.SYS_USERFAULTFD, "perf": unix.SYS_PERF_EVENT_OPEN, "clone3": unix.SYS_CLONE3,
	} {
		_, _, e := unix.RawSyscall6(call, none, none, none, none, none, none)
		try(name, errorOf(e))
	}
	_, _, e = unix.Syscall(unix.SYS_SHMGET, uintptr(t.Key), 0, 0)
	try("shared memory", errorOf(e))
	cmd := exec.Command(os.Args[0], "mount")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	try("mount", cmd.Run())
}

func (t target) network(try func(string, error)) {
	for name, address := range map[string][2]string{"loopback": {"tcp", t.Listen}, "abstract socket": {"unix", t.Socket}} {
		c, err := net.Dial(address[0], address[1])
		if err == nil {
			_, err = c.Read(make([]byte, 1))
		}
		try(name, err)
	}
}

func errorOf(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

func processes() string {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for i, p := range all {
		all[i] = filepath.Base(p)
	}
	return strings.Join(all, " ")
}

// forks starts processes that wait, until it may start no more, and returns their number.
func forks(most int) int {
	// A collection of garbage may start a thread, which would end this process.
	debug.SetGCPercent(-1)
	var all []int
	for len(all) < most {
		pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e != 0 {
			break
		}
		for pid == 0 {
			unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
		all = append(all, int(pid))
	}
	for _, pid := range all {
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}
	return len(all)
}
