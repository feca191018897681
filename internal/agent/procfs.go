package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// procfs is a /proc, the machine's own or a test's.
type procfs string

func (p procfs) path(pid int, parts ...string) string {
	return filepath.Join(append([]string{string(p), strconv.Itoa(pid)}, parts...)...)
}

// procStat is what an observer needs of /proc/PID/stat.
type procStat struct {
	pid, parent int
	// started is in clock ticks since the machine booted.
	started int64
	// cpuTicks is user and system time of all threads, in clock ticks.
	cpuTicks int64
	threads  int64
}

// parseProcStat reads a stat file. The command's name is in parentheses and may hold anything, parentheses included.
func parseProcStat(pid int, text []byte) (procStat, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, user, system, threads, started = 3, 4, 14, 15, 20, 22
	if len(fields) <= started-state {
		return procStat{}, fmt.Errorf("reading the stat of process %d: it has %d fields only", pid, len(fields))
	}
	var numbers [started + 1]int64
	for _, i := range []int{parent, user, system, threads, started} {
		n, err := strconv.ParseInt(string(fields[i-state]), 10, 64)
		if err != nil {
			return procStat{}, fmt.Errorf("reading field %d of the stat of process %d: %w", i, pid, err)
		}
		numbers[i] = n
	}
	return procStat{
		pid: pid, parent: int(numbers[parent]), started: numbers[started],
		cpuTicks: numbers[user] + numbers[system], threads: numbers[threads],
	}, nil
}

// processes lists all processes. One that ends meanwhile is left out.
func (p procfs) processes() ([]procStat, error) {
	entries, err := os.ReadDir(string(p))
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var all []procStat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(p.path(pid, "stat"))
		if err != nil {
			continue
		}
		if stat, err := parseProcStat(pid, text); err == nil {
			all = append(all, stat)
		}
	}
	return all, nil
}

// findServer is the server's first process in a process namespace that a pod's containers share: a container's first process
// has no parent there. It is neither process 1 (the pod's sandbox) nor the observer's own. Of several the oldest is taken:
// a process that somebody executes in the container later has no parent either.
func findServer(all []procStat, self int) (int, bool) {
	parents := map[int]int{}
	for _, s := range all {
		parents[s.pid] = s.parent
	}
	own := map[int]bool{1: true}
	for pid := self; pid != 0 && !own[pid]; pid = parents[pid] {
		own[pid] = true
	}
	found := procStat{}
	for _, s := range all {
		if s.parent == 0 && !own[s.pid] && (found.pid == 0 || s.started < found.started) {
			found = s
		}
	}
	return found.pid, found.pid != 0
}

// family is a process and all its descendants.
func family(all []procStat, root int) []int {
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		for _, s := range all {
			if s.parent == pids[i] && s.pid != root {
				pids = append(pids, s.pid)
			}
		}
	}
	return pids
}

// listening is true when a socket of the network namespace of /proc listens on a port.
func (p procfs) listening(port int) bool {
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		text, err := os.ReadFile(filepath.Join(string(p), name))
		if err == nil && listens(text, port) {
			return true
		}
	}
	return false
}

// listens looks for a port in state LISTEN (0A) in the text of /proc/net/tcp.
func listens(text []byte, port int) bool {
	suffix := []byte(fmt.Sprintf(":%04X", port))
	for l := range bytes.Lines(text) {
		fields := bytes.Fields(l)
		if len(fields) > 3 && bytes.HasSuffix(fields[1], suffix) && string(fields[3]) == "0A" {
			return true
		}
	}
	return false
}
