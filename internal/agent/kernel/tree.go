package kernel

import (
	"fmt"
	"os"
	"strconv"
)

// Tree reads a process and its descendants, again and again.
type Tree struct {
	proc Proc
	root int
	// strangers are processes outside the tree. Only a new process can join it.
	strangers map[int]bool
}

// NewTree returns the tree below a process. A subreaper's tree also holds descendants that lost their parent.
func NewTree(proc Proc, root int) *Tree {
	return &Tree{proc: proc, root: root, strangers: map[int]bool{}}
}

// Read returns the processes of the tree, the root first. It fails with ErrEnded if the root has ended.
func (t *Tree) Read() ([]Process, error) {
	entries, err := os.ReadDir(string(t.proc))
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	still, byPID := map[int]bool{}, map[int]Process{}
	var all []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if t.strangers[pid] {
			still[pid] = true
			continue
		}
		if found, err := t.proc.Process(pid); err == nil { // Otherwise it has just ended.
			all, byPID[pid] = append(all, found), found
		}
	}
	if _, alive := byPID[t.root]; !alive {
		return nil, ErrEnded
	}
	var members []Process
	for _, pid := range Family(all, t.root) {
		members = append(members, byPID[pid])
		delete(byPID, pid)
	}
	for pid, p := range byPID {
		// The parent of another one may be in the tree, and have ended before it was read.
		if _, known := byPID[p.Parent]; known || still[p.Parent] || p.Parent == 0 {
			still[pid] = true
		}
	}
	t.strangers = still
	return members, nil
}

// IgnoresChildren reports whether a process ignores SIGCHLD. Then the kernel forgets the CPU time of its children as they end.
func (p Proc) IgnoresChildren(pid int) (bool, error) {
	status, err := os.ReadFile(p.Path(pid, "status"))
	if err != nil {
		return false, err
	}
	const child = 17
	mask, err := strconv.ParseUint(line(status, "SigIgn"), 16, 64)
	if err != nil {
		return false, fmt.Errorf("reading the signals that process %d ignores: %w", pid, err)
	}
	return mask>>(child-1)&1 == 1, nil
}
