package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errGone says that the server's process has ended.
var errGone = errors.New("the server's process is gone")

// server is a running server under observation: the files of its processes that are read again and again.
type server struct {
	proc procfs
	root int
	pids []int
	// resident are the statm files of the processes, the root's first.
	resident []*counterFile
	cpus     *counterFile
	// allowed is the set of CPUs that the server may run on, as list and by number.
	allowed     string
	allowedCPUs map[int64]bool
	// group is nil when the server's cgroup cannot be read; groupError says why.
	group      *cgroup
	groupError error
	// network is nil when the namespace's counters cannot be read; networkError says why.
	network      *namespace
	networkError error
	// frequencies are those of the server's CPUs; empty where they are not read.
	frequencies frequencies
	// machinePressure is /proc/pressure/cpu; nil where the kernel has none.
	machinePressure *counterFile
}

// openServer opens what is read of a server whose first process is root.
func openServer(proc procfs, root int) (*server, error) {
	all, err := proc.processes()
	if err != nil {
		return nil, err
	}
	s := &server{proc: proc, root: root, pids: family(all, root), allowed: unknown}
	for _, pid := range s.pids {
		f, err := openCounter(proc.path(pid, "statm"))
		switch {
		case err == nil:
			s.resident = append(s.resident, f)
		case pid == root:
			s.close()
			return nil, errGone
		}
	}
	if s.cpus, err = openCounter(filepath.Join(string(proc), "stat")); err != nil {
		s.close()
		return nil, fmt.Errorf("opening the CPUs' times: %w", err)
	}
	s.group, s.groupError = openCgroup(proc.path(root, "root/sys/fs/cgroup"))
	s.network, s.networkError = openNamespace(proc.path(root, "net"))
	s.machinePressure, _ = openCounter(filepath.Join(string(proc), "pressure/cpu")) // Without one the pressure is nil.
	s.readAllowed()
	return s, nil
}

func (s *server) readAllowed() {
	status, err := os.ReadFile(s.proc.path(s.root, "status"))
	if err != nil {
		return
	}
	s.allowed = orUnknown(line(status, "Cpus_allowed_list"))
	s.allowedCPUs = setOf(s.allowed)
}

func (s *server) close() {
	for _, f := range s.resident {
		f.close()
	}
	s.cpus.close()
	s.group.close()
	s.network.close()
	s.frequencies.close()
	s.machinePressure.close()
}

// residentBytes is the resident memory of the server's processes. It is how an observer notices that the server has ended: a
// process that has ended has no memory, or no file.
func (s *server) residentBytes() (int64, error) {
	var pages int64
	for i, f := range s.resident {
		n, err := residentPages(f)
		if err != nil && i == 0 {
			return 0, errGone
		}
		pages += n
	}
	return pages * int64(os.Getpagesize()), nil
}

func residentPages(f *counterFile) (int64, error) {
	text, err := f.read()
	if err != nil {
		return 0, err
	}
	size, rest, _ := bytes.Cut(text, []byte{' '})
	if total, ok := number(size); !ok || total == 0 {
		return 0, errGone
	}
	n, ok := number(rest)
	if !ok {
		return 0, errNoNumber
	}
	return n, nil
}

// times are those of the server's CPUs.
func (s *server) times() (cpuTimes, error) {
	text, err := s.cpus.read()
	if err != nil {
		return cpuTimes{}, err
	}
	return timesOf(text, s.allowedCPUs)
}

// cpuNanos is the server's CPU time so far: by its cgroup, or else by its processes to 10 ms.
func (s *server) cpuNanos() (int64, error) {
	if s.group != nil {
		return s.group.cpuNanos()
	}
	var ticks int64
	for _, pid := range s.pids {
		stat, err := s.stat(pid)
		if err != nil && pid == s.root {
			return 0, errGone
		}
		ticks += stat.cpuTicks
	}
	return ticks * nanosPerTick, nil
}

func (s *server) stat(pid int) (procStat, error) {
	text, err := os.ReadFile(s.proc.path(pid, "stat"))
	if err != nil {
		return procStat{}, err
	}
	return parseProcStat(pid, text)
}

// descriptors is the number of open files of the server's processes.
func (s *server) descriptors() (int64, error) {
	var sum int64
	for _, pid := range s.pids {
		entries, err := os.ReadDir(s.proc.path(pid, "fd"))
		if err != nil {
			return 0, fmt.Errorf("listing the descriptors of process %d: %w", pid, err)
		}
		sum += int64(len(entries))
	}
	return sum, nil
}
