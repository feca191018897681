package observe

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// Window is what a container costs between two instants, while something runs in it that is not watched process by process: it may start after
// the first instant and have ended before the second. Open, Begin and End follow each other, once each.
type Window struct {
	server *server
	before snapshot
}

// OpenWindow opens the counters of the container whose first process is root, where root sees its cgroup at a path; the path is empty if the
// container has no cgroup of its own. sharedNetwork says that programs of other containers use its network namespace.
func OpenWindow(root int, cgroup string, sharedNetwork bool) (*Window, error) {
	s, err := openServer("/proc", root, Config{Cgroup: cgroup, SharedNetwork: sharedNetwork})
	if err != nil {
		return nil, err
	}
	return &Window{server: s}, nil
}

// CPUsAllowed is the list of the CPUs on which the container's first process may run.
func (w *Window) CPUsAllowed() string { return w.server.allowed }

// Begin reads the counters as the window begins.
func (w *Window) Begin() { w.before = w.server.snapshot() }

// End reads the counters again, and fills in what happened since Begin. It reports whether the CPU time is that of the whole container, and not
// only of those of its processes that were there when the window was opened. Of what could not be read it notes in the cell what concerns the
// container: the time of its CPUs, and its throttling. The threads and the traffic of its first process are nobody's.
func (w *Window) End(cell *record.CellObservation) (whole bool) {
	difference(cell, w.before, w.server.snapshot())
	cell.Unknown = slices.DeleteFunc(cell.Unknown, func(s string) bool {
		return !strings.HasPrefix(s, nameTimes) && !strings.HasPrefix(s, nameThrottling)
	})
	return w.server.group != nil
}

// Close closes the counters.
func (w *Window) Close() { w.server.close() }
