package observe

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"loadstone.dev/loadstone/internal/agent/kernel"
)

var errNoDependency = errors.New("its process is gone")

// dependency is a container started before the server's, such as a database.
type dependency struct {
	name string
	// root is its first process; 0 if not found.
	root int
	// group is nil if its cgroup cannot be read (groupError says why), such as under another user. Then process times are used.
	group      *kernel.Cgroup
	groupError error
}

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

// coarse says why CPU time comes from processes; empty if it is the cgroup's.
func (d dependency) coarse() string {
	if d.group != nil || d.root == 0 {
		return ""
	}
	return fmt.Sprintf("The cgroup of the dependency %s cannot be read, so its CPU time is that of its processes to 10 ms: %v.", d.name, d.groupError)
}

// spent is a dependency's CPU time so far.
type spent struct {
	name string
	what string
	// nanos is the time by process; a whole cgroup's is under its first process.
	nanos map[int]int64
}

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

// since returns the CPU time since another reading. It loses processes that ended meanwhile.
func (s spent) since(before spent) int64 {
	var sum int64
	for pid, nanos := range s.nanos {
		sum += nanos - before.nanos[pid]
	}
	return sum
}
