package observe

import (
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

type snapshot struct {
	at        time.Time
	cpu       int64
	times     kernel.CPUTimes
	throttled record.Throttling
	threads   map[int]kernel.Thread
	network   record.Network
	// pressure is nil if the kernel does not account for it.
	pressure *int64
	own      int64
	failed   map[string]error
	// sharedNetwork is true if other programs use the server's network namespace.
	sharedNetwork bool
	dependencies  []spent
}

const (
	nameCPU        = "The CPU time of the server"
	nameTimes      = "The time of the server's CPUs"
	nameThrottling = "The throttling of the server"
	nameSwitches   = "The number of the server's context switches"
	nameRunQueue   = "The time that the server's threads waited for a CPU"
	nameNetwork    = "The traffic of the server"
	nameOpened     = "The number of connections that the server accepted"
	nameHandshakes = "The number of connection errors of the server"
	nameOwn        = "The observer's own CPU time"
	nameSockets    = "The state of the server's connections"
	nameSpeed      = "The speed of the server's CPUs"
	nameSeries     = "The course of the cell"
	nameFiles      = "The number of the server's descriptors"
	nameThreads    = "The number of the server's threads"
)

// snapshot reads slow counters first and CPU time last, so that its own cost falls before the window.
func (s *server) snapshot() snapshot {
	shot := snapshot{failed: map[string]error{}, sharedNetwork: s.sharedNetwork}
	note := func(name string, err error) {
		if err != nil {
			shot.failed[name] = err
		}
	}
	var err error
	shot.threads, err = s.threads()
	note(nameSwitches, err)
	note(nameRunQueue, waitsKnown(shot.threads, err))
	if s.group == nil {
		note(nameThrottling, s.groupError)
	} else {
		shot.throttled, err = s.group.Throttled()
		note(nameThrottling, err)
	}
	shot.pressure = s.pressure()
	shot.network, err = s.traffic()
	note(nameNetwork, err)
	for _, d := range s.dependencies {
		used, err := d.spent()
		note(used.what, err)
		shot.dependencies = append(shot.dependencies, used)
	}
	shot.own, err = kernel.OwnCPUNanos()
	note(nameOwn, err)
	shot.times, err = s.times()
	note(nameTimes, err)
	shot.cpu, err = s.cpuNanos()
	note(nameCPU, err)
	shot.at = time.Now()
	return shot
}

// difference fills in the change between two snapshots. Threads that ended in between are lost, with their context switches and waits.
func difference(cell *record.CellObservation, before, after snapshot) {
	known := func(name string) bool {
		for _, shot := range []snapshot{before, after} {
			if err := shot.failed[name]; err != nil {
				missing(cell, name, err)
				return false
			}
		}
		return true
	}
	cell.Started, cell.Ended = before.at, after.at
	if known(nameCPU) {
		cell.CPUNanos = after.cpu - before.cpu
	}
	if known(nameTimes) {
		cell.BusyNanos = after.times.Busy - before.times.Busy
		cell.StealNanos = after.times.Steal - before.times.Steal
		cell.CoreNanos = after.times.Total - before.times.Total
	}
	if known(nameThrottling) {
		cell.ThrottledNanos = after.throttled.Nanos - before.throttled.Nanos
		cell.ThrottledPeriods = after.throttled.Periods - before.throttled.Periods
	}
	if known(nameSwitches) {
		for id, end := range after.threads {
			begin := before.threads[id]
			cell.VoluntarySwitches += end.Voluntary - begin.Voluntary
			cell.InvoluntarySwitches += end.Involuntary - begin.Involuntary
		}
	}
	if known(nameRunQueue) {
		for id, end := range after.threads {
			cell.RunQueueNanos += end.Waited - before.threads[id].Waited
		}
	}
	if before.pressure != nil && after.pressure != nil {
		waited := *after.pressure - *before.pressure
		cell.PressureMicros = &waited
	}
	if known(nameNetwork) {
		cell.Network = kernel.Traffic(before.network, after.network)
		missConnections(cell, after.sharedNetwork)
	}
	if known(nameOwn) {
		cell.ObserverCPUNanos = after.own - before.own
	}
	for i, d := range after.dependencies {
		if known(d.what) {
			cell.Dependencies = append(cell.Dependencies, record.DependencyUse{Name: d.name, CPUNanos: d.nanos - before.dependencies[i].nanos})
		} else {
			cell.CPUUncounted = append(cell.CPUUncounted, "the CPU time of the dependency "+d.name+" could not be read")
		}
	}
}

// missConnections notes in a cell which connections are unknown or may not be the server's.
func missConnections(cell *record.CellObservation, sharedNetwork bool) {
	if sharedNetwork {
		cell.Network.ActiveOpens, cell.Network.PassiveOpens, cell.Network.Handshakes = 0, 0, nil
		missing(cell, nameOpened, errSharedNetwork)
		missing(cell, nameHandshakes, errSharedNetwork)
	} else if cell.Network.Handshakes == nil {
		missing(cell, nameHandshakes, kernel.ErrNoHandshakes)
	}
}

func missing(cell *record.CellObservation, name string, err error) {
	cell.Unknown = append(cell.Unknown, name+" is unknown: "+err.Error()+".")
}

// Window measures a container's costs between two instants, without watching its processes: a program may start and end in between. Call
// OpenWindow, Begin and End once each, in this order.
type Window struct {
	server *server
	before snapshot
}

// OpenWindow opens the counters of the container whose first process is root; cgroup is where root sees its cgroup, empty if it has none.
// sharedNetwork means that other containers' programs use its network namespace.
func OpenWindow(root int, cgroup string, sharedNetwork bool) (*Window, error) {
	s, err := openServer("/proc", root, Config{Cgroup: cgroup, SharedNetwork: sharedNetwork})
	if err != nil {
		return nil, err
	}
	return &Window{server: s}, nil
}

// CPUsAllowed lists the CPUs that the container's first process may run on.
func (w *Window) CPUsAllowed() string { return w.server.allowed }

// Begin reads the counters at the start of the window.
func (w *Window) Begin() { w.before = w.server.snapshot() }

// End reads the counters again, and fills in the change since Begin. whole reports whether CPU time covers the container, not only processes
// that existed when the window was opened. The cell notes unreadable counters only for the container's CPU time and throttling; the first
// process's threads and traffic are irrelevant.
func (w *Window) End(cell *record.CellObservation) (whole bool) {
	difference(cell, w.before, w.server.snapshot())
	cell.Unknown = slices.DeleteFunc(cell.Unknown, func(s string) bool {
		return !strings.HasPrefix(s, nameTimes) && !strings.HasPrefix(s, nameThrottling)
	})
	return w.server.group != nil
}

// Close closes the counters.
func (w *Window) Close() { w.server.close() }
