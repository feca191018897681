package observe

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"loadstone.dev/loadstone/internal/agent/kernel"
)

// errNoDependency says that the first process of a dependency was not found.
var errNoDependency = errors.New("its process is gone")

// dependency is a container that was started before the server's, such as its database.
type dependency struct {
	name string
	// root is its first process; 0 if it was not found.
	root int
	// group is nil when its cgroup cannot be read, as where it has another user; groupError says why. Then the times of its processes are read.
	group      *kernel.Cgroup
	groupError error
}

// openDependencies opens what is read of the containers that were started before the server's, in the order of their start.
func openDependencies(proc kernel.Proc, all []kernel.Process, c Config) []dependency {
	var list []dependency
	roots := parentless(all, os.Getpid())
	for i, name := range c.Dependencies {
		d := dependency{name: name}
		if len(roots) > len(c.Dependencies) {
			d.root = roots[i].PID
			d.group, d.groupError = kernel.OpenCgroup(proc.Path(d.root, "root", c.Cgroup))
		}
		list = append(list, d)
	}
	return list
}

// coarse says that the CPU time is that of processes, and why; empty if it is that of the cgroup.
func (d dependency) coarse() string {
	if d.group != nil || d.root == 0 {
		return ""
	}
	return fmt.Sprintf("The cgroup of the dependency %s cannot be read, so its CPU time is that of its processes to 10 ms: %v.", d.name, d.groupError)
}

// spent is the CPU time of a dependency so far.
type spent struct {
	name string
	// what names it in sentences.
	what string
	// nanos is the time by process; that of the whole cgroup is its first process's.
	nanos map[int]int64
}

// spent reads the CPU time of a dependency.
func (d dependency) spent(proc kernel.Proc) (spent, error) {
	s := spent{name: d.name, what: "The CPU time of the dependency " + d.name, nanos: map[int]int64{}}
	if d.root == 0 {
		return s, errNoDependency
	}
	if d.group != nil {
		nanos, err := d.group.CPUNanos()
		s.nanos[d.root] = nanos
		return s, err
	}
	all, err := proc.Processes()
	if err != nil {
		return s, err
	}
	family := kernel.Family(all, d.root)
	for _, p := range all {
		if slices.Contains(family, p.PID) {
			s.nanos[p.PID] = p.CPUNanos
		}
	}
	if _, alive := s.nanos[d.root]; !alive {
		return s, errNoDependency
	}
	return s, nil
}

// since is the CPU time since another reading. Processes that have ended meanwhile are lost, and with them their time.
func (s spent) since(before spent) int64 {
	var sum int64
	for pid, nanos := range s.nanos {
		sum += nanos - before.nanos[pid]
	}
	return sum
}
