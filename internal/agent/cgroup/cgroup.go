// Package cgroup gives each process group of a run on one machine a cgroup of its own, of version 1 or 2: CPUs that it cannot leave, a limit of
// memory, and counters. It does not read the counters (package kernel does), and it changes no cgroup that it has not made.
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

// Parent is the cgroup of a run, below which those of its processes lie.
type Parent struct {
	version     int
	hierarchies []hierarchy
}

// hierarchy is one tree of cgroups: the only one of version 2, or that of some controllers of version 1.
type hierarchy struct {
	// dir is the run's cgroup, and home the one in which this process is.
	dir, home   string
	controllers []string
}

// Limits are what a cgroup may use.
type Limits struct {
	CPUs []int
	// MemoryBytes is the limit of memory; 0 for none.
	MemoryBytes int64
}

// wanted are the controllers of version 1 that a cgroup needs, and unified those of version 2, of which it can do without cpuset.
var (
	wanted  = []string{"cpuset", "cpuacct", "cpu", "memory"}
	unified = []string{"cpu", "memory", "cpuset"}
)

// prefix begins the names of runs' cgroups; the number of the process that leads the run follows.
const prefix = "loadstone-"

// Open makes a cgroup for the run of this process below the one in which it is, and tries whether processes can be put there. The error says
// why this machine does not permit it. tree is where cgroups lie, and proc the folder of processes. What killed runs have left is removed.
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

// find finds out where the run's cgroup is to lie.
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

// findUnified finds a place below the own cgroup or, where that lets none be made, below the root.
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

// handed returns which of the unified controllers a cgroup of version 2 hands down, after it was asked for those that it does not.
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

// try makes a cgroup, enters it, and removes it.
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

// make makes a cgroup and those above it in one hierarchy, and limits it.
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
			// A new one has neither CPUs nor memory, and takes no process in.
			if err := errors.Join(inherit(d, "cpuset.mems"), inherit(d, "cpuset.cpus")); err != nil {
				return err
			}
		}
	}
	return h.limit(version, dir, l)
}

// inherit gives a cgroup what the one above it has.
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

// Version is the version of cgroups of this machine.
func (p *Parent) Version() int { return p.version }

// Remove removes the run's cgroup, and those below it that hold no process.
func (p *Parent) Remove() {
	if p == nil {
		return
	}
	for _, h := range p.hierarchies {
		sweep(h.dir)
	}
}

// removeAbandoned removes the cgroups of runs whose processes have ended.
func (p *Parent) removeAbandoned(proc string) {
	for _, h := range p.hierarchies {
		others, err := os.ReadDir(filepath.Dir(h.dir))
		if err != nil {
			continue // What is left does no harm.
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

// sweep removes a cgroup and those directly below it. One that holds a process stays, and so do those above it.
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

// set writes a setting of a cgroup. Where the kernel knows none of this name it lets no file be made.
func set(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}
