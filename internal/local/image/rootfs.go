package image

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Root is a root file system, and the process to start in it.
type Root struct {
	Dir     string  `json:"dir"`
	Process Process `json:"process"`
	// Exchange is a host folder that the process sees as /.loadstone; empty for none. With it, the program's parent calls Enter.
	Exchange string `json:"exchange,omitempty"`
	// Users is the first of UserCount user and group IDs of this machine that are the sandbox's 0 and up. With 0, the sandbox has one user,
	// 0, which is this process's own user.
	Users int `json:"users,omitempty"`
	// Processes is the most processes and threads, at least 1.
	Processes uint64 `json:"processes"`
}

// Exchange is where a process sees its exchange.
const Exchange = "/" + ExchangeFolder

// ChangesUser reports whether processes can get their images' users.
func ChangesUser() bool { return os.Geteuid() == 0 }

// newRoot is where the image is mounted before it becomes the root. The folder exists on every machine.
const newRoot = "/tmp"

// inSandbox is an error if this process is not the first one of its process namespace: then Command has not started it.
func inSandbox() error {
	if os.Getpid() != 1 {
		return errors.New("entering an image: this process is outside of a sandbox")
	}
	return nil
}

// private keeps the sandbox's mounts from this machine.
func private() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	return nil
}

// closeInherited keeps the descriptors that this process has inherited from its program: one of a folder would lead out of the image.
func closeInherited() error {
	if err := unix.CloseRange(firstTree, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing inherited files for the image: %w", err)
	}
	return nil
}

// Enter switches this process, started by Command, to the root file system and to what its program may do. The goroutine must be locked to its
// thread and start the program from it.
func (r Root) Enter() error {
	for _, step := range []func() error{inSandbox, private, r.attach, mountOwn, protect, pivot, closeInherited, r.dropPrivileges} {
		if err := step(); err != nil {
			return err
		}
	}
	os.Clearenv()
	for _, e := range r.Process.Env {
		if key, value, found := cutOff(e); found {
			if err := os.Setenv(key, value); err != nil {
				return fmt.Errorf("setting the variable %s: %w", key, err)
			}
		}
	}
	if err := os.Chdir(r.Process.Folder); err != nil {
		return fmt.Errorf("changing to the working directory of the image: %w", err)
	}
	return nil
}

// Exec replaces this process with the program, after Enter.
func (r Root) Exec() error {
	argv := r.Process.Argv
	if err := syscall.Exec(argv[0], argv, os.Environ()); err != nil {
		return fmt.Errorf("starting %s in its image: %w", argv[0], err)
	}
	return nil
}

func pivot() error {
	err := os.Chdir(newRoot)
	if err == nil {
		err = unix.PivotRoot(".", ".")
	}
	if err == nil {
		err = unix.Unmount(".", unix.MNT_DETACH)
	}
	if err == nil {
		err = os.Chdir("/")
	}
	if err != nil {
		return fmt.Errorf("changing to the root file system of the image: %w", err)
	}
	return nil
}

func bind(from, to string, flags uintptr) error {
	target := filepath.Join(newRoot, to)
	if err := unix.Mount(from, target, "", unix.MS_BIND|flags, ""); err != nil {
		return fmt.Errorf("mounting %s in the image: %w", from, err)
	}
	return nil
}

// show mounts a host file read-only at its own path. Devices remain writable.
func show(name string) error {
	if err := bind("/"+name, name, 0); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(unix.AT_FDCWD, filepath.Join(newRoot, name), 0, &attr); err != nil {
		return fmt.Errorf("making /%s of the image read-only: %w", name, err)
	}
	return nil
}

func temporary(at, options string) error {
	if err := unix.Mount("tmpfs", filepath.Join(newRoot, at), "tmpfs", unix.MS_NOSUID, options); err != nil {
		return fmt.Errorf("making /%s in the image: %w", at, err)
	}
	return nil
}

// mountOwn mounts everything else that the process sees. Mount points are real folders and files of the unpacked image, so no link leads elsewhere.
func mountOwn() error {
	err := errors.Join(
		mountProc(filepath.Join(newRoot, "proc")), bind("/sys", "sys", unix.MS_REC),
		temporary("tmp", "mode=1777,size=1g"), temporary("dev", "mode=755,size=1m"),
	)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(newRoot, HostsFile)); err == nil && info.Mode().IsRegular() {
		if _, err := os.Stat("/" + HostsFile); err == nil {
			if err := show(HostsFile); err != nil {
				return err
			}
		}
	}
	return devices()
}

func devices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		target := filepath.Join("dev", name)
		if err := os.WriteFile(filepath.Join(newRoot, target), nil, 0o666); err != nil {
			return fmt.Errorf("making /%s in the image: %w", target, err)
		}
		if err := show(target); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(newRoot, "dev", name)); err != nil {
			return fmt.Errorf("making /dev/%s in the image: %w", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(newRoot, "dev", "shm"), 0o777|fs.ModeSticky); err != nil {
		return fmt.Errorf("making /dev/shm in the image: %w", err)
	}
	return temporary("dev/shm", "mode=1777,size=64m")
}

// protect makes the image and the visible kernel files read-only.
func protect() error {
	for at, flags := range map[string]uint{"": 0, "proc": unix.AT_RECURSIVE, "sys": unix.AT_RECURSIVE} {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
		if err := unix.MountSetattr(unix.AT_FDCWD, filepath.Join(newRoot, at), flags, &attr); err != nil {
			return fmt.Errorf("making /%s of the image read-only, which needs Linux 5.12: %w", at, err)
		}
	}
	return nil
}

func cutOff(variable string) (key, value string, found bool) {
	key, value, found = strings.Cut(variable, "=")
	return key, value, found && key != ""
}
