package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Listening reports whether a socket in the network namespace of /proc listens on a port.
func (p Proc) Listening(port int) bool { return len(p.listeners(port)) > 0 }

// listeners returns the listening sockets of a port, in the form that descriptors show.
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

// listens returns the inodes of sockets on a port in state LISTEN (0A), from /proc/net/tcp.
func listens(text []byte, port int) []string {
	const local, state, inode = 1, 3, 9
	suffix, inodes := fmt.Appendf(nil, ":%04X", port), []string(nil)
	for l := range bytes.Lines(text) {
		fields := bytes.Fields(l)
		if len(fields) <= state || !bytes.HasSuffix(fields[local], suffix) || string(fields[state]) != "0A" {
			continue
		}
		// A truncated line is still a listening socket.
		own := ""
		if len(fields) > inode {
			own = string(fields[inode])
		}
		inodes = append(inodes, own)
	}
	return inodes
}

// Listener returns the first process that holds a listening socket of the port; false if there is none, or none can be read.
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

// SinceBoot returns the time since boot, to 10 ms.
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

// Start returns when a process was created after boot, to 10 ms.
func (p Process) Start() time.Duration { return time.Duration(p.Started) * nanosPerTick }
