package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// RaiseDescriptors raises the number of files that the children of this process may open to what it may be raised to. The runtime does so
// for the process alone, and gives its children what it began with.
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

// DescriptorLimit is how many files this process and each of its children may open.
func DescriptorLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading the limit of descriptors: %w", err)
	}
	return limit.Cur, nil
}

// LocalPorts is the number of local ports of the network namespace.
func (p Proc) LocalPorts() (int32, error) {
	text, err := os.ReadFile(p.file("sys/net/ipv4/ip_local_port_range"))
	if err != nil {
		return 0, fmt.Errorf("reading the range of local ports: %w", err)
	}
	return portsIn(string(text))
}

// portsIn is the number of ports in the kernel's range, such as "32768\t60999".
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
