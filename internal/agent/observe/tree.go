package observe

import (
	"errors"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

// ancestor is the process of a pod that adopts orphans of all its containers.
const ancestor = 1

// tree counts the CPU time of a process with its descendants, also of those that have ended.
type tree struct {
	*kernel.Tree
	proc kernel.Proc
	// root is the first process that counts. keeper is its parent, which adopts its orphans and does not count; 0 if there is none.
	root, keeper int
	// clocks: CPU time comes from the processes' CPU clocks.
	clocks bool
	// most is the largest sum so far. lost means that a later one was smaller.
	most int64
	lost bool
}

func newTree(proc kernel.Proc, root, keeper int, clocks bool) *tree {
	top := root
	if keeper != 0 {
		top = keeper
	}
	return &tree{Tree: kernel.NewTree(proc, top), proc: proc, root: root, keeper: keeper, clocks: clocks}
}

// pids returns the processes that count, the root first.
func (t *tree) pids() ([]int, error) {
	members, err := t.Read()
	if errors.Is(err, kernel.ErrEnded) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	pids := []int{t.root}
	for _, p := range members {
		if p.PID != t.root && p.PID != t.keeper {
			pids = append(pids, p.PID)
		}
	}
	return pids, nil
}

// countSlack is what a process may seem to lose as its children end, because their time is then cut to ticks of 10 ms.
const countSlack = 20_000_000

// cpuNanos returns the CPU time so far of all processes, and of the ended ones that some process waited for.
func (t *tree) cpuNanos() (int64, error) {
	members, err := t.Read()
	if err != nil {
		if errors.Is(err, kernel.ErrEnded) {
			err = errGone
		}
		return 0, err
	}
	if !slices.ContainsFunc(members, func(p kernel.Process) bool { return p.PID == t.root }) {
		return 0, errGone
	}
	var sum int64
	for _, p := range members {
		sum += p.ChildNanos
		if p.PID == t.keeper {
			continue
		}
		own := p.CPUNanos
		if t.clocks {
			clock, err := kernel.ProcessCPUNanos(p.PID)
			switch {
			case err == nil:
				own = clock
			case p.PID == t.root:
				return 0, errGone
			} // Another one has just ended: its parent's time was read before.
		}
		sum += own
	}
	t.lost = t.lost || sum < t.most-int64(len(members))*countSlack
	t.most = max(t.most, sum)
	return sum, nil
}

// uncounted says in sentences why the CPU time of some process may be missing.
func (t *tree) uncounted() []string {
	var out []string
	if t.lost {
		out = append(out, "the CPU time of an ended process was lost")
	}
	members, err := t.Read()
	if err != nil {
		return out // The cell reports that the server is gone.
	}
	for _, p := range members {
		if ignores, err := t.proc.IgnoresChildren(p.PID); err == nil && ignores && p.PID != t.keeper {
			out = append(out, fmt.Sprintf("process %d ignores SIGCHLD, so the kernel forgets the CPU time of its children", p.PID))
		}
	}
	return out
}

// strays says that a process of a pod left the tree of its container.
func strays(all []kernel.Process) []string {
	if slices.ContainsFunc(all, func(p kernel.Process) bool { return p.Parent == ancestor }) {
		return []string{"a process of the pod left the process tree of its container, whose cgroup cannot be read"}
	}
	return nil
}

// lookOutside notes who else may do the server's work. Only a server without a pod can reach other programs of the machine.
func (s *server) lookOutside(cell *record.CellObservation, port int) {
	if s.tree.keeper == 0 {
		return
	}
	found, err := func() ([]string, error) {
		pids, err := s.tree.pids()
		if err != nil {
			return nil, err
		}
		held, err := s.proc.HeldSockets(pids)
		if err != nil {
			return nil, err
		}
		return kernel.Outside(held, port)
	}()
	if err != nil {
		found = []string{"whether other processes do its work is unknown: " + err.Error()}
	}
	cell.CPUUncounted = append(cell.CPUUncounted, found...)
}

// lookInside notes which processes of the server could not be counted.
func (s *server) lookInside(cell *record.CellObservation, inPod bool) {
	if s.group == nil {
		cell.CPUUncounted = append(cell.CPUUncounted, s.tree.uncounted()...)
	}
	coarse := s.group == nil
	for _, d := range s.dependencies {
		coarse = coarse || d.group == nil
		if d.tree != nil {
			cell.CPUUncounted = append(cell.CPUUncounted, d.tree.uncounted()...)
		}
	}
	if inPod && coarse {
		if all, err := s.proc.Processes(); err == nil {
			cell.CPUUncounted = append(cell.CPUUncounted, strays(all)...)
		}
	}
}
