// Package cgroup gives each process group of a local run its own cgroup (version 1 or 2): CPUs, a memory limit and counters. The package
// changes only cgroups that it made.
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
)

// Parent is a run's cgroup, which contains those of its processes.
type Parent struct {
	version     int
	hierarchies []hierarchy
}

// hierarchy is one cgroup tree: the only one of version 2, or that of some version 1 controllers.
type hierarchy struct {
	// dir is the run's cgroup; home is this process's own.
	dir, home   string
	controllers []string
}

// Limits are a cgroup's limits.
type Limits struct {
	CPUs []int
	// MemoryBytes is the memory limit; 0 for none.
	MemoryBytes int64
}

// wanted are the required version 1 controllers; unified those of version 2, where cpuset is optional.
var (
	wanted  = []string{"cpuset", "cpuacct", "cpu", "memory"}
	unified = []string{"cpu", "memory", "cpuset"}
)

// prefix begins a run's cgroup name, followed by the PID of the run's main process.
const prefix = "loadstone-"

// Open makes a cgroup for this run below the process's own, checks that processes can enter it, and removes leftovers of killed runs. tree is
// the cgroup mount, proc the /proc folder. The error says why this machine does not allow it.
func Open(tree, proc string) (*Parent, error) {
	text, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return nil, fmt.Errorf("finding the cgroup of this process: %w", err)
	}
	p, err := find(tree, string(text), prefix+strconv.Itoa(os.Getpid()))
	if err != nil {
		return nil, err
	}
	p.removeAbandoned(proc)
	if err := p.try(); err != nil {
		p.Remove()
		return nil, err
	}
	return p, nil
}

func find(tree, own, name string) (*Parent, error) {
	if _, err := os.Stat(filepath.Join(tree, "cgroup.controllers")); err == nil {
		return findUnified(tree, own, name)
	}
	p := &Parent{version: 1}
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers := slices.DeleteFunc(strings.Split(parts[1], ","), func(c string) bool { return !slices.Contains(wanted, c) })
		if len(controllers) == 0 {
			continue
		}
		home := filepath.Join(tree, controllers[0], parts[2])
		if _, err := os.Stat(home); err != nil {
			home = filepath.Join(tree, controllers[0]) // A container sees its own cgroup as the root.
		}
		p.hierarchies = append(p.hierarchies, hierarchy{dir: filepath.Join(home, name), home: home, controllers: controllers})
	}
	for _, c := range wanted {
		if !slices.ContainsFunc(p.hierarchies, func(h hierarchy) bool { return slices.Contains(h.controllers, c) }) {
			return nil, fmt.Errorf("this machine has no cgroups with the controller %s", c)
		}
	}
	return p, nil
}

// findUnified looks below the process's cgroup, or below the root if that forbids children.
func findUnified(tree, own, name string) (*Parent, error) {
	path := ""
	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = rest
		}
	}
	home := filepath.Join(tree, path)
	var failed error
	for _, above := range []string{home, tree} {
		controllers, err := handed(above)
		if err == nil {
			return &Parent{version: 2, hierarchies: []hierarchy{{dir: filepath.Join(above, name), home: home, controllers: controllers}}}, nil
		}
		failed = err
	}
	return nil, failed
}

// handed returns the unified controllers that a version 2 cgroup delegates, after enabling missing ones.
func handed(dir string) ([]string, error) {
	file := filepath.Join(dir, "cgroup.subtree_control")
	text, err := os.ReadFile(file)
	for _, c := range unified {
		if !slices.Contains(strings.Fields(string(text)), c) && set(dir, "cgroup.subtree_control", "+"+c) == nil {
			text, err = os.ReadFile(file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the controllers of a cgroup: %w", err)
	}
	all := strings.Fields(string(text))
	if !slices.Contains(all, "cpu") || !slices.Contains(all, "memory") {
		return nil, fmt.Errorf("the cgroup %s hands down the controllers %v, and not both cpu and memory", dir, all)
	}
	return slices.DeleteFunc(slices.Clone(unified), func(c string) bool { return !slices.Contains(all, c) }), nil
}

func (p *Parent) try() error {
	g, err := p.Make("try", Limits{})
	if err != nil {
		return err
	}
	defer g.Remove()
	return g.Within(func() error { return nil })
}

// Make makes a cgroup for some processes of the run.
func (p *Parent) Make(name string, l Limits) (*Group, error) {
	g := &Group{Version: p.version}
	for _, h := range p.hierarchies {
		dir := filepath.Join(h.dir, name)
		if err := h.make(p.version, dir, l); err != nil {
			return nil, fmt.Errorf("making a cgroup: %w", err)
		}
		g.Folders = append(g.Folders, Folder{Dir: dir, Home: h.home, Controllers: h.controllers})
	}
	return g, nil
}

func (h hierarchy) make(version int, dir string, l Limits) error {
	for _, d := range []string{h.dir, dir} {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		switch {
		case version == 2 && d == h.dir:
			if err := set(d, "cgroup.subtree_control", "+"+strings.Join(h.controllers, " +")); err != nil {
				return err
			}
		case version == 1 && slices.Contains(h.controllers, "cpuset"):
			// A new one has no CPUs and no memory nodes, so processes cannot enter.
			if err := errors.Join(inherit(d, "cpuset.mems"), inherit(d, "cpuset.cpus")); err != nil {
				return err
			}
		}
	}
	return h.limit(version, dir, l)
}

func inherit(dir, file string) error {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
	if err != nil {
		return err
	}
	return set(dir, file, strings.TrimSpace(string(text)))
}

func (h hierarchy) limit(version int, dir string, l Limits) error {
	var errs []error
	if len(l.CPUs) > 0 && slices.Contains(h.controllers, "cpuset") {
		texts := make([]string, len(l.CPUs))
		for i, cpu := range l.CPUs {
			texts[i] = strconv.Itoa(cpu)
		}
		errs = append(errs, set(dir, "cpuset.cpus", strings.Join(texts, ",")))
	}
	if l.MemoryBytes > 0 && slices.Contains(h.controllers, "memory") {
		file := map[int]string{1: "memory.limit_in_bytes", 2: "memory.max"}[version]
		errs = append(errs, set(dir, file, strconv.FormatInt(l.MemoryBytes, 10)))
	}
	return errors.Join(errs...)
}

// Version returns this machine's cgroup version.
func (p *Parent) Version() int { return p.version }

// Remove removes the run's cgroup and those below it without processes.
func (p *Parent) Remove() {
	if p == nil {
		return
	}
	for _, h := range p.hierarchies {
		sweep(h.dir)
	}
}

func (p *Parent) removeAbandoned(proc string) {
	for _, h := range p.hierarchies {
		others, err := os.ReadDir(filepath.Dir(h.dir))
		if err != nil {
			continue // Leftovers do no harm.
		}
		for _, o := range others {
			pid, ok := strings.CutPrefix(o.Name(), prefix)
			if _, err := strconv.Atoi(pid); !ok || err != nil {
				continue
			}
			if _, err := os.Stat(filepath.Join(proc, pid)); errors.Is(err, fs.ErrNotExist) {
				sweep(filepath.Join(filepath.Dir(h.dir), o.Name()))
			}
		}
	}
}

// sweep removes a cgroup and its children. A cgroup with processes stays, and so do its parents.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			remove(filepath.Join(dir, e.Name()))
		}
	}
	remove(dir)
}

// set writes a setting. The kernel does not allow files for unknown settings.
func set(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}
