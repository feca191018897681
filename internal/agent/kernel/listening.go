package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Listening reports whether a socket of the network namespace of /proc listens on a port.
func (p Proc) Listening(port int) bool { return len(p.listeners(port)) > 0 }

// listeners are the sockets of the network namespace of /proc that listen on a port, as descriptors name them.
func (p Proc) listeners(port int) map[string]bool {
	found := map[string]bool{}
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		text, err := os.ReadFile(p.file(name))
		if err != nil {
			continue
		}
		for _, inode := range listens(text, port) {
			found["socket:["+inode+"]"] = true
		}
	}
	return found
}

// listens returns the inodes of the sockets on a port in state LISTEN (0A), from the text of /proc/net/tcp.
func listens(text []byte, port int) []string {
	const local, state, inode = 1, 3, 9
	suffix, inodes := fmt.Appendf(nil, ":%04X", port), []string(nil)
	for l := range bytes.Lines(text) {
		fields := bytes.Fields(l)
		if len(fields) <= state || !bytes.HasSuffix(fields[local], suffix) || string(fields[state]) != "0A" {
			continue
		}
		// A line that is cut short is a listening socket all the same.
		own := ""
		if len(fields) > inode {
			own = string(fields[inode])
		}
		inodes = append(inodes, own)
	}
	return inodes
}

// Listener is the first of some processes that holds a socket which listens on a port; false if none does, or if none can be read.
func (p Proc) Listener(pids []int, port int) (int, bool) {
	sockets := p.listeners(port)
	for _, pid := range pids {
		entries, err := os.ReadDir(p.Path(pid, "fd"))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if to, err := os.Readlink(filepath.Join(p.Path(pid, "fd"), e.Name())); err == nil && sockets[to] {
				return pid, true
			}
		}
	}
	return 0, false
}

// SinceBoot is how long ago the machine booted, to 10 ms.
func (p Proc) SinceBoot() (time.Duration, error) {
	text, err := os.ReadFile(p.file("uptime"))
	if err != nil {
		return 0, fmt.Errorf("reading the time since the machine booted: %w", err)
	}
	first, _, _ := bytes.Cut(text, []byte{' '})
	seconds, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 0, fmt.Errorf("reading the time since the machine booted: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// Start is how long after the machine's boot a process was created, to 10 ms.
func (p Process) Start() time.Duration { return time.Duration(p.Started) * nanosPerTick }
