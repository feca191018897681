package image

import (
	"errors"
	"fmt"
	"io/fs"
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
	// Exchange is a host folder that the process sees as /.loadstone; empty for none.
	Exchange string `json:"exchange,omitempty"`
}

// Exchange is where a process sees its exchange.
const Exchange = "/" + ExchangeFolder

// SetNamespaces makes a command start in its own namespaces, where Enter is called.
func SetNamespaces(a *syscall.SysProcAttr) {
	a.Cloneflags |= unix.CLONE_NEWNS
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		return
	}
	a.Cloneflags |= unix.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
}

// ChangesUser reports whether processes can get their images' users. Otherwise a namespace has only user 0.
func ChangesUser() bool { return os.Geteuid() == 0 }

// Private makes this namespace's mounts private. It is the first step to fail if mount namespaces are forbidden.
func Private() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	return nil
}

// Enter switches this process to the root file system. The goroutine must be locked to its thread and start the program from it.
func (r Root) Enter() error {
	for _, step := range []func() error{Private, r.mount, r.protect, r.pivot, r.dropPrivileges} {
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

func (r Root) pivot() error {
	err := os.Chdir(r.Dir)
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

func (r Root) bind(from, to string, flags uintptr) error {
	target := filepath.Join(r.Dir, to)
	if err := unix.Mount(from, target, "", unix.MS_BIND|flags, ""); err != nil {
		return fmt.Errorf("mounting %s in the image: %w", from, err)
	}
	return nil
}

// show mounts a host file read-only at its own path. Devices remain writable.
func (r Root) show(name string) error {
	if err := r.bind("/"+name, name, 0); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(unix.AT_FDCWD, filepath.Join(r.Dir, name), 0, &attr); err != nil {
		return fmt.Errorf("making /%s of the image read-only: %w", name, err)
	}
	return nil
}

func (r Root) temporary(at, options string) error {
	if err := unix.Mount("tmpfs", filepath.Join(r.Dir, at), "tmpfs", unix.MS_NOSUID, options); err != nil {
		return fmt.Errorf("making /%s in the image: %w", at, err)
	}
	return nil
}

// mount mounts everything the process sees. Mount points are real folders and files of the unpacked image, so no link leads elsewhere.
func (r Root) mount() error {
	if err := r.bind(r.Dir, "", 0); err != nil {
		return err
	}
	err := errors.Join(
		r.bind("/proc", "proc", unix.MS_REC), r.bind("/sys", "sys", unix.MS_REC),
		r.temporary("tmp", "mode=1777,size=1g"), r.temporary("dev", "mode=755,size=1m"),
	)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(r.Dir, HostsFile)); err == nil && info.Mode().IsRegular() {
		if _, err := os.Stat("/" + HostsFile); err == nil {
			if err := r.show(HostsFile); err != nil {
				return err
			}
		}
	}
	if r.Exchange != "" {
		if err := r.bind(r.Exchange, ExchangeFolder, 0); err != nil {
			return err
		}
	}
	return r.devices()
}

func (r Root) devices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		target := filepath.Join("dev", name)
		if err := os.WriteFile(filepath.Join(r.Dir, target), nil, 0o666); err != nil {
			return fmt.Errorf("making /%s in the image: %w", target, err)
		}
		if err := r.show(target); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(r.Dir, "dev", name)); err != nil {
			return fmt.Errorf("making /dev/%s in the image: %w", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(r.Dir, "dev", "shm"), 0o777|fs.ModeSticky); err != nil {
		return fmt.Errorf("making /dev/shm in the image: %w", err)
	}
	return r.temporary("dev/shm", "mode=1777,size=64m")
}

// protect makes the image and the visible kernel files read-only.
func (r Root) protect() error {
	for at, flags := range map[string]uint{"": 0, "proc": unix.AT_RECURSIVE, "sys": unix.AT_RECURSIVE} {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
		if err := unix.MountSetattr(unix.AT_FDCWD, filepath.Join(r.Dir, at), flags, &attr); err != nil {
			return fmt.Errorf("making /%s of the image read-only, which needs Linux 5.12: %w", at, err)
		}
	}
	return nil
}

func cutOff(variable string) (key, value string, found bool) {
	key, value, found = strings.Cut(variable, "=")
	return key, value, found && key != ""
}
