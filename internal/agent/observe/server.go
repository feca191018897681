package observe

import (
	"errors"
	"fmt"
	"maps"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

var (
	// errGone says that the server's process has ended.
	errGone = errors.New("the server's process is gone")
	// errNoCgroup says that the server shares its cgroup with other processes.
	errNoCgroup = errors.New("the server has no cgroup of its own")
	// errSharedNetwork says that a counter of the network may be of other programs.
	errSharedNetwork = errors.New("other programs use the same network namespace")
	// errNoSchedstat says that the kernel does not count what threads wait.
	errNoSchedstat = errors.New("the kernel has no schedstat")
)

// server is a running server under observation: the files of its processes that are read again and again.
type server struct {
	proc kernel.Proc
	root int
	pids []int
	// resident are the statm files of the processes, the root's first.
	resident []*kernel.File
	cpus     *kernel.File
	// allowed is the set of CPUs that the server may run on, as list and by number.
	allowed     string
	allowedCPUs []int
	// group is nil when the server's cgroup cannot be read; groupError says why.
	group      *kernel.Cgroup
	groupError error
	// clocks is true if the CPU time is that of the processes' CPU clocks.
	clocks bool
	// network is nil when the namespace's counters cannot be read; networkError says why.
	network      *kernel.Network
	networkError error
	// sharedNetwork is true if other programs use the namespace.
	sharedNetwork bool
	// frequencies are those of the server's CPUs; empty where they are not read.
	frequencies kernel.Frequencies
	// machinePressure is /proc/pressure/cpu; nil where the kernel has none.
	machinePressure *kernel.File
	// dependencies are the containers that were started before the server's.
	dependencies []dependency
}

// openServer opens what is read of a server whose first process is root.
func openServer(proc kernel.Proc, root int, c Config) (*server, error) {
	all, err := proc.Processes()
	if err != nil {
		return nil, err
	}
	s := &server{proc: proc, root: root, pids: kernel.Family(all, root), sharedNetwork: c.SharedNetwork}
	for _, pid := range s.pids {
		f, err := kernel.Open(proc.Path(pid, "statm"))
		switch {
		case err == nil:
			s.resident = append(s.resident, f)
		case pid == root:
			s.close()
			return nil, errGone
		}
	}
	if s.cpus, err = proc.OpenTimes(); err != nil {
		s.close()
		return nil, fmt.Errorf("opening the CPUs' times: %w", err)
	}
	if s.clocks = c.Cgroup == ""; s.clocks {
		s.groupError = errNoCgroup
	} else {
		s.group, s.groupError = kernel.OpenCgroup(proc.Path(root, "root", c.Cgroup))
	}
	s.network, s.networkError = kernel.OpenNetwork(proc.Path(root, "net"))
	s.machinePressure = proc.OpenPressure()
	s.allowed, _ = proc.CPUsAllowed(root) // What cannot be read is "unknown".
	s.allowedCPUs = util.ParseCPUs(s.allowed)
	s.dependencies = openDependencies(proc, all, c)
	return s, nil
}

func (s *server) close() {
	for _, f := range s.resident {
		f.Close()
	}
	s.cpus.Close()
	s.group.Close()
	s.network.Close()
	s.frequencies.Close()
	s.machinePressure.Close()
	for _, d := range s.dependencies {
		d.group.Close()
	}
}

// residentBytes is the resident memory of the server's processes. It is how an observer notices that the server has ended: a
// process that has ended has no memory, or no file.
func (s *server) residentBytes() (int64, error) {
	var sum int64
	for i, f := range s.resident {
		n, err := kernel.ResidentBytes(f)
		if err != nil && i == 0 {
			return 0, errGone
		}
		sum += n
	}
	return sum, nil
}

// times are those of the server's CPUs.
func (s *server) times() (kernel.CPUTimes, error) {
	text, err := s.cpus.Read()
	if err != nil {
		return kernel.CPUTimes{}, err
	}
	return kernel.TimesOf(text, s.allowedCPUs)
}

// cpuNanos is the server's CPU time so far: by its cgroup, by the clocks of its processes, or else by their counters to 10 ms.
func (s *server) cpuNanos() (int64, error) {
	if s.group != nil {
		return s.group.CPUNanos()
	}
	var sum int64
	for _, pid := range s.pids {
		nanos, err := s.processNanos(pid)
		if err != nil && pid == s.root {
			return 0, errGone
		}
		sum += nanos
	}
	return sum, nil
}

func (s *server) processNanos(pid int) (int64, error) {
	if s.clocks {
		return kernel.ProcessCPUNanos(pid)
	}
	p, err := s.proc.Process(pid)
	return p.CPUNanos, err
}

// descriptors is the number of open files of the server's processes.
func (s *server) descriptors() (int64, error) {
	var sum int64
	for _, pid := range s.pids {
		n, err := s.proc.Descriptors(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// threads reads the counters of all threads, by thread.
func (s *server) threads() (map[int]kernel.Thread, error) {
	found := map[int]kernel.Thread{}
	for _, pid := range s.pids {
		threads, err := s.proc.Threads(pid)
		if err != nil && pid == s.root {
			return nil, fmt.Errorf("listing the server's threads: %w", err)
		}
		maps.Copy(found, threads)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("reading the context switches of the server's threads: %w", kernel.ErrNoNumber)
	}
	return found, nil
}

// waitsKnown is nil when the kernel counts what threads wait, or else what is wrong.
func waitsKnown(threads map[int]kernel.Thread, err error) error {
	if err != nil {
		return err
	}
	for _, t := range threads {
		if t.Ran > 0 {
			return nil
		}
	}
	return errNoSchedstat
}

// pressure is how long some task waited for a CPU, in microseconds: of the server's container with cgroup version 2, of the machine
// with version 1; nil where the kernel does not account for it.
func (s *server) pressure() *int64 {
	if s.group != nil && s.group.Pressure != nil {
		return kernel.PressureMicros(s.group.Pressure)
	}
	return kernel.PressureMicros(s.machinePressure)
}

// traffic is what the server's network namespace has counted so far.
func (s *server) traffic() (record.Network, error) {
	if s.network == nil {
		return record.Network{}, s.networkError
	}
	return s.network.Read()
}
