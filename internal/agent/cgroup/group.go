package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Group is a cgroup of some processes. It can be passed to another process.
type Group struct {
	Version int      `json:"version"`
	Folders []Folder `json:"folders"`
}

// Folder is the group in one hierarchy; Home is this process's cgroup there.
type Folder struct {
	Dir         string   `json:"dir"`
	Home        string   `json:"home"`
	Controllers []string `json:"controllers"`
}

const (
	// removeTries is for cgroups whose last process is about to exit.
	removeTries = 20
	removePause = 5 * time.Millisecond
)

// Enter moves this process into the group.
func (g *Group) Enter() error {
	for _, f := range g.Folders {
		if err := move(f.Dir); err != nil {
			return fmt.Errorf("entering a cgroup: %w", err)
		}
	}
	return nil
}

// Within runs do inside the group (such as starting a process), then leaves the group.
func (g *Group) Within(do func() error) error {
	err := g.Enter()
	if err == nil {
		err = do()
	}
	for _, f := range g.Folders {
		if left := move(f.Home); left != nil {
			err = errors.Join(err, fmt.Errorf("leaving a cgroup: %w", left))
		}
	}
	return err
}

func move(dir string) error { return set(dir, "cgroup.procs", strconv.Itoa(os.Getpid())) }

// Counters returns a folder with the group's counters laid out as in a container: the group itself or, in version 1, a folder of links made at
// links.
func (g *Group) Counters(links string) (string, error) {
	if g.Version == 2 {
		return g.Folders[0].Dir, nil
	}
	if err := os.MkdirAll(links, 0o700); err != nil {
		return "", fmt.Errorf("naming the counters of a cgroup: %w", err)
	}
	for _, f := range g.Folders {
		for _, c := range f.Controllers {
			if err := os.Symlink(f.Dir, filepath.Join(links, c)); err != nil && !errors.Is(err, fs.ErrExist) {
				return "", fmt.Errorf("naming the counters of a cgroup: %w", err)
			}
		}
	}
	return links, nil
}

// OutOfMemory reports whether the kernel killed a process of the group because of its memory limit.
func (g *Group) OutOfMemory() bool {
	file := map[int]string{1: "memory.oom_control", 2: "memory.events"}[g.Version]
	for _, f := range g.Folders {
		if !slices.Contains(f.Controllers, "memory") {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(f.Dir, file)); err == nil && OOMKills(string(text)) > 0 {
			return true
		}
	}
	return false
}

// OOMKills parses the number of out-of-memory kills from memory.events or, in version 1, memory.oom_control; 0 if absent.
func OOMKills(text string) int64 {
	for line := range strings.Lines(text) {
		if digits, found := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); found {
			n, _ := strconv.ParseInt(digits, 10, 64) // Unparsable counts are 0.
			return n
		}
	}
	return 0
}

// Remove removes the group after its processes have ended. It may be called twice.
func (g *Group) Remove() {
	if g == nil {
		return
	}
	for _, f := range g.Folders {
		for range removeTries {
			if !remove(f.Dir) {
				break
			}
			time.Sleep(removePause)
		}
	}
}

// RemoveAll removes the run's cgroup and its groups without processes: for a process that outlived its run.
func (g *Group) RemoveAll() {
	if g == nil {
		return
	}
	g.Remove()
	for _, f := range g.Folders {
		sweep(filepath.Dir(f.Dir))
	}
}

// remove returns true if the cgroup still holds a process or another cgroup.
func remove(dir string) bool { return errors.Is(syscall.Rmdir(dir), syscall.EBUSY) }
