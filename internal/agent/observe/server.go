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
	errGone     = errors.New("the server's process is gone")
	errNoCgroup = errors.New("the server has no separate cgroup")
	// errSharedNetwork: a network counter may include other programs.
	errSharedNetwork = errors.New("other programs use the same network namespace")
	errNoSchedstat   = errors.New("the kernel has no schedstat")
)

type server struct {
	proc kernel.Proc
	root int
	tree *tree
	// pids are the processes at the start, the root first.
	pids []int
	// resident are the processes' statm files, the root's first.
	resident    []*kernel.File
	cpus        *kernel.File
	allowed     string
	allowedCPUs []int
	// group is nil if the server's cgroup cannot be read; groupError says why.
	group      *kernel.Cgroup
	groupError error
	// network is nil if the namespace's counters cannot be read; networkError says why.
	network       *kernel.Network
	networkError  error
	sharedNetwork bool
	frequencies   kernel.Frequencies
	// machinePressure is /proc/pressure/cpu; nil if the kernel has none.
	machinePressure *kernel.File
	dependencies    []dependency
}

func openServer(proc kernel.Proc, root int, c Config) (*server, error) {
	all, err := proc.Processes()
	if err != nil {
		return nil, err
	}
	s := &server{proc: proc, root: root, tree: newTree(proc, root, c.Keeper, c.Cgroup == ""), sharedNetwork: c.SharedNetwork}
	if s.pids, err = s.tree.pids(); err != nil {
		return nil, err
	}
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
	if c.Cgroup == "" {
		s.groupError = errNoCgroup
	} else {
		s.group, s.groupError = kernel.OpenCgroup(cgroupOf(proc, root, c.Cgroup))
	}
	s.network, s.networkError = kernel.OpenNetwork(proc.Path(root, "net"))
	s.machinePressure = proc.OpenPressure()
	s.allowed, _ = proc.CPUsAllowed(root) // Unreadable CPUs are "unknown".
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

// residentBytes returns the server's resident memory. It detects the server's end: an ended process has no memory, or no file.
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

func (s *server) times() (kernel.CPUTimes, error) {
	text, err := s.cpus.Read()
	if err != nil {
		return kernel.CPUTimes{}, err
	}
	return kernel.TimesOf(text, s.allowedCPUs)
}

// cpuNanos returns the server's CPU time so far: from its cgroup, or from its processes.
func (s *server) cpuNanos() (int64, error) {
	if s.group != nil {
		return s.group.CPUNanos()
	}
	return s.tree.cpuNanos()
}

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

// waitsKnown returns nil if the kernel counts threads' waits, or else the reason.
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

// pressure returns how long some task waited for a CPU, in microseconds: in the server's container (cgroup version 2) or on the machine
// (version 1); nil if not accounted.
func (s *server) pressure() *int64 {
	if s.group != nil && s.group.Pressure != nil {
		return kernel.PressureMicros(s.group.Pressure)
	}
	return kernel.PressureMicros(s.machinePressure)
}

func (s *server) traffic() (record.Network, error) {
	if s.network == nil {
		return record.Network{}, s.networkError
	}
	return s.network.Read()
}
