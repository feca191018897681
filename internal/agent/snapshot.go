package agent

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// snapshot is every counter of a server at one instant. A counter that could not be read has its error in failed.
type snapshot struct {
	at               time.Time
	cpu              int64
	times            cpuTimes
	throttledNanos   int64
	throttledPeriods int64
	threads          map[int]threadCounts
	network          record.Network
	// pressure is nil where the kernel does not account for it.
	pressure *int64
	// own is the CPU time of the observer itself.
	own    int64
	failed map[string]error
}

// Names of counters in sentences.
const (
	nameCPU        = "The CPU time of the server"
	nameTimes      = "The time of the server's CPUs"
	nameThrottling = "The throttling of the server"
	nameSwitches   = "The number of the server's context switches"
	nameRunQueue   = "The time that the server's threads waited for a CPU"
	nameNetwork    = "The traffic of the server"
	nameHandshakes = "What went wrong while the server's connections were opened"
	nameOwn        = "The observer's own CPU time"
	nameSockets    = "The state of the server's connections"
	nameSpeed      = "The speed of the server's CPUs"
	nameSeries     = "The course of the cell"
	nameFiles      = "The number of the server's descriptors"
	nameThreads    = "The number of the server's threads"
)

// snapshot reads the slow counters first and the CPU time last, so that what reading costs falls before the window.
func (s *server) snapshot() snapshot {
	shot := snapshot{failed: map[string]error{}}
	note := func(name string, err error) {
		if err != nil {
			shot.failed[name] = err
		}
	}
	var err error
	shot.threads, err = s.threadCounts()
	note(nameSwitches, err)
	note(nameRunQueue, waitsKnown(shot.threads, err))
	if s.group == nil {
		note(nameThrottling, s.groupError)
	} else {
		shot.throttledNanos, shot.throttledPeriods, err = s.group.throttled()
		note(nameThrottling, err)
	}
	shot.pressure = s.pressure()
	shot.network, err = s.traffic()
	note(nameNetwork, err)
	shot.own, err = selfCPUNanos()
	note(nameOwn, err)
	shot.times, err = s.times()
	note(nameTimes, err)
	shot.cpu, err = s.cpuNanos()
	note(nameCPU, err)
	shot.at = time.Now()
	return shot
}

// difference fills in what happened between two snapshots. Threads that ended between them are lost, and with them their
// context switches and waits.
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
		cell.BusyNanos = after.times.busy - before.times.busy
		cell.StealNanos = after.times.steal - before.times.steal
		cell.CoreNanos = after.times.total - before.times.total
	}
	if known(nameThrottling) {
		cell.ThrottledNanos = after.throttledNanos - before.throttledNanos
		cell.ThrottledPeriods = after.throttledPeriods - before.throttledPeriods
	}
	if known(nameSwitches) {
		for id, end := range after.threads {
			begin := before.threads[id]
			cell.VoluntarySwitches += end.voluntary - begin.voluntary
			cell.InvoluntarySwitches += end.involuntary - begin.involuntary
		}
	}
	if known(nameRunQueue) {
		for id, end := range after.threads {
			cell.RunQueueNanos += end.waited - before.threads[id].waited
		}
	}
	if before.pressure != nil && after.pressure != nil {
		waited := *after.pressure - *before.pressure
		cell.PressureMicros = &waited
	}
	if known(nameNetwork) {
		cell.Network = between(before.network, after.network)
		if cell.Network.Handshakes == nil {
			missing(cell, nameHandshakes, errNoHandshakes)
		}
	}
	if known(nameOwn) {
		cell.ObserverCPUNanos = after.own - before.own
	}
}

// missing says in a cell what could not be read.
func missing(cell *record.CellObservation, name string, err error) {
	cell.Unknown = append(cell.Unknown, name+" is unknown: "+err.Error()+".")
}
