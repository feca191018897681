package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// RaiseDescriptors raises the open-file limit of this process's children to the maximum. The Go runtime raises it only for the process itself.
func RaiseDescriptors() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of descriptors: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raising the limit of descriptors: %w", err)
	}
	return nil
}

// DescriptorLimit returns how many files this process and each child may open.
func DescriptorLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading the limit of descriptors: %w", err)
	}
	return limit.Cur, nil
}

// LocalPorts returns the number of local ports of the network namespace.
func (p Proc) LocalPorts() (int32, error) {
	text, err := os.ReadFile(p.file("sys/net/ipv4/ip_local_port_range"))
	if err != nil {
		return 0, fmt.Errorf("reading the range of local ports: %w", err)
	}
	return portsIn(string(text))
}

// portsIn returns the size of a port range such as "32768\t60999".
func portsIn(text string) (int32, error) {
	bounds := strings.Fields(text)
	if len(bounds) != 2 {
		return 0, fmt.Errorf("reading the range of local ports %q: it has not two numbers", text)
	}
	first, errFirst := strconv.ParseUint(bounds[0], 10, 16)
	last, errLast := strconv.ParseUint(bounds[1], 10, 16)
	if err := errors.Join(errFirst, errLast); err != nil {
		return 0, fmt.Errorf("reading the range of local ports %q: %w", text, err)
	}
	return int32(last) - int32(first) + 1, nil
}

const pinRounds = 5

// SetCPUs restricts all threads of a process to the given CPUs. It returns ErrEnded if the process has ended.
func (p Proc) SetCPUs(pid int, cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	done := map[int]bool{}
	for range pinRounds {
		tasks, err := os.ReadDir(p.Path(pid, "task"))
		if err != nil {
			return ErrEnded
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

// Hide makes the process non-dumpable, so that others of the same user cannot read its memory or environment. It can still read dumpable
// processes.
func Hide() error {
	const setDumpable = 4
	if _, _, number := rawPrctl(setDumpable, 0); number != 0 {
		return fmt.Errorf("making the process non-dumpable: %w", number)
	}
	return nil
}

func rawPrctl(option, argument uintptr) (r1, r2 uintptr, err syscall.Errno) {
	return syscall.RawSyscall6(syscall.SYS_PRCTL, option, argument, 0, 0, 0, 0)
}
