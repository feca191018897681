package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ContainCommand is this program's first argument when it is started in a sandbox. Root.Command adds the root file system to enter. Without
// it, the process calls Hold.
const ContainCommand = "local-contain"

// namespaces are a sandbox's own. The network is this machine's: load generators reach a server by its loopback.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// self is this program. Users of the sandbox may not enter its folder.
const self = "/proc/self/exe"

// holdLimit bounds the life of a process that only holds a sandbox.
const holdLimit = 30 * time.Second

// Isolate makes a command start as root of a new sandbox. users is as in Root.
func Isolate(a *syscall.SysProcAttr, users int) {
	a.Cloneflags |= namespaces
	if users == 0 {
		a.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
		return
	}
	own := []syscall.SysProcIDMap{{HostID: users, Size: UserCount}}
	a.UidMappings, a.GidMappings, a.GidMappingsEnableSetgroups = own, own, true
	a.Credential = &syscall.Credential{}
}

// Command returns this program as the process that enters the root file system and becomes its program, or that program's parent. The caller
// must call Close with it after its start.
func (r Root) Command() (*exec.Cmd, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a root file system: %w", err)
	}
	trees, err := r.openMapped()
	if err != nil {
		return nil, err
	}
	cmd := contained(context.Background(), string(text))
	cmd.ExtraFiles = trees
	Isolate(cmd.SysProcAttr, r.Users)
	return cmd, nil
}

// Close closes the files that a command of Root.Command passes on.
func Close(cmd *exec.Cmd) { closeAll(cmd.ExtraFiles) }

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // Nothing was written.
	}
}

// contained has neither the variables nor the working directory of this process.
func contained(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, self, append([]string{ContainCommand}, args...)...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, &syscall.SysProcAttr{}
	return cmd
}

// Permitted returns why this machine permits no sandbox, or nil. users is as in Root.
func Permitted(users int) error { return hold(users, func(int) error { return nil }) }

// Check returns why the root file system cannot be mounted in a sandbox, or nil.
func (r Root) Check() error {
	trees, err := r.openMapped()
	closeAll(trees)
	return err
}

// hold calls do with the process ID of a process in a sandbox.
func hold(users int, do func(pid int) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), holdLimit)
	defer cancel()
	cmd := contained(ctx)
	Isolate(cmd.SysProcAttr, users)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("making a sandbox: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("making a sandbox: %w", err)
	}
	err = do(cmd.Process.Pid)
	_ = in.Close() // It is closed already if the process has ended.
	if ended := cmd.Wait(); ended != nil {
		return fmt.Errorf("making a sandbox: %w: %s", ended, strings.TrimSpace(said.String()))
	}
	return err
}

// Hold sets up what a sandbox needs from the kernel, and returns when in ends. The first missing permission is the error.
func Hold(in io.Reader) error {
	runtime.LockOSThread()
	for _, step := range []func() error{private, func() error { return mountProc("/proc") }, dropCapabilities, func() error { return filterCalls(false) }} {
		if err := step(); err != nil {
			return err
		}
	}
	_, _ = io.Copy(io.Discard, in) // In any case it is over.
	return nil
}

// openMapped opens the folders as mounts whose files keep their owners in the sandbox: a file of this machine's user 1000 is one of the
// sandbox's user 1000. It returns none if the sandbox has this process's user; then the sandbox opens them.
func (r Root) openMapped() (trees []*os.File, err error) {
	if r.Users == 0 {
		return nil, nil
	}
	defer func() {
		if err != nil {
			closeAll(trees)
			trees = nil
		}
	}()
	err = hold(r.Users, func(pid int) error {
		users, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", pid))
		if err != nil {
			return fmt.Errorf("opening the users of a sandbox: %w", err)
		}
		defer users.Close() //nolint:errcheck // It was only held.
		trees, err = r.open(func(tree *os.File) error {
			attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(users.Fd())}
			if err := unix.MountSetattr(int(tree.Fd()), "", unix.AT_EMPTY_PATH, &attr); err != nil {
				return fmt.Errorf("its file system maps no users (%w): use a folder on ext4, xfs, btrfs or tmpfs", err)
			}
			return nil
		})
		return err
	})
	return trees, err
}

func (r Root) open(change func(*os.File) error) (trees []*os.File, err error) {
	folders := []string{r.Dir}
	if r.Exchange != "" {
		folders = append(folders, r.Exchange)
	}
	for _, dir := range folders {
		fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return trees, fmt.Errorf("opening the folder %s for an image: %w", dir, err)
		}
		tree := os.NewFile(uintptr(fd), dir)
		trees = append(trees, tree)
		if err := change(tree); err != nil {
			return trees, fmt.Errorf("opening the folder %s for an image: %w", dir, err)
		}
	}
	return trees, nil
}

// firstTree is the descriptor of the first mount that Command passes on.
const firstTree = 3

func (r Root) passed() []*os.File {
	trees := []*os.File{os.NewFile(firstTree, r.Dir)}
	if r.Exchange != "" {
		trees = append(trees, os.NewFile(firstTree+1, r.Exchange))
	}
	return trees
}

func (r Root) trees() ([]*os.File, error) {
	if r.Users != 0 {
		return r.passed(), nil
	}
	return r.open(func(*os.File) error { return nil })
}

func (r Root) attach() error {
	trees, err := r.trees()
	defer closeAll(trees)
	if err != nil {
		return err
	}
	for i, to := range []string{newRoot, newRoot + Exchange}[:len(trees)] {
		if err := unix.MoveMount(int(trees[i].Fd()), "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("mounting %s in the image: %w", trees[i].Name(), err)
		}
	}
	return nil
}

func mountProc(at string) error {
	if err := unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc of a process namespace: %w", err)
	}
	return nil
}

// limitProcesses bounds the sandbox's processes and threads. The kernel counts them by user and user namespace.
func (r Root) limitProcesses() error {
	if r.Processes == 0 {
		return errors.New("limiting the processes of the image: no limit is given")
	}
	var now unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NPROC, &now)
	if err == nil {
		most := min(r.Processes, now.Max)
		err = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most})
	}
	if err != nil {
		return fmt.Errorf("limiting the processes of the image: %w", err)
	}
	return nil
}
