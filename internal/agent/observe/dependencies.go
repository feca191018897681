package observe

import (
	"errors"
	"fmt"
	"os"

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
	// tree is nil if the cgroup can be read, or there is no process.
	tree *tree
}

func openDependencies(proc kernel.Proc, all []kernel.Process, c Config) []dependency {
	var list []dependency
	roots := parentless(all, os.Getpid())
	for i, name := range c.Dependencies {
		d := dependency{name: name}
		if len(roots) > len(c.Dependencies) {
			d.root = roots[i].PID
			if d.group, d.groupError = kernel.OpenCgroup(proc.Path(d.root, "root", c.Cgroup)); d.group == nil {
				d.tree = newTree(proc, d.root, 0, false)
			}
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
	return fmt.Sprintf("The cgroup of the dependency %s cannot be read, so its CPU time is the sum of its processes, in steps of 10 ms: %v.", d.name, d.groupError)
}

type spent struct {
	name  string
	what  string
	nanos int64
}

func (d dependency) spent() (spent, error) {
	s := spent{name: d.name, what: "The CPU time of the dependency " + d.name}
	var err error
	switch {
	case d.group != nil:
		s.nanos, err = d.group.CPUNanos()
	case d.tree != nil:
		if s.nanos, err = d.tree.cpuNanos(); errors.Is(err, errGone) {
			err = errNoDependency
		}
	default:
		err = errNoDependency
	}
	return s, err
}
