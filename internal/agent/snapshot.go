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
	switches         map[int]switches
	failed           map[string]error
}

// Names of counters in sentences.
const (
	nameCPU        = "The CPU time of the server"
	nameTimes      = "The time of the server's CPUs"
	nameThrottling = "The throttling of the server"
	nameSwitches   = "The number of the server's context switches"
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
	shot.switches, err = s.threadSwitches()
	note(nameSwitches, err)
	if s.group == nil {
		note(nameThrottling, s.groupError)
	} else {
		shot.throttledNanos, shot.throttledPeriods, err = s.group.throttled()
		note(nameThrottling, err)
	}
	shot.times, err = s.times()
	note(nameTimes, err)
	shot.cpu, err = s.cpuNanos()
	note(nameCPU, err)
	shot.at = time.Now()
	return shot
}

// difference fills in what happened between two snapshots. Threads that ended between them are lost, and with them their
// context switches.
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
		for id, end := range after.switches {
			begin := before.switches[id]
			cell.VoluntarySwitches += end.voluntary - begin.voluntary
			cell.InvoluntarySwitches += end.involuntary - begin.involuntary
		}
	}
}

// missing says in a cell what could not be read.
func missing(cell *record.CellObservation, name string, err error) {
	cell.Unknown = append(cell.Unknown, name+" is unknown: "+err.Error()+".")
}
