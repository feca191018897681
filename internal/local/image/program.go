package image

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Process says how to start an unpacked image's program.
type Process struct {
	// Argv begins with a path below the root.
	Argv, Env []string
	Folder    string
	UID, GID  int
}

// Process returns the image's process. command replaces its entrypoint and args its own arguments, if not empty; env is added to its
// variables. Root is where it was unpacked.
func (i *Image) Process(root string, command, args, env []string) (Process, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return Process{}, err
	}
	defer dir.Close() //nolint:errcheck // It was only held.
	t := tree{dir}
	p := Process{Argv: slices.Clone(command), Env: slices.Concat(i.Config.Env, env), Folder: path.Join("/", i.Config.WorkingDir)}
	switch {
	case len(command) == 0 && len(args) == 0:
		p.Argv = slices.Concat(i.Config.Entrypoint, i.Config.Cmd)
	case len(command) == 0:
		p.Argv = slices.Concat(i.Config.Entrypoint, args)
	default:
		p.Argv = append(p.Argv, args...)
	}
	if len(p.Argv) == 0 {
		return p, errors.New("the image starts nothing by itself: set command")
	}
	if !slices.ContainsFunc(p.Env, func(e string) bool { return strings.HasPrefix(e, "PATH=") }) {
		p.Env = append(p.Env, "PATH="+defaultPath)
	}
	if p.Argv[0], err = t.find(p); err != nil {
		return p, err
	}
	p.UID, p.GID, err = t.user(i.Config.User)
	return p, err
}

func (t tree) find(p Process) (string, error) {
	name := p.Argv[0]
	candidates := []string{path.Join(p.Folder, name)}
	switch {
	case path.IsAbs(name):
		candidates = []string{name}
	case !strings.Contains(name, "/"):
		candidates = nil
		for _, e := range p.Env {
			if list, found := strings.CutPrefix(e, "PATH="); found {
				for folder := range strings.SplitSeq(list, ":") {
					candidates = append(candidates, path.Join("/", folder, name))
				}
			}
		}
	}
	for _, c := range candidates {
		at, err := t.follow(c)
		if err != nil {
			return "", err
		}
		if info, err := t.Lstat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return c, nil
		}
	}
	return "", fmt.Errorf("the image holds no program %q that can be executed: correct command, or leave it out to start what the image starts", name)
}

// user parses a user such as 65532, 65532:65532 or nobody. Empty is root.
func (t tree) user(text string) (uid, gid int, err error) {
	own, group, grouped := strings.Cut(text, ":")
	if own == "" {
		own = "0"
	}
	uid, err = strconv.Atoi(own)
	if entry := t.entry("etc/passwd", own); len(entry) > 3 {
		ids := []error{nil, nil}
		uid, ids[0] = strconv.Atoi(entry[2])
		gid, ids[1] = strconv.Atoi(entry[3])
		err = errors.Join(ids...)
	}
	if err == nil && grouped {
		gid, err = strconv.Atoi(group)
		if entry := t.entry("etc/group", group); len(entry) > 2 {
			gid, err = strconv.Atoi(entry[2])
		}
	}
	if err != nil || uid < 0 || gid < 0 {
		return 0, 0, fmt.Errorf("the image's user is %q, which its etc/passwd and etc/group do not know: give it by number", text)
	}
	return uid, gid, nil
}

const maxAccounts = 1 << 20

// entry returns the line for a name or number in passwd or group; nil if there is none.
func (t tree) entry(file, key string) []string {
	at, err := t.follow(file)
	if err != nil {
		return nil
	}
	info, err := t.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxAccounts {
		return nil
	}
	text, err := t.ReadFile(at)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) > 2 && (fields[0] == key || fields[2] == key) {
			return fields
		}
	}
	return nil
}

const maxCapability = 63

// dropCapabilities drops all capabilities of the program that this thread starts, and keeps it from regaining any.
func dropCapabilities() error {
	for c := uintptr(0); c <= maxCapability; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // The kernel knows no more.
		}
		if err != nil {
			return fmt.Errorf("dropping capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

// dropPrivileges leaves this thread and its program only what the program may do. Each step needs what the next one drops.
func (r Root) dropPrivileges() error {
	for _, step := range []func() error{dropCapabilities, r.becomeUser, r.limitProcesses, func() error { return filterCalls(r.Exchange != "") }} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r Root) becomeUser() error {
	uid, gid := r.Process.UID, r.Process.GID
	var err error
	if uid != 0 || gid != 0 {
		if err = syscall.Setgroups(nil); err == nil {
			err = syscall.Setgid(gid)
		}
		if err == nil {
			err = syscall.Setuid(uid)
		}
	}
	if err == nil {
		// A change of user clears it.
		err = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	}
	if err != nil {
		return fmt.Errorf("becoming user %d and group %d of the image: %w", uid, gid, err)
	}
	return nil
}
