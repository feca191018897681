package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// Proc is the path of a /proc.
type Proc string

// ErrEnded: the process has ended.
var ErrEnded = errors.New("the process has ended")

// Path returns the path of a process's file.
func (p Proc) Path(pid int, parts ...string) string {
	return filepath.Join(append([]string{string(p), strconv.Itoa(pid)}, parts...)...)
}

func (p Proc) file(name string) string { return filepath.Join(string(p), name) }

// OpenTimes opens the times of all CPUs, for TimesOf.
func (p Proc) OpenTimes() (*File, error) { return Open(p.file("stat")) }

// Process is a process as /proc/PID/stat shows it.
type Process struct {
	PID, Parent int
	// Started is in clock ticks since boot.
	Started int64
	// CPUNanos is user and system time of all threads, to 10 ms.
	CPUNanos int64
	// ChildNanos is the CPU time of children that it waited for, and of theirs, to 10 ms.
	ChildNanos int64
	Threads    int64
}

// parseProcess reads a stat file. The command name in parentheses may contain anything, even parentheses.
func parseProcess(pid int, text []byte) (Process, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, user, system, childUser, childSystem, threads, started = 3, 4, 14, 15, 16, 17, 20, 22
	if len(fields) <= started-state {
		return Process{}, fmt.Errorf("reading the stat of process %d: it has %d fields only", pid, len(fields))
	}
	var numbers [started + 1]int64
	for _, i := range []int{parent, user, system, childUser, childSystem, threads, started} {
		n, err := strconv.ParseInt(string(fields[i-state]), 10, 64)
		if err != nil {
			return Process{}, fmt.Errorf("reading field %d of the stat of process %d: %w", i, pid, err)
		}
		numbers[i] = n
	}
	return Process{
		PID: pid, Parent: int(numbers[parent]), Started: numbers[started],
		CPUNanos: (numbers[user] + numbers[system]) * nanosPerTick, Threads: numbers[threads],
		ChildNanos: (numbers[childUser] + numbers[childSystem]) * nanosPerTick,
	}, nil
}

// Process reads one process.
func (p Proc) Process(pid int) (Process, error) {
	text, err := os.ReadFile(p.Path(pid, "stat"))
	if err != nil {
		return Process{}, err
	}
	return parseProcess(pid, text)
}

// Processes lists all processes, except those that end meanwhile.
func (p Proc) Processes() ([]Process, error) {
	entries, err := os.ReadDir(string(p))
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var all []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if found, err := p.Process(pid); err == nil {
			all = append(all, found)
		}
	}
	return all, nil
}

// Family returns a process and all its descendants, the process first.
func Family(all []Process, root int) []int {
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		for _, s := range all {
			if s.Parent == pids[i] && s.PID != root {
				pids = append(pids, s.PID)
			}
		}
	}
	return pids
}

// Descriptors returns the number of a process's open files.
func (p Proc) Descriptors(pid int) (int64, error) {
	entries, err := os.ReadDir(p.Path(pid, "fd"))
	if err != nil {
		return 0, fmt.Errorf("listing the descriptors of process %d: %w", pid, err)
	}
	return int64(len(entries)), nil
}

// ResidentBytes returns a process's resident memory from its open statm, or ErrEnded.
func ResidentBytes(statm *File) (int64, error) {
	text, err := statm.Read()
	if err != nil {
		return 0, err
	}
	size, rest, _ := bytes.Cut(text, []byte{' '})
	if total, ok := number(size); !ok || total == 0 {
		return 0, ErrEnded
	}
	n, ok := number(rest)
	if !ok {
		return 0, ErrNoNumber
	}
	return n * int64(os.Getpagesize()), nil
}

// CPUsAllowed returns the CPUs that a process may run on, or "unknown". It fails if there is no such process.
func (p Proc) CPUsAllowed(pid int) (string, error) {
	return cpusAllowed(p.Path(pid, "status"))
}

// OwnCPUsAllowed returns this process's list.
func OwnCPUsAllowed() string {
	list, _ := cpusAllowed("/proc/self/status") // The list is "unknown" then.
	return list
}

func cpusAllowed(path string) (string, error) {
	status, err := os.ReadFile(path)
	if err != nil {
		return record.Unknown, err
	}
	return orUnknown(line(status, "Cpus_allowed_list")), nil
}

// Thread holds the counters of one thread.
type Thread struct {
	Voluntary, Involuntary int64
	// Ran and Waited are nanoseconds on a CPU and ready for one. Zeros mean that the kernel does not count them.
	Ran, Waited int64
}

// Threads reads the counters of a process's threads, by thread ID. It omits threads that end meanwhile.
func (p Proc) Threads(pid int) (map[int]Thread, error) {
	tasks, err := os.ReadDir(p.Path(pid, "task"))
	found := map[int]Thread{}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if c, ok := p.thread(pid, t.Name()); ok {
			found[id] = c
		}
	}
	return found, err
}

func (p Proc) thread(pid int, id string) (Thread, bool) {
	var c Thread
	status, err := os.ReadFile(p.Path(pid, "task", id, "status"))
	if err != nil {
		return c, false
	}
	var okVoluntary, okInvoluntary bool
	c.Voluntary, okVoluntary = field(status, "voluntary_ctxt_switches")
	c.Involuntary, okInvoluntary = field(status, "nonvoluntary_ctxt_switches")
	if schedstat, err := os.ReadFile(p.Path(pid, "task", id, "schedstat")); err == nil {
		c.Ran, c.Waited = parseSchedstat(schedstat)
	}
	return c, okVoluntary && okInvoluntary
}

// parseSchedstat reads "ran waited slices"; zeros for anything else.
func parseSchedstat(text []byte) (ran, waited int64) {
	first, rest, _ := bytes.Cut(text, []byte{' '})
	ran, okRan := number(first)
	waited, okWaited := number(rest)
	if !okRan || !okWaited {
		return 0, 0
	}
	return ran, waited
}

const maxLibraries = 256

// Libraries returns the paths of a process's loaded shared libraries in its own file system, by address; at most 256.
func (p Proc) Libraries(pid int) (list []string, err error) {
	f, err := os.Open(p.Path(pid, "maps"))
	if err != nil {
		return nil, fmt.Errorf("listing the libraries of process %d: %w", pid, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := bufio.NewScanner(f)
	for s.Scan() && len(list) < maxLibraries {
		i := strings.IndexByte(s.Text(), '/')
		if i < 0 {
			continue
		}
		file := strings.TrimSuffix(s.Text()[i:], " (deleted)")
		if isLibrary(path.Base(file)) && !slices.Contains(list, file) {
			list = append(list, file)
		}
	}
	return list, s.Err()
}

// isLibrary reports whether a file has a name such as libuv.so or libuv.so.1.
func isLibrary(name string) bool {
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}
