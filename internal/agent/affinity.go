package agent

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/protocol"
)

// pinRounds bounds how often the threads of a server are listed while new ones appear.
const pinRounds = 5

// pin puts every thread of the server on the one CPU that it shares with another server, and the observer on the others, where there
// are any. Threads that start later inherit it; whoever changes it meanwhile finds it changed back at the next cell. It does nothing
// outside a duet. The observer may do so since it has the server's user.
func (o *Observer) pin() error {
	if o.cpu == nil {
		return nil
	}
	if err := o.locate(); err != nil {
		return err
	}
	if others := allBut(protocol.ParseCPUs(ownCPUs()), int(*o.cpu)); len(others) > 0 {
		if err := o.proc.setCPUs(os.Getpid(), others); err != nil {
			return fmt.Errorf("leaving CPU %d to the servers: %w", *o.cpu, err)
		}
	}
	all, err := o.proc.processes()
	if err != nil {
		return err
	}
	for _, pid := range family(all, o.server) {
		err := o.proc.setCPUs(pid, []int{int(*o.cpu)})
		if errors.Is(err, errGone) && pid != o.server {
			continue
		}
		if err != nil {
			return fmt.Errorf("putting the server on CPU %d: %w", *o.cpu, err)
		}
	}
	return nil
}

// setCPUs lets all threads of a process run on the given CPUs only. It returns errGone for a process that has ended.
func (p procfs) setCPUs(pid int, cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	done := map[int]bool{}
	for range pinRounds {
		tasks, err := os.ReadDir(p.path(pid, "task"))
		if err != nil {
			return errGone
		}
		fresh := false
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			fresh, done[id] = true, true
			if err := unix.SchedSetaffinity(id, &set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("setting the CPUs of thread %d: %w", id, err)
			}
		}
		if !fresh {
			return nil
		}
	}
	return nil
}

// ownCPUs is the list of CPUs that the agent itself may run on, or "unknown".
func ownCPUs() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return unknown
	}
	return orUnknown(line(status, "Cpus_allowed_list"))
}

func allBut(cpus []int, but int) []int {
	var others []int
	for _, cpu := range cpus {
		if cpu != but {
			others = append(others, cpu)
		}
	}
	return others
}
